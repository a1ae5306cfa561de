// What is done on the poller's thread: right results, right classification, and never a call that
// waits for another process. Each test that must not block would hang here if it did.
#include <sys/socket.h>
#include <sys/sysmacros.h>

#include <thread>

#include "backend/local_devices.h"
#include "backend/posix_call.h"
#include "backend/posix_ops.h"
#include "bare_operation.h"
#include "base/unique_fd.h"
#include "harness.h"
#include "temp_dir.h"

using nephrite::InlineOutcome;
using nephrite::Locality;
using nephrite::UniqueFd;
using nephrite::abi::Opcode;
using test::BareOperation;
using test::TempDir;

namespace {

std::uint64_t syscall_count = 0;

InlineOutcome attempt(BareOperation& bare) {
  // The kernel gives up a cached look-up (EAGAIN) when some name anywhere on the machine was
  // changed meanwhile, which is no answer about this one: asked again then.
  constexpr int kAttemptsMax = 1000;
  for (int count = 0;; count++) {
    const InlineOutcome outcome = nephrite::try_without_blocking(bare.operation, &syscall_count);
    const bool is_lookup = bare.operation.path != nullptr;
    if (outcome != InlineOutcome::kUnknown || !is_lookup || count == kAttemptsMax) return outcome;
  }
}

// As a pool thread does it: the first stat or open of a file system teaches what it is.
void learn(const std::string& path) {
  BareOperation bare(Opcode::kStat);
  CHECK_EQ(nephrite::run_blocking(bare.with_path(path).operation), 0);
}

bool has_openat2() {
  learn("/");
  BareOperation bare(Opcode::kStat);
  return attempt(bare.with_path("/")) == InlineOutcome::kDone;
}

InlineOutcome attempt_open(const std::string& path, int flags) {
  BareOperation bare(Opcode::kOpen);
  const InlineOutcome outcome =
      attempt(bare.with_path(path).with_arguments(static_cast<std::uint32_t>(flags)));
  if (outcome == InlineOutcome::kDone && bare.operation.result >= 0) {
    UniqueFd{bare.operation.result};
  }
  return outcome;
}

}  // namespace

TEST("inline: a cached read is done, at a position and at the file's own") {
  TempDir dir;
  const UniqueFd fd(::open(dir.write("a", "hello").c_str(), O_RDONLY | O_CLOEXEC));
  BareOperation bare(Opcode::kRead);
  bare.with_fd(fd.get()).with_buffer(100).with_offset(1);
  const InlineOutcome outcome = attempt(bare);
  if (outcome == InlineOutcome::kUnknown) SKIP("no RWF_NOWAIT on this file system");
  EXPECT_EQ(bare.operation.result, 4);
  EXPECT_TRUE(bare.text(4) == "ello");
  BareOperation next(Opcode::kRead);
  EXPECT_EQ(attempt(next.with_fd(fd.get()).with_buffer(2)), InlineOutcome::kDone);
  EXPECT_TRUE(next.text(2) == "he");
  EXPECT_EQ(attempt(bare.with_offset(5)), InlineOutcome::kDone);
  EXPECT_EQ(bare.operation.result, 0);
}

TEST("inline: a read of an empty pipe, of nothing, or of a folder is not done here") {
  TempDir dir;
  int ends[2];
  REQUIRE_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd in(ends[0]);
  const UniqueFd out(ends[1]);
  BareOperation bare(Opcode::kRead);
  EXPECT_EQ(attempt(bare.with_fd(in.get()).with_buffer(10)), InlineOutcome::kUnknown);
  const UniqueFd folder(::open(dir.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_EQ(attempt(bare.with_fd(folder.get())), InlineOutcome::kUnknown);
  EXPECT_EQ(attempt(bare.with_buffer(0)), InlineOutcome::kUnknown);
  EXPECT_EQ(attempt(bare.with_buffer(1).with_offset(-7)), InlineOutcome::kUnknown);
}

TEST("inline: a read error is the real one") {
  BareOperation bare(Opcode::kRead);
  EXPECT_EQ(attempt(bare.with_fd(-1).with_buffer(10)), InlineOutcome::kDone);
  EXPECT_EQ(bare.operation.result, -EBADF);
  int ends[2];
  REQUIRE_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd in(ends[0]);
  const UniqueFd out(ends[1]);
  EXPECT_EQ(attempt(bare.with_fd(in.get()).with_offset(3)), InlineOutcome::kDone);
  EXPECT_EQ(bare.operation.result, -ESPIPE);
}

TEST("inline: a file is opened on the spot once its file system is known to be local") {
  if (!has_openat2()) SKIP("no openat2(RESOLVE_CACHED)");
  TempDir dir;
  const std::string path = dir.write("a", "text");
  learn(path);
  BareOperation bare(Opcode::kOpen);
  REQUIRE_EQ(attempt(bare.with_path(path).with_arguments(O_RDONLY)), InlineOutcome::kDone);
  const UniqueFd fd(bare.operation.result);
  REQUIRE_TRUE(fd.valid());
  EXPECT_EQ(bare.operation.result_flags, nephrite::abi::open_flags(S_IFREG, 4));
  EXPECT_TRUE((::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
  // Nothing but what was asked for: io_uring gives EAGAIN on descriptors with O_NONBLOCK.
  EXPECT_EQ(::fcntl(fd.get(), F_GETFL) & (O_NONBLOCK | O_APPEND | O_ACCMODE), O_RDONLY);
  BareOperation append(Opcode::kOpen);
  append.with_path(path).with_arguments(O_RDWR | O_APPEND);
  REQUIRE_EQ(attempt(append), InlineOutcome::kDone);
  const UniqueFd append_fd(append.operation.result);
  const int status = ::fcntl(append_fd.get(), F_GETFL);
  EXPECT_EQ(status & (O_NONBLOCK | O_APPEND | O_ACCMODE), O_RDWR | O_APPEND);
}

TEST("inline: the size that an open tells is that of the file it opened, while names move") {
  if (!has_openat2()) SKIP("no openat2(RESOLVE_CACHED)");
  TempDir dir;
  const std::string path = dir.write("a", "text");
  learn(path);
  // Two files take turns under one name, as editors and package managers replace files.
  const std::string other = dir.write("b", std::string(5000, 'x'));
  std::atomic<bool> is_done{false};
  std::thread mover([&] {
    while (!is_done) CHECK_EQ(::renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, other.c_str(), 2), 0);
  });
  int opened_count = 0;
  int wrong_count = 0;
  for (int round = 0; round < 20'000; round++) {
    BareOperation bare(Opcode::kOpen);
    if (attempt(bare.with_path(path).with_arguments(O_RDONLY)) != InlineOutcome::kDone) continue;
    if (bare.operation.result < 0) continue;
    const UniqueFd fd(bare.operation.result);
    struct stat status {};
    CHECK_EQ(::fstat(fd.get(), &status), 0);
    opened_count++;
    const auto size = static_cast<std::uint64_t>(status.st_size);
    wrong_count += bare.operation.result_flags == nephrite::abi::open_flags(S_IFREG, size) ? 0 : 1;
  }
  is_done = true;
  mover.join();
  EXPECT_TRUE(opened_count > 0);
  EXPECT_EQ(wrong_count, 0);
}

TEST("inline: opens that create or cut are classified, not done") {
  if (!has_openat2()) SKIP("no openat2(RESOLVE_CACHED)");
  TempDir dir;
  const std::string path = dir.write("a", "text");
  learn(path);
  EXPECT_EQ(attempt_open(path, O_WRONLY | O_TRUNC), InlineOutcome::kWillNotWait);
  EXPECT_EQ(attempt_open(path, O_WRONLY | O_CREAT), InlineOutcome::kWillNotWait);
  EXPECT_EQ(attempt_open(dir.path(), O_TMPFILE | O_RDWR), InlineOutcome::kWillNotWait);
  struct stat status {};
  REQUIRE_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_size, 4);
}

TEST("inline: an open of a FIFO or a device may wait, unless it is known not to") {
  if (!has_openat2()) SKIP("no openat2(RESOLVE_CACHED)");
  TempDir dir;
  const std::string path = dir.fifo("f");
  learn(path);
  EXPECT_EQ(attempt_open(path, O_RDONLY), InlineOutcome::kMayWait);
  EXPECT_EQ(attempt_open(path, O_WRONLY | O_CREAT), InlineOutcome::kMayWait);
  EXPECT_EQ(attempt_open(path, O_RDONLY | O_NONBLOCK), InlineOutcome::kDone);
  EXPECT_EQ(attempt_open(path, O_RDWR), InlineOutcome::kDone);
  learn("/dev/null");
  EXPECT_TRUE(attempt_open("/dev/tty", O_RDWR) != InlineOutcome::kDone);
  EXPECT_TRUE(attempt_open("/dev/null", O_RDWR) != InlineOutcome::kMayWait);
  BareOperation unclassified(Opcode::kOpen);
  EXPECT_TRUE(
      nephrite::open_may_wait(unclassified.with_path(path).with_arguments(O_RDONLY).operation));
  EXPECT_TRUE(!nephrite::open_may_wait(unclassified.with_arguments(O_RDWR).operation));
  EXPECT_TRUE(!nephrite::open_may_wait(unclassified.with_path(dir.file("none")).operation));
}

TEST("inline: errors of an open are the real ones") {
  if (!has_openat2()) SKIP("no openat2(RESOLVE_CACHED)");
  TempDir dir;
  const std::string path = dir.write("a", "text");
  learn(path);
  REQUIRE_EQ(::symlink("a", dir.file("link").c_str()), 0);
  struct Case {
    std::string path;
    int flags;
    std::int32_t expected;
  };
  const Case cases[] = {{dir.file("a/b"), O_RDONLY, -ENOTDIR},
                        {path, O_RDONLY | O_DIRECTORY, -ENOTDIR},
                        {dir.file("link"), O_RDONLY | O_NOFOLLOW, -ELOOP},
                        {dir.path(), O_WRONLY, -EISDIR},
                        {dir.file(std::string(300, 'x')), O_RDONLY, -ENAMETOOLONG}};
  for (const Case& each : cases) {
    BareOperation bare(Opcode::kOpen);
    bare.with_path(each.path).with_arguments(static_cast<std::uint32_t>(each.flags));
    if (attempt(bare) != InlineOutcome::kDone) bare.operation.result = run_blocking(bare.operation);
    EXPECT_EQ(bare.operation.result, each.expected);
  }
  // A negative directory entry answers too, once the kernel has cached it.
  BareOperation missing(Opcode::kOpen);
  missing.with_path(dir.file("none")).with_arguments(O_RDONLY);
  EXPECT_EQ(nephrite::run_blocking(missing.operation), -ENOENT);
  if (attempt(missing) == InlineOutcome::kDone) EXPECT_EQ(missing.operation.result, -ENOENT);
}

TEST("inline: a stat equals the blocking one, by path, link and descriptor") {
  if (!has_openat2()) SKIP("no openat2(RESOLVE_CACHED)");
  TempDir dir;
  const std::string path = dir.write("a", "12345");
  REQUIRE_EQ(::symlink("a", dir.file("link").c_str()), 0);
  // Following a link updates its access time (relatime: when it is not newer than the last change),
  // which the kernel does not do in a cached look-up. So: an access in an hour.
  const timespec times[2] = {{time(nullptr) + 3600, 0}, {0, UTIME_OMIT}};
  REQUIRE_EQ(::utimensat(AT_FDCWD, dir.file("link").c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
  learn(path);
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  for (int form = 0; form < 4; form++) {
    BareOperation quick(Opcode::kStat);
    BareOperation slow(Opcode::kStat);
    for (BareOperation* bare : {&quick, &slow}) {
      if (form == 0) bare->with_path(path);
      if (form == 1) bare->with_path(dir.file("link"));
      if (form == 2) bare->with_path(dir.file("link")).no_follow();
      if (form == 3) bare->with_fd(fd.get());
    }
    REQUIRE_EQ(attempt(quick), InlineOutcome::kDone);
    REQUIRE_EQ(quick.operation.result, 0);
    REQUIRE_EQ(nephrite::run_blocking(slow.operation), 0);
    EXPECT_EQ(std::memcmp(&quick.stat, &slow.stat, sizeof quick.stat), 0);
  }
  BareOperation bad(Opcode::kStat);
  EXPECT_EQ(attempt(bad.with_fd(AT_FDCWD)), InlineOutcome::kDone);
  EXPECT_EQ(bad.operation.result, -EBADF);
}

TEST("inline: close is done for files that were only read, and handed on where it may take long") {
  TempDir dir;
  const std::string path = dir.write("a", "x");
  learn(path);
  const int before = test::open_descriptor_count();
  BareOperation read_only(Opcode::kClose);
  read_only.with_fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(attempt(read_only), InlineOutcome::kDone);
  EXPECT_EQ(read_only.operation.result, 0);
  EXPECT_EQ(test::open_descriptor_count(), before);
  const UniqueFd written(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  BareOperation bare(Opcode::kClose);
  EXPECT_EQ(attempt(bare.with_fd(written.get())), InlineOutcome::kUnknown);
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(attempt(bare.with_fd(socket.get())), InlineOutcome::kUnknown);
  const UniqueFd deleted(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE_EQ(::unlink(path.c_str()), 0);
  EXPECT_EQ(attempt(bare.with_fd(deleted.get())), InlineOutcome::kUnknown);
  EXPECT_TRUE(::fcntl(deleted.get(), F_GETFD) >= 0);
}

TEST(
    "inline: what a file system is called: this disk local, procfs the kernel's, unknown unknown") {
  TempDir dir;
  learn(dir.write("a", "x"));
  learn("/proc/self/status");
  nephrite::abi::StatRecord record{};
  const std::uint32_t mask = nephrite::posix::kStatMask | nephrite::posix::kMountIdUniqueMask;
  REQUIRE_EQ(nephrite::posix::statx_raw(AT_FDCWD, "/proc/self/status", 0, mask, &record), 0);
  EXPECT_EQ(nephrite::locality_of(record), Locality::kKernel);
  record.mount_id += 1'000'000;
  record.dev_minor += 1000;
  EXPECT_EQ(nephrite::locality_of(record), Locality::kUnknown);
}

TEST("inline: what has no inline form is left alone without a system call") {
  const std::uint64_t before = syscall_count;
  for (const Opcode opcode : {Opcode::kWrite, Opcode::kSync, Opcode::kRename, Opcode::kRealpath}) {
    BareOperation bare(opcode);
    EXPECT_EQ(attempt(bare), InlineOutcome::kUnknown);
  }
  EXPECT_EQ(syscall_count, before);
}
