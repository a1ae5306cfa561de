// io_uring backend: what only its own encoding and routing can get wrong. The contract that it
// shares with the others is tested in test/conformance (backend_*).
#include "backend/io_uring.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "poller_driver.h"
#include "temp_dir.h"

using test::Opcode;
using test::PollerDriver;
using test::SubmissionEntry;
using test::TempDir;

TEST("io_uring: an open that must not follow a link does not, whoever carries it out") {
  TempDir dir;
  const std::string file = dir.write("file", "content");
  const std::string link = dir.file("link");
  REQUIRE_EQ(::symlink(file.c_str(), link.c_str()), 0);
  PollerDriver driver("io_uring", 16);
  if (driver.opened.error != 0) SKIP("this backend does not open here");
  // A pool thread learns that the file system is a local one: from then on such an open, which may
  // change something, goes to the kernel's ring.
  for (int round = 0; round < 3; round++) {
    EXPECT_EQ(driver.run(driver.with_path(Opcode::kStat, file)), 0);
    SubmissionEntry open = driver.with_path(Opcode::kOpen, link);
    open.argument0 = O_WRONLY | O_TRUNC;
    open.flags |= nephrite::abi::kEntryNoFollow;
    EXPECT_EQ(driver.run(open), -ELOOP);
  }
  struct stat status {};
  REQUIRE_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_size, 7);
}
