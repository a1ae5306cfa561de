// Poller: what it refuses before a backend sees it, each with its errno and nothing touched, and
// the bookkeeping around descriptors. On epoll; the checks do not depend on the backend.
#include "poller/poller.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <functional>

#include "base/unique_fd.h"
#include "harness.h"
#include "poller_driver.h"
#include "temp_dir.h"

using nephrite::UniqueFd;
using test::Opcode;
using test::PollerDriver;
using test::SubmissionEntry;
using test::TempDir;

namespace {

constexpr std::uint32_t kSlotCount = 16;
constexpr std::uint32_t kArenaBytes = kSlotCount * PollerDriver::kBytesPerSlot;
constexpr std::uint32_t kScratchBytes = kSlotCount * nephrite::abi::kScratchBytes;

}  // namespace

TEST("poller: a buffer that is not wholly inside its arena is refused") {
  PollerDriver driver("epoll", kSlotCount);
  const UniqueFd zero(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  struct Case {
    std::uint32_t arena_change;
    std::uint32_t offset;
    std::uint32_t bytes;
    std::int32_t expected;
  };
  const Case cases[] = {{0, kArenaBytes - 8, 8, 8},
                        {0, kArenaBytes - 8, 9, -EFAULT},
                        {0, kArenaBytes, 1, -EFAULT},
                        {0, kArenaBytes + 1, 0, -EFAULT},
                        {0, ~0u, 2, -EFAULT},       // wraps to 1 in 32 bits
                        {0, ~0u - 7, 16, -EFAULT},  // wraps to 8
                        {0, 8, ~0u, -EFAULT},
                        {1, 0, 8, -EFAULT},  // no such arena
                        {~0u, 0, 8, 8},      // arena 0 is the scratch
                        {~0u, kScratchBytes - 4, 8, -EFAULT}};
  for (const Case& each : cases) {
    SubmissionEntry entry = driver.with_buffer(Opcode::kRead, zero.get(), 0);
    entry.arena = static_cast<std::uint16_t>(entry.arena + each.arena_change);
    entry.buffer_offset = each.offset;
    entry.buffer_bytes = each.bytes;
    EXPECT_EQ(driver.run(entry), each.expected);
  }
  EXPECT_EQ(driver.poller->memory().header().rejected_count, 8.0);
}

TEST("poller: a path that is not one NUL-terminated name inside its arena is refused") {
  TempDir dir;
  const std::string path = dir.write("a", "x");
  PollerDriver driver("epoll", kSlotCount);
  using Change = std::function<void(SubmissionEntry&, char*)>;
  const std::pair<Change, std::int32_t> cases[] = {
      {[](SubmissionEntry&, char*) {}, 0},
      {[](SubmissionEntry& entry, char*) { entry.path_bytes--; }, -EINVAL},
      {[](SubmissionEntry& entry, char*) { entry.path_bytes++; }, -EINVAL},
      {[](SubmissionEntry&, char* text) { text[2] = '\0'; }, -EINVAL},
      {[](SubmissionEntry& entry, char*) { entry.path_bytes = 5000; }, -ENAMETOOLONG},
      {[](SubmissionEntry& entry, char*) { entry.path2_bytes = 4096; }, -ENAMETOOLONG},
      {[](SubmissionEntry& entry, char*) { entry.path_offset = kScratchBytes - 2; }, -EFAULT},
      {[](SubmissionEntry& entry, char*) { entry.path_offset = ~0u; }, -EFAULT},
      {[](SubmissionEntry& entry, char*) { entry.path_arena = 999; }, -EFAULT},
      {[](SubmissionEntry& entry, char*) { entry.flags = 0; }, -EBADF},  // then fd names the object
  };
  for (const auto& [change, expected] : cases) {
    SubmissionEntry entry = driver.with_path(Opcode::kStat, path);
    char* text = reinterpret_cast<char*>(driver.poller->memory().scratch()) + entry.path_offset;
    change(entry, text);
    EXPECT_EQ(driver.run(entry), expected);
  }
}

TEST("poller: an operation without the parts it needs is refused") {
  PollerDriver driver("epoll", kSlotCount);
  for (const Opcode opcode :
       {Opcode::kRead, Opcode::kWrite, Opcode::kReaddir, Opcode::kOpen, Opcode::kRename,
        Opcode::kUnlink, Opcode::kMkdir, Opcode::kLink, Opcode::kSymlink, Opcode::kAccess,
        Opcode::kReadlink, Opcode::kRealpath, Opcode::kCount}) {
    EXPECT_EQ(driver.run(driver.entry(opcode)), -EINVAL);
  }
}

TEST("poller: a slot in use keeps its operation, whoever claims it") {
  PollerDriver driver("epoll", kSlotCount);
  int ends[2];
  REQUIRE_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd in(ends[0]);
  const UniqueFd out(ends[1]);
  const SubmissionEntry read = driver.with_buffer(Opcode::kRead, in.get(), 8);
  driver.submit(read);
  driver.enter();
  SubmissionEntry thief = read;
  thief.generation++;
  driver.submit(thief);
  driver.poller->enter(nephrite::abi::kEnterSubmit);
  const auto& header = driver.poller->memory().header();
  REQUIRE_EQ(header.completion_tail - header.completion_head, 1u);
  const auto refused =
      driver.poller->memory().completion_entries()[header.completion_head & (kSlotCount - 1)];
  EXPECT_EQ(refused.generation, thief.generation);
  EXPECT_EQ(refused.result, -EINVAL);
  driver.poller->memory().header().completion_head++;
  REQUIRE_EQ(::write(out.get(), "ok", 2), 2);
  EXPECT_EQ(driver.result_of(read), 2);
}

TEST("poller: cancel names slot and generation; an earlier use of the slot is not hit") {
  PollerDriver driver("epoll", kSlotCount);
  int ends[2];
  REQUIRE_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd in(ends[0]);
  const UniqueFd out(ends[1]);
  const SubmissionEntry read = driver.with_buffer(Opcode::kRead, in.get(), 8);
  driver.submit(read);
  SubmissionEntry stale = read;
  stale.generation--;
  EXPECT_EQ(driver.cancel(stale), -ENOENT);
  stale.slot = kSlotCount + 7;
  EXPECT_EQ(driver.cancel(stale), -ENOENT);
  EXPECT_TRUE(!driver.peek(read).has_value());
  EXPECT_EQ(driver.cancel(read), 0);
  EXPECT_EQ(driver.result_of(read), -ECANCELED);
}

TEST("poller: a close waits for what is pending on its descriptor, or cancels it when told so") {
  PollerDriver driver("epoll", kSlotCount);
  int ends[2];
  REQUIRE_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd out(ends[1]);
  for (const bool is_cancelling : {false, true}) {
    const int in = ::fcntl(ends[0], F_DUPFD_CLOEXEC, 0);
    const SubmissionEntry read = driver.with_buffer(Opcode::kRead, in, 8);
    SubmissionEntry close = driver.entry(Opcode::kClose);
    close.fd = in;
    close.argument0 = is_cancelling ? 1 : 0;
    driver.submit(read);
    driver.submit(close);
    driver.enter();
    if (!is_cancelling) {
      EXPECT_TRUE(!driver.peek(close).has_value());
      EXPECT_TRUE(::fcntl(in, F_GETFD) >= 0);
      REQUIRE_EQ(::write(out.get(), "x", 1), 1);
    }
    EXPECT_EQ(driver.result_of(read), is_cancelling ? -ECANCELED : 1);
    EXPECT_EQ(driver.result_of(close), 0);
    EXPECT_EQ(::fcntl(in, F_GETFD), -1);
  }
  ::close(ends[0]);
}

TEST("poller: a second close of a descriptor that is still used fails and closes nobody else") {
  PollerDriver driver("epoll", kSlotCount);
  int ends[2];
  REQUIRE_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd out(ends[1]);
  const SubmissionEntry read = driver.with_buffer(Opcode::kRead, ends[0], 8);
  SubmissionEntry first = driver.entry(Opcode::kClose);
  SubmissionEntry second = driver.entry(Opcode::kClose);
  first.fd = second.fd = ends[0];
  second.argument0 = 1;
  driver.submit(read);
  driver.submit(first);
  driver.submit(second);
  EXPECT_EQ(driver.result_of(second), -EBADF);
  EXPECT_EQ(driver.result_of(read), -ECANCELED);
  EXPECT_EQ(driver.result_of(first), 0);
  EXPECT_EQ(::fcntl(ends[0], F_GETFD), -1);
}

TEST("poller: the target of a copy in progress is not closed under it") {
  TempDir dir;
  const std::string path = dir.write("target", "");
  PollerDriver driver("epoll", kSlotCount);
  const UniqueFd source(::open(dir.write("source", "content").c_str(), O_RDONLY | O_CLOEXEC));
  const int target = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  REQUIRE_TRUE(target >= 0);
  SubmissionEntry copy = driver.entry(Opcode::kCopyRange);
  copy.fd = source.get();
  copy.argument0 = static_cast<std::uint32_t>(target);
  copy.value0 = 7;
  SubmissionEntry close = driver.entry(Opcode::kClose);
  close.fd = target;
  close.argument0 = 1;  // the copy has not gone to its thread yet: it is taken back
  driver.submit(copy);
  driver.submit(close);
  EXPECT_EQ(driver.result_of(copy), -ECANCELED);
  EXPECT_EQ(driver.result_of(close), 0);
  EXPECT_EQ(::fcntl(target, F_GETFD), -1);
}

TEST("poller: descriptors opened through it and not closed are closed with it") {
  TempDir dir;
  const std::string path = dir.write("a", "x");
  const int before = test::open_descriptor_count();
  {
    PollerDriver driver("epoll", kSlotCount);
    for (int index = 0; index < 5; index++) {
      EXPECT_TRUE(driver.run(driver.with_path(Opcode::kOpen, path)) >= 0);
    }
    EXPECT_TRUE(test::open_descriptor_count() >= before + 5);
  }
  EXPECT_EQ(test::open_descriptor_count(), before);
}

TEST("poller: cursors out of range are reported and nothing is consumed") {
  PollerDriver driver("epoll", kSlotCount);
  nephrite::abi::Header& header = driver.poller->memory().header();
  header.submission_tail += kSlotCount + 1;
  EXPECT_EQ(driver.poller->enter(nephrite::abi::kEnterSubmit), 0u);
  EXPECT_TRUE((header.status & nephrite::abi::kStatusCorrupt) != 0);
  header.submission_tail -= kSlotCount + 1;
  EXPECT_EQ(driver.run(driver.entry(Opcode::kNop)), 0);
  EXPECT_EQ(header.submission_count, 1.0);
}
