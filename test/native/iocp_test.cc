// IOCP backend behind a real Poller, on Windows or under wine: files with every byte compared,
// positions, errors, cancellation, the park protocol, teardown. Every wait goes through parking, so
// a lost signal shows as a lost operation. Named pipes give operations that stay pending.
#include <fcntl.h>
#include <io.h>
#include <windows.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "harness.h"
#include "poller_driver.h"

using nephrite::abi::CompletionEntry;
using test::Opcode;
using test::PollerDriver;
using test::SubmissionEntry;

namespace {

constexpr std::uint32_t kReadWrite = O_RDWR | O_CREAT | O_TRUNC;
constexpr std::uint32_t kMode = 0644;

struct Iocp : PollerDriver {
  explicit Iocp(std::uint32_t slot_count = 64) : PollerDriver("iocp", slot_count) {
    CHECK_EQ(opened.error, 0);
  }
  int open(const std::string& path, std::uint32_t flags) {
    SubmissionEntry made = with_path(Opcode::kOpen, path);
    made.argument0 = flags;
    made.argument1 = kMode;
    return run(made);
  }
  std::int32_t close(int fd) {
    SubmissionEntry made = entry(Opcode::kClose);
    made.fd = fd;
    return run(made);
  }
  SubmissionEntry read(int fd, std::uint32_t bytes,
                       std::int64_t offset = nephrite::abi::kOffsetPosition) {
    SubmissionEntry made = with_buffer(Opcode::kRead, fd, bytes);
    made.offset = offset;
    return made;
  }
  std::string_view text(const SubmissionEntry& of, std::int32_t bytes) {
    return {buffer_of(of), static_cast<std::size_t>(std::max(bytes, 0))};
  }
};

class WindowsTempDir {
 public:
  WindowsTempDir() {
    // The name of a test that died may be taken: process ids come back soon under wine.
    const std::filesystem::path base = std::filesystem::temp_directory_path();
    const std::string prefix = "nephrite-" + std::to_string(GetCurrentProcessId()) + "-";
    for (int number = 0; path_.empty(); number++) {
      const std::filesystem::path candidate = base / (prefix + std::to_string(number));
      if (std::filesystem::create_directory(candidate)) path_ = candidate;
    }
  }
  ~WindowsTempDir() { CHECK(std::filesystem::remove_all(path_) > 0); }
  WindowsTempDir(const WindowsTempDir&) = delete;
  WindowsTempDir& operator=(const WindowsTempDir&) = delete;
  std::string path() const { return path_.string(); }
  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// The writing end of a named pipe; the backend opens the other one by `path`.
struct Pipe {
  std::string path;
  HANDLE server;
  Pipe() {
    static int number = 0;
    path = "\\\\.\\pipe\\nephrite-" + std::to_string(GetCurrentProcessId()) + "-" +
           std::to_string(number++);
    server = CreateNamedPipeA(path.c_str(), PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE | PIPE_WAIT, 1,
                              65536, 65536, 0, nullptr);
    CHECK(server != INVALID_HANDLE_VALUE);
  }
  ~Pipe() { CloseHandle(server); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void put(std::string_view text) const {
    DWORD written = 0;
    CHECK(WriteFile(server, text.data(), static_cast<DWORD>(text.size()), &written, nullptr) != 0);
    CHECK_EQ(written, static_cast<DWORD>(text.size()));
  }
};

std::string random_text(std::size_t bytes) {
  harness::Random random(harness::seed());
  std::string text(bytes, '\0');
  for (char& byte : text) byte = static_cast<char>(random.next());
  return text;
}

}  // namespace

TEST("iocp: a no-op completes, by itself and through the port at open") {
  Iocp iocp;
  EXPECT_EQ(iocp.run(iocp.entry(Opcode::kNop)), 0);
  EXPECT_TRUE(std::string_view(iocp.poller->backend().capabilities().name) == "iocp");
  EXPECT_EQ(iocp.poller->backend().wait_handle(), -1);
}

TEST("iocp: writes and reads a file at depth 16, every byte compared") {
  constexpr std::uint32_t kBlock = 8192;
  constexpr std::uint32_t kBlockCount = 100;
  const std::string content = random_text(kBlock * kBlockCount - 77);
  WindowsTempDir dir;
  Iocp iocp;
  const std::string path = dir.file("data");
  const int fd = iocp.open(path, kReadWrite);
  REQUIRE_TRUE(fd >= 0);
  for (const Opcode opcode : {Opcode::kWrite, Opcode::kRead}) {
    for (std::uint32_t first = 0; first < kBlockCount; first += 16) {
      std::vector<SubmissionEntry> batch;
      for (std::uint32_t block = first; block < std::min(first + 16, kBlockCount); block++) {
        const std::size_t at = std::size_t{block} * kBlock;
        const auto bytes = static_cast<std::uint32_t>(
            std::min<std::size_t>(kBlock, opcode == Opcode::kWrite ? content.size() - at : kBlock));
        SubmissionEntry made = iocp.with_buffer(opcode, fd, bytes);
        made.offset = static_cast<std::int64_t>(at);
        if (opcode == Opcode::kWrite) std::memcpy(iocp.buffer_of(made), &content[at], bytes);
        iocp.submit(made);
        batch.push_back(made);
      }
      for (const SubmissionEntry& made : batch) {
        const auto at = static_cast<std::size_t>(made.offset);
        const auto bytes =
            static_cast<std::int32_t>(std::min<std::size_t>(kBlock, content.size() - at));
        REQUIRE_EQ(iocp.result_of(made), bytes);
        REQUIRE_TRUE(iocp.text(made, bytes) == std::string_view(content).substr(at, kBlock));
      }
    }
  }
  EXPECT_EQ(iocp.close(fd), 0);
  // What the C runtime sees is what was written.
  std::FILE* file = std::fopen(path.c_str(), "rb");
  REQUIRE_TRUE(file != nullptr);
  std::string seen(content.size() + 1, '\0');
  EXPECT_EQ(std::fread(seen.data(), 1, seen.size(), file), content.size());
  seen.pop_back();
  EXPECT_TRUE(seen == content);
  std::fclose(file);
}

TEST("iocp: an open tells the kind and the size of what it found") {
  WindowsTempDir dir;
  Iocp iocp;
  const int fd = iocp.open(dir.file("a"), kReadWrite);
  EXPECT_EQ(iocp.run(iocp.write_text(fd, "hello")), 5);
  EXPECT_EQ(iocp.close(fd), 0);
  const auto flags_of = [&](const std::string& path) {
    const SubmissionEntry open = iocp.with_path(Opcode::kOpen, path);
    iocp.submit(open);
    const std::optional<CompletionEntry> answer = iocp.wait(open);
    if (!answer.has_value() || answer->result < 0) return ~0u;
    EXPECT_EQ(iocp.close(answer->result), 0);
    return answer->flags;
  };
  EXPECT_EQ(flags_of(dir.file("a")), nephrite::abi::open_flags(0100000, 5));
  EXPECT_EQ(flags_of(dir.path()) & nephrite::abi::kCompletionKindMask, 004u);
}

TEST("iocp: operations that use the file position take turns, in order") {
  const std::string content = random_text(64 * 100 + 10);
  WindowsTempDir dir;
  Iocp iocp(128);
  const int fd = iocp.open(dir.file("a"), kReadWrite);
  SubmissionEntry write = iocp.write_text(fd, content);
  write.offset = 0;
  REQUIRE_EQ(iocp.run(write), static_cast<std::int32_t>(content.size()));
  std::vector<SubmissionEntry> reads;
  for (int index = 0; index < 102; index++) reads.push_back(iocp.read(fd, 64));
  for (const SubmissionEntry& read : reads) iocp.submit(read);
  std::string seen;
  for (const SubmissionEntry& read : reads) {
    const std::int32_t bytes = iocp.result_of(read);
    REQUIRE_TRUE(bytes >= 0);
    seen += iocp.text(read, bytes);
  }
  EXPECT_TRUE(seen == content);
  EXPECT_EQ(iocp.run(iocp.read(fd, 64)), 0);
}

TEST("iocp: appending ignores offsets and positions") {
  WindowsTempDir dir;
  Iocp iocp;
  const std::string path = dir.file("log");
  const int fd = iocp.open(path, O_WRONLY | O_CREAT | O_APPEND);
  SubmissionEntry second = iocp.write_text(fd, "two");
  second.offset = 0;
  EXPECT_EQ(iocp.run(iocp.write_text(fd, "one,")), 4);
  EXPECT_EQ(iocp.run(second), 3);
  EXPECT_EQ(iocp.close(fd), 0);
  const int reader = iocp.open(path, O_RDONLY);
  const SubmissionEntry read = iocp.read(reader, 100, 0);
  EXPECT_EQ(iocp.run(read), 7);
  EXPECT_TRUE(iocp.text(read, 7) == "one,two");
}

TEST("iocp: errors are what open(2), read(2) and write(2) give") {
  WindowsTempDir dir;
  Iocp iocp;
  const std::string path = dir.file("a");
  EXPECT_EQ(iocp.open(dir.file("missing"), O_RDONLY), -ENOENT);
  EXPECT_EQ(iocp.open(dir.file("missing\\deeper"), O_RDONLY), -ENOENT);
  EXPECT_EQ(iocp.open("\xff\xfe", O_RDONLY), -EILSEQ);
  EXPECT_EQ(iocp.open(path, 3), -EINVAL);
  const int fd = iocp.open(path, O_WRONLY | O_CREAT | O_EXCL);
  REQUIRE_TRUE(fd >= 0);
  EXPECT_EQ(iocp.open(path, O_WRONLY | O_CREAT | O_EXCL), -EEXIST);
  EXPECT_EQ(iocp.run(iocp.read(fd, 10, 0)), -EBADF);
  EXPECT_EQ(iocp.run(iocp.read(fd, 10, -2)), -EINVAL);
  EXPECT_EQ(iocp.run(iocp.read(1'000'000, 10, 0)), -EBADF);
  EXPECT_EQ(iocp.run(iocp.read(-1, 10, 0)), -EBADF);
  EXPECT_EQ(iocp.close(fd), 0);
  EXPECT_EQ(iocp.close(fd), -EBADF);
  EXPECT_EQ(iocp.run(iocp.with_path(Opcode::kUnlink, path)), -ENOSYS);
}

TEST("iocp: a cancelled read ends with ECANCELED, once, and its pipe works on") {
  const Pipe pipe;
  Iocp iocp;
  const int fd = iocp.open(pipe.path, O_RDWR);
  REQUIRE_TRUE(fd >= 0);
  const SubmissionEntry read = iocp.read(fd, 100);
  iocp.submit(read);
  iocp.enter();
  EXPECT_TRUE(!iocp.peek(read).has_value());
  EXPECT_EQ(iocp.cancel(read), 0);
  EXPECT_EQ(iocp.result_of(read), -ECANCELED);
  EXPECT_EQ(iocp.cancel(read), -ENOENT);
  const SubmissionEntry again = iocp.read(fd, 100);
  iocp.submit(again);
  iocp.enter();
  pipe.put("after");
  EXPECT_EQ(iocp.result_of(again), 5);
  EXPECT_TRUE(iocp.text(again, 5) == "after");
}

TEST("iocp: closing cancels what is pending on the descriptor and waits for it") {
  const Pipe pipe;
  Iocp iocp;
  const int fd = iocp.open(pipe.path, O_RDWR);
  const SubmissionEntry read = iocp.read(fd, 100);
  iocp.submit(read);
  SubmissionEntry close = iocp.entry(Opcode::kClose);
  close.fd = fd;
  close.argument0 = 1;
  iocp.submit(close);
  EXPECT_EQ(iocp.result_of(read), -ECANCELED);
  EXPECT_EQ(iocp.result_of(close), 0);
}

TEST("iocp: a wake from another thread reaches a parked poller, once, and no other") {
  Iocp iocp;
  iocp.poller->wake();
  EXPECT_TRUE(!iocp.is_woken(0));
  REQUIRE_TRUE(iocp.poller->park());
  std::thread waker([&] { iocp.poller->wake(); });
  EXPECT_TRUE(iocp.is_woken(PollerDriver::kLostMs));
  waker.join();
  iocp.acknowledge();
  iocp.poller->wake();
  EXPECT_TRUE(!iocp.is_woken(0));
}

TEST("iocp: a wake ends the wait of a poller that waits inside enter") {
  Iocp iocp;
  std::atomic<bool> is_back{false};
  std::thread waker([&] {
    while (!is_back) iocp.poller->wake();
  });
  const std::uint64_t before_ns = nephrite::monotonic_now_ns();
  iocp.poller->enter(nephrite::abi::kEnterCollect, std::int64_t{PollerDriver::kLostMs} * 1'000'000);
  is_back = true;
  waker.join();
  EXPECT_TRUE(nephrite::monotonic_now_ns() - before_ns < PollerDriver::kLostMs * 1'000'000ull);
}

TEST("iocp: no signal is lost between parking, running on and parking again") {
  constexpr int kRounds = 2000;
  const Pipe pipe;
  Iocp iocp;
  const int fd = iocp.open(pipe.path, O_RDWR);
  REQUIRE_TRUE(fd >= 0);
  harness::Random random(harness::seed());
  std::atomic<int> wanted{0};
  std::thread writer([&] {
    harness::Random pauses(harness::seed() + 1);
    for (int round = 1; round <= kRounds; round++) {
      while (wanted.load() < round) std::this_thread::yield();
      for (std::uint64_t spins = pauses.below(3000); spins > 0; spins--) wanted.load();
      pipe.put("x");
    }
  });
  int received = 0;
  for (; received < kRounds; received++) {
    const SubmissionEntry read = iocp.read(fd, 1);
    iocp.submit(read);
    wanted = received + 1;
    // Parks and takes it back, so that the waiter meets the packet in every state.
    for (std::uint64_t times = random.below(4); times > 0; times--) {
      iocp.enter();
      iocp.poller->park();
    }
    if (iocp.result_of(read) != 1) break;
  }
  EXPECT_EQ(received, kRounds);
  wanted = kRounds;
  writer.join();
}

TEST("iocp: a running poller is not signalled, not even while its waiter is still armed") {
  WindowsTempDir dir;
  const Pipe pipe;
  Iocp iocp;
  const int fd = iocp.open(dir.file("a"), kReadWrite);
  const int pipe_fd = iocp.open(pipe.path, O_RDWR);
  EXPECT_EQ(iocp.run(iocp.write_text(fd, "hello")), 5);
  if (iocp.is_woken(0)) iocp.acknowledge();
  for (int round = 0; round < 500; round++) {
    REQUIRE_TRUE(iocp.poller->park());
    const SubmissionEntry cached = iocp.read(fd, 5, 0);
    const SubmissionEntry pending = iocp.read(pipe_fd, 1);
    iocp.submit(cached);
    iocp.submit(pending);
    iocp.enter();
    pipe.put("x");
    while (!iocp.peek(cached).has_value() || !iocp.peek(pending).has_value()) iocp.enter();
    REQUIRE_EQ(iocp.result_of(cached), 5);
    REQUIRE_EQ(iocp.result_of(pending), 1);
  }
  EXPECT_TRUE(!iocp.is_woken(0));
}

TEST("iocp: a packet that names no operation of ours is not followed") {
  WindowsTempDir dir;
  Iocp iocp;
  const int fd = iocp.open(dir.file("a"), kReadWrite);
  SubmissionEntry write = iocp.write_text(fd, "hello");
  write.offset = 0;
  EXPECT_EQ(iocp.run(write), 5);
  // As a stranger would who read from our descriptor: its packet comes to our port.
  const Pipe pipe;
  const int pipe_fd = iocp.open(pipe.path, O_RDWR);
  char byte = 0;
  OVERLAPPED foreign{};
  auto* handle = reinterpret_cast<HANDLE>(_get_osfhandle(pipe_fd));
  EXPECT_TRUE(ReadFile(handle, &byte, 1, nullptr, &foreign) == 0);
  pipe.put("x");
  DWORD bytes = 0;
  EXPECT_TRUE(GetOverlappedResult(handle, &foreign, &bytes, TRUE) != 0);
  const SubmissionEntry read = iocp.read(pipe_fd, 1);
  iocp.submit(read);
  iocp.enter();
  EXPECT_TRUE(!iocp.peek(read).has_value());
  pipe.put("y");
  EXPECT_EQ(iocp.result_of(read), 1);
  EXPECT_TRUE(iocp.text(read, 1) == "y");
}

TEST("iocp: teardown cancels a hundred pending reads and touches no buffer afterwards") {
  constexpr std::uint32_t kCount = 100;
  const Pipe pipe;
  std::shared_ptr<nephrite::PollerMemory> memory;
  {
    Iocp iocp(128);
    memory = iocp.poller->shared_memory();
    const int fd = iocp.open(pipe.path, O_RDWR);
    for (std::uint32_t index = 0; index < kCount; index++) iocp.submit(iocp.read(fd, 8));
    iocp.enter();
    EXPECT_EQ(iocp.poller->in_flight_count(), kCount);
    iocp.poller->close();
    EXPECT_EQ(iocp.poller->in_flight_count(), 0u);
  }
  DWORD written = 0;
  EXPECT_TRUE(WriteFile(pipe.server, "late", 4, &written, nullptr) == 0);
  const std::byte* buffers = memory->arena(1)->data();
  int touched = 0;
  for (std::size_t at = 0; at < 128 * PollerDriver::kBytesPerSlot; at++) {
    touched += buffers[at] != std::byte{0} ? 1 : 0;
  }
  EXPECT_EQ(touched, 0);
}
