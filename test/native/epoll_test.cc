// Epoll backend behind a real Poller: readiness, order, devices and terminals. Every wait goes
// through the park protocol, so a lost wake shows as a lost operation.
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "epoll_fixture.h"
#include "harness.h"
#include "temp_dir.h"

using nephrite::UniqueFd;
using test::Epoll;
using test::Opcode;
using test::Pipe;
using test::PollerDriver;
using test::SubmissionEntry;
using test::TempDir;
using test::Terminal;

TEST("epoll: a cached read is done inside the enter that submits it, without a pool") {
  TempDir dir;
  Epoll epoll;
  const UniqueFd fd(::open(dir.write("a", "hello").c_str(), O_RDONLY | O_CLOEXEC));
  SubmissionEntry read = epoll.with_buffer(Opcode::kRead, fd.get(), 100);
  read.offset = 0;
  epoll.submit(read);
  const std::uint64_t before = epoll.syscalls();
  epoll.enter();
  const bool is_inline = epoll.peek(read).has_value();
  EXPECT_EQ(epoll.result_of(read), 5);
  EXPECT_TRUE(std::string_view(epoll.buffer_of(read), 5) == "hello");
  if (!is_inline) SKIP("no RWF_NOWAIT on this file system");
  EXPECT_EQ(epoll.syscalls() - before, 1u);
  EXPECT_EQ(epoll.pooled(), 0u);
}

TEST("epoll: reads of a pipe wait for data, blocking descriptor or not, and are served in order") {
  for (const int flags : {0, O_NONBLOCK}) {
    Epoll epoll;
    const Pipe pipe(flags);
    const SubmissionEntry first = epoll.with_buffer(Opcode::kRead, pipe.in.get(), 3);
    const SubmissionEntry second = epoll.with_buffer(Opcode::kRead, pipe.in.get(), 3);
    epoll.submit(first);
    epoll.submit(second);
    epoll.enter();
    EXPECT_TRUE(!epoll.peek(first).has_value());
    EXPECT_TRUE(epoll.poller->park());
    EXPECT_TRUE(!epoll.is_woken(0));
    pipe.put("abc");
    EXPECT_TRUE(epoll.is_woken(PollerDriver::kLostMs));
    REQUIRE_EQ(epoll.result_of(first), 3);
    EXPECT_TRUE(std::string_view(epoll.buffer_of(first), 3) == "abc");
    EXPECT_TRUE(!epoll.peek(second).has_value());
    pipe.put("de");
    REQUIRE_EQ(epoll.result_of(second), 2);
    EXPECT_TRUE(std::string_view(epoll.buffer_of(second), 2) == "de");
  }
}

TEST("epoll: a read that comes later does not overtake one that waits") {
  Epoll epoll;
  const Pipe pipe;
  const SubmissionEntry first = epoll.with_buffer(Opcode::kRead, pipe.in.get(), 8);
  epoll.submit(first);
  epoll.enter();
  pipe.put("12345678abc");
  const SubmissionEntry second = epoll.with_buffer(Opcode::kRead, pipe.in.get(), 8);
  epoll.submit(second);
  EXPECT_EQ(epoll.result_of(second), 3);
  EXPECT_TRUE(std::string_view(epoll.buffer_of(first), 8) == "12345678");
  EXPECT_EQ(epoll.result_of(first), 8);
}

TEST("epoll: the end of a pipe is 0, for all that wait") {
  Epoll epoll;
  Pipe pipe;
  const SubmissionEntry first = epoll.with_buffer(Opcode::kRead, pipe.in.get(), 8);
  const SubmissionEntry second = epoll.with_buffer(Opcode::kRead, pipe.in.get(), 8);
  epoll.submit(first);
  epoll.submit(second);
  epoll.enter();
  pipe.out.reset();
  EXPECT_EQ(epoll.result_of(first), 0);
  EXPECT_EQ(epoll.result_of(second), 0);
}

TEST("epoll: a write to a full pipe waits for room and then moves what fits") {
  Epoll epoll;
  const Pipe pipe;
  std::string filling(4096, 'x');
  CHECK_EQ(::fcntl(pipe.out.get(), F_SETPIPE_SZ, 4096), 4096);
  pipe.put(filling);
  const SubmissionEntry write = epoll.write_text(pipe.out.get(), "tail");
  epoll.submit(write);
  epoll.enter();
  EXPECT_TRUE(!epoll.peek(write).has_value());
  REQUIRE_EQ(::read(pipe.in.get(), filling.data(), 4096), 4096);
  EXPECT_EQ(epoll.result_of(write), 4);
  REQUIRE_EQ(::read(pipe.in.get(), filling.data(), 4096), 4);
  EXPECT_TRUE(filling.substr(0, 4) == "tail");
}

TEST("epoll: both directions of one socket wait at once") {
  Epoll epoll;
  int ends[2];
  REQUIRE_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd near(ends[0]);
  const UniqueFd far(ends[1]);
  const std::string filling(4096, 'x');
  while (::send(near.get(), filling.data(), filling.size(), MSG_DONTWAIT) > 0) {
  }
  const SubmissionEntry read = epoll.with_buffer(Opcode::kRead, near.get(), 8);
  const SubmissionEntry write = epoll.write_text(near.get(), "more");
  epoll.submit(read);
  epoll.submit(write);
  epoll.enter();
  EXPECT_TRUE(!epoll.peek(read).has_value());
  EXPECT_TRUE(!epoll.peek(write).has_value());
  REQUIRE_EQ(::write(far.get(), "hi", 2), 2);
  EXPECT_EQ(epoll.result_of(read), 2);
  EXPECT_TRUE(!epoll.peek(write).has_value());
  std::string drain(1 << 20, 0);
  while (::recv(far.get(), drain.data(), drain.size(), MSG_DONTWAIT) > 0) {
  }
  EXPECT_EQ(epoll.result_of(write), 4);
}

TEST("epoll: an idle poller with a waiting read is not woken, and does not spin") {
  Epoll epoll;
  const Pipe pipe(O_NONBLOCK);
  const SubmissionEntry read = epoll.with_buffer(Opcode::kRead, pipe.in.get(), 8);
  epoll.submit(read);
  epoll.enter();
  REQUIRE_TRUE(epoll.poller->park());
  // Not a wait for something: the time over which no wake may come.
  EXPECT_TRUE(!epoll.is_woken(100));
  const std::uint64_t before = epoll.syscalls();
  epoll.enter();
  EXPECT_TRUE(epoll.syscalls() - before <= 1);
  EXPECT_EQ(epoll.cancel(read), 0);
  EXPECT_EQ(epoll.result_of(read), -ECANCELED);
}

TEST("epoll: a cancelled wait leaves no bytes taken and no wake behind") {
  Epoll epoll;
  const Pipe pipe(O_NONBLOCK);
  const SubmissionEntry read = epoll.with_buffer(Opcode::kRead, pipe.in.get(), 8);
  epoll.submit(read);
  epoll.enter();
  EXPECT_EQ(epoll.cancel(read), 0);
  EXPECT_EQ(epoll.result_of(read), -ECANCELED);
  pipe.put("kept");
  for (int round = 0; round < 3; round++) {  // at most one event was armed
    if (!epoll.poller->park() || !epoll.is_woken(0)) break;
    epoll.poller->acknowledge();
    epoll.enter();
  }
  EXPECT_TRUE(epoll.poller->park());
  EXPECT_TRUE(!epoll.is_woken(0));
  EXPECT_EQ(epoll.run(epoll.with_buffer(Opcode::kRead, pipe.in.get(), 8)), 4);
  // The descriptor is registered already; it is armed again, not given to a pool thread.
  const SubmissionEntry again = epoll.with_buffer(Opcode::kRead, pipe.in.get(), 8);
  epoll.submit(again);
  epoll.enter();
  pipe.put("more");
  EXPECT_EQ(epoll.result_of(again), 4);
  EXPECT_EQ(epoll.pooled(), 0u);
}

TEST("epoll: a descriptor number used again is not served by an old registration") {
  Epoll epoll;
  Pipe first;
  const int number = first.in.get();
  const SubmissionEntry read = epoll.with_buffer(Opcode::kRead, number, 8);
  epoll.submit(read);
  epoll.enter();
  const UniqueFd kept(::dup(number));  // keeps the first pipe's registration alive
  EXPECT_EQ(epoll.cancel(read), 0);
  EXPECT_EQ(epoll.result_of(read), -ECANCELED);
  first.in.reset();
  const Pipe second;
  REQUIRE_EQ(second.in.get(), number);
  const SubmissionEntry again = epoll.with_buffer(Opcode::kRead, number, 8);
  epoll.submit(again);
  epoll.enter();
  first.put("old");
  EXPECT_TRUE(!epoll.peek(again).has_value());
  second.put("fresh");
  EXPECT_EQ(epoll.result_of(again), 5);
  EXPECT_TRUE(std::string_view(epoll.buffer_of(again), 5) == "fresh");
}

TEST("epoll: devices: an endless one, a full one, a counter that blocks") {
  Epoll epoll;
  const UniqueFd zero(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  const SubmissionEntry read = epoll.with_buffer(Opcode::kRead, zero.get(), 64);
  std::memset(epoll.buffer_of(read), 1, 64);
  EXPECT_EQ(epoll.run(read), 64);
  EXPECT_TRUE(epoll.buffer_of(read)[63] == 0);
  const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  EXPECT_EQ(epoll.run(epoll.write_text(full.get(), "x")), -ENOSPC);
  const UniqueFd counter(::eventfd(0, EFD_CLOEXEC));
  const SubmissionEntry wait = epoll.with_buffer(Opcode::kRead, counter.get(), 8);
  epoll.submit(wait);
  epoll.enter();
  EXPECT_TRUE(!epoll.peek(wait).has_value());
  const std::uint64_t one = 1;
  REQUIRE_EQ(::write(counter.get(), &one, 8), 8);
  EXPECT_EQ(epoll.result_of(wait), 8);
}

TEST("epoll: a terminal is read when its line is complete") {
  Epoll epoll;
  const Terminal terminal;
  if (!terminal.near.valid()) SKIP("no pseudo-terminals here");
  const SubmissionEntry read = epoll.with_buffer(Opcode::kRead, terminal.near.get(), 100);
  epoll.submit(read);
  epoll.enter();
  REQUIRE_EQ(::write(terminal.far.get(), "li", 2), 2);
  epoll.enter();
  EXPECT_TRUE(!epoll.peek(read).has_value());
  REQUIRE_EQ(::write(terminal.far.get(), "ne\n", 3), 3);
  EXPECT_EQ(epoll.result_of(read), 5);
  EXPECT_EQ(epoll.run(epoll.write_text(terminal.near.get(), "out")), 3);
}

TEST("epoll: reads of a terminal take its lines in order, one thread at a time") {
  Epoll epoll;
  const Terminal terminal;
  if (!terminal.near.valid()) SKIP("no pseudo-terminals here");
  std::vector<SubmissionEntry> reads;
  for (int index = 0; index < 6; index++) {
    reads.push_back(epoll.with_buffer(Opcode::kRead, terminal.near.get(), 100));
    epoll.submit(reads.back());
  }
  epoll.enter();
  REQUIRE_EQ(::write(terminal.far.get(), "1\n2\n3\n4\n5\n", 10), 10);
  for (int index = 0; index < 5; index++) {
    REQUIRE_EQ(epoll.result_of(reads[static_cast<std::size_t>(index)]), 2);
    const char* line = epoll.buffer_of(reads[static_cast<std::size_t>(index)]);
    EXPECT_EQ(line[0] - '0', index + 1);
  }
  // The sixth waits in epoll, not in a thread: it can be called back.
  EXPECT_EQ(epoll.pooled(), 5u);
  EXPECT_EQ(epoll.cancel(reads[5]), 0);
  EXPECT_EQ(epoll.result_of(reads[5]), -ECANCELED);
}

TEST("epoll: an old registration of a number does not send a terminal's read to a thread") {
  Epoll epoll;
  const Terminal terminal;
  if (!terminal.near.valid()) SKIP("no pseudo-terminals here");
  Pipe pipe;
  const int number = pipe.in.get();
  const SubmissionEntry read = epoll.with_buffer(Opcode::kRead, number, 8);
  epoll.submit(read);
  epoll.enter();
  const UniqueFd kept(::dup(number));
  EXPECT_EQ(epoll.cancel(read), 0);
  EXPECT_EQ(epoll.result_of(read), -ECANCELED);
  pipe.in.reset();
  const UniqueFd reused(::dup(terminal.near.get()));
  REQUIRE_EQ(reused.get(), number);
  const SubmissionEntry again = epoll.with_buffer(Opcode::kRead, number, 8);
  epoll.submit(again);
  epoll.enter();
  pipe.put("old");
  epoll.enter();
  EXPECT_EQ(epoll.pooled(), 0u);
  // A thread inside read(2) of a terminal could not be called back.
  EXPECT_EQ(epoll.cancel(again), 0);
  EXPECT_EQ(epoll.result_of(again), -ECANCELED);
}
