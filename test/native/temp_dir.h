// Temporary folder of one test: made under TMPDIR, removed with everything in it.
// Owner: the TempDir object. Not here: anything about operations (poller_driver.h).
#pragma once

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/check.h"

namespace test {

class TempDir {
 public:
  TempDir() {
    const char* base = std::getenv("TMPDIR");
    path_ = std::string(base != nullptr ? base : "/tmp") + "/nephrite-XXXXXX";
    CHECK(mkdtemp(path_.data()) != nullptr);
  }
  ~TempDir() {
    const auto remove_one = [](const char* path, const struct stat*, int, FTW*) {
      return std::remove(path);
    };
    CHECK_EQ(nftw(path_.c_str(), remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }
  std::string write(std::string_view name, std::string_view content) const {
    const std::string path = file(name);
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    CHECK(fd >= 0);
    CHECK_EQ(::write(fd, content.data(), content.size()), static_cast<ssize_t>(content.size()));
    ::close(fd);
    return path;
  }
  std::string fifo(std::string_view name) const {
    const std::string path = file(name);
    CHECK_EQ(::mkfifo(path.c_str(), 0644), 0);
    return path;
  }

 private:
  std::string path_;
};

// Descriptors open in this process.
inline int open_descriptor_count() {
  int count = 0;
  for (int fd = 0; fd < 4096; fd++) count += ::fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
  return count;
}

}  // namespace test
