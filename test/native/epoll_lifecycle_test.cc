// Epoll backend behind a real Poller: wakes, time limits, opens that wait, and its end with work
// pending: nothing leaks, nothing lands in somebody else's file.
#include <sys/stat.h>

#include <thread>

#include "base/check.h"
#include "base/clock.h"
#include "epoll_fixture.h"
#include "eventually.h"
#include "harness.h"
#include "temp_dir.h"

using nephrite::UniqueFd;
using test::Epoll;
using test::Opcode;
using test::Pipe;
using test::PollerDriver;
using test::SubmissionEntry;
using test::TempDir;

namespace {

// The poller is gone: threads that sit in open(2) of these FIFOs, or are on their way into it, get
// their other end, close what they opened and let go of the inbox. True when no descriptor is left.
bool is_all_closed(const std::vector<std::string>& fifos, int expected_count) {
  std::vector<UniqueFd> both_ends;
  for (const std::string& path : fifos) {
    both_ends.emplace_back(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    CHECK(both_ends.back().valid());
  }
  const int held_count = static_cast<int>(both_ends.size());
  return test::eventually(
      [&] { return test::open_descriptor_count() == expected_count + held_count; });
}

}  // namespace

TEST("epoll: a FIFO is opened and read while eight others wait; cancelled opens leak nothing") {
  TempDir dir;
  const int before = test::open_descriptor_count();
  {
    Epoll epoll;
    std::vector<SubmissionEntry> opens;
    for (int index = 0; index < 8; index++) {
      SubmissionEntry open = epoll.with_path(Opcode::kOpen, dir.fifo("f" + std::to_string(index)));
      open.argument0 = O_RDONLY;
      opens.push_back(open);
      epoll.submit(open);
    }
    EXPECT_EQ(epoll.run(epoll.with_path(Opcode::kStat, dir.path())), 0);
    const UniqueFd writer(::open(dir.file("f3").c_str(), O_WRONLY | O_CLOEXEC));
    const std::int32_t fd = epoll.result_of(opens[3]);
    REQUIRE_TRUE(fd >= 0);
    const SubmissionEntry read = epoll.with_buffer(Opcode::kRead, fd, 10);
    epoll.submit(read);
    epoll.enter();
    EXPECT_TRUE(!epoll.peek(read).has_value());
    REQUIRE_EQ(::write(writer.get(), "data", 4), 4);
    EXPECT_EQ(epoll.result_of(read), 4);
    for (std::size_t index = 0; index < 8; index++) {
      if (index == 3) continue;
      const std::int32_t answer = epoll.cancel(opens[index]);
      EXPECT_TRUE(answer == 0 || answer == -EALREADY);
    }
  }
  std::vector<std::string> fifos;
  for (int index = 0; index < 8; index++) fifos.push_back(dir.file("f" + std::to_string(index)));
  EXPECT_TRUE(is_all_closed(fifos, before));
}

TEST("epoll: wake from another thread reaches a parked poller, every time") {
  Epoll epoll;
  for (int round = 0; round < 200; round++) {
    epoll.enter();
    REQUIRE_TRUE(epoll.poller->park());
    std::thread other([&epoll] { epoll.poller->wake(); });
    const bool is_woken = epoll.is_woken(PollerDriver::kLostMs);
    other.join();
    REQUIRE_TRUE(is_woken);
    epoll.poller->acknowledge();
    epoll.enter();
    REQUIRE_TRUE(!epoll.is_woken(0));
  }
}

TEST("epoll: an enter with a time limit ends with it, or with the first completion") {
  Epoll epoll;
  const Pipe pipe;
  const SubmissionEntry read = epoll.with_buffer(Opcode::kRead, pipe.in.get(), 8);
  epoll.submit(read);
  const std::uint64_t start_ns = nephrite::monotonic_now_ns();
  epoll.poller->enter(nephrite::abi::kEnterSubmit, 20'000'000);
  EXPECT_TRUE(nephrite::monotonic_now_ns() - start_ns >= 20'000'000);
  std::thread other([&pipe] { pipe.put("x"); });
  const std::uint32_t count = epoll.poller->enter(nephrite::abi::kEnterCollect, 20'000'000'000);
  other.join();
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(epoll.result_of(read), 1);
}

TEST("epoll: teardown waits for calls that run: no write lands in a file opened afterwards") {
  TempDir dir;
  const std::string ours = dir.write("ours", "");
  const std::string strangers = dir.write("strangers", "");
  for (int round = 0; round < 200; round++) {
    const int number = ::open(ours.c_str(), O_WRONLY | O_CLOEXEC);
    {
      Epoll epoll;
      for (int index = 0; index < 40; index++) {
        SubmissionEntry write = epoll.write_text(number, "mine");
        write.offset = 0;
        epoll.submit(write);
      }
      epoll.enter();
    }
    ::close(number);
    // Under the same number, for as long as a thread that was left behind may need.
    REQUIRE_EQ(::open(strangers.c_str(), O_WRONLY | O_CLOEXEC), number);
    for (int count = 0; count < 20; count++) std::this_thread::yield();
    ::close(number);
  }
  struct stat status {};
  REQUIRE_EQ(::stat(strangers.c_str(), &status), 0);
  EXPECT_EQ(status.st_size, 0);
}

TEST("epoll: destroyed with reads, pool jobs and FIFO opens pending") {
  TempDir dir;
  const int before = test::open_descriptor_count();
  {
    const Pipe pipe;
    {
      Epoll epoll(256);
      SubmissionEntry open = epoll.with_path(Opcode::kOpen, dir.fifo("f"));
      open.argument0 = O_RDONLY;
      epoll.submit(open);
      for (int index = 0; index < 100; index++) {
        epoll.submit(epoll.with_buffer(Opcode::kRead, pipe.in.get(), 8));
        SubmissionEntry create =
            epoll.with_path(Opcode::kOpen, dir.file("new" + std::to_string(index)));
        create.argument0 = O_CREAT | O_WRONLY;
        create.argument1 = 0600;
        epoll.submit(create);
      }
      epoll.enter();
    }
  }
  EXPECT_TRUE(is_all_closed({dir.file("f")}, before));
}
