// Fuzz of the ring reader: garbage entries, cursors and headers into a real Poller, on every
// backend that this machine has. Nothing may crash, every accepted entry gives one completion, and
// a bad one touches nothing. The seed is printed; NEPHRITE_SEED=n replays it, NEPHRITE_ROUNDS=n
// goes on longer. Method: most entries are random bytes with a few fields made plausible, so that
// they get past the first check; the process sits in an empty folder, and descriptors are either
// the fuzzer's own, closed ones or nonsense, because a random close(2) of a stranger's descriptor
// would be the fuzzer's crash.
#include <sys/stat.h>

#include <csignal>

#include "base/unique_fd.h"
#include "harness.h"
#include "poller_driver.h"
#include "temp_dir.h"

using nephrite::UniqueFd;
using nephrite::abi::CompletionEntry;
using nephrite::abi::Header;
using nephrite::abi::Opcode;
using nephrite::abi::SubmissionEntry;
using test::TempDir;

namespace {

constexpr std::uint32_t kSlotCount = 64;
constexpr std::size_t kArenaBytes = 1 << 20;

std::uint64_t round_count() {
  const char* text = std::getenv("NEPHRITE_ROUNDS");
  return text != nullptr ? std::strtoull(text, nullptr, 0) : 1500;
}

class Fuzzer {
 public:
  Fuzzer(std::string_view backend_name, std::uint64_t seed) : random_(seed) {
    auto memory = nephrite::PollerMemory::allocate(kSlotCount, kSlotCount);
    auto backend = nephrite::make_backend(backend_name, memory);
    CHECK(backend != nullptr);
    arena_id_ = memory->add_arena(kArenaBytes);
    CHECK(arena_id_ > 0);
    const auto released = memory->add_arena(4096);
    memory->release_arena(static_cast<std::uint32_t>(released));
    poller_ = std::make_unique<nephrite::Poller>(memory, std::move(backend), &clock_cell_);
    nephrite::BackendOptions options;
    options.slot_capacity = kSlotCount;
    opened = poller_->open(options);
    int ends[2];
    CHECK_EQ(::pipe2(ends, O_CLOEXEC), 0);
    pipe_in_.reset(ends[0]);
    pipe_out_.reset(ends[1]);
    file_.reset(::open("file", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    folder_.reset(::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    parent_.reset(::open("..", O_PATH | O_DIRECTORY | O_CLOEXEC));
    CHECK(file_.valid() && folder_.valid() && parent_.valid());
  }

  void run(std::uint64_t rounds) {
    for (std::uint64_t round = 0; round < rounds; round++) {
      const std::uint64_t count = random_.below(kSlotCount / 2);
      for (std::uint64_t index = 0; index < count; index++) put(make_entry());
      // Else the slots fill up with reads that nobody answers, and all that follows is refused.
      for (int index = 0; index < 8; index++) {
        put_cancel(static_cast<std::uint32_t>(random_.below(kSlotCount)));
      }
      if (random_.below(16) == 0) scramble_header();
      enter();
      if (random_.below(4) == 0 && poller_->park()) poller_->acknowledge();
      consume();
      feed_pipe();
      // A chmod may have locked us out of the folder, a truncate may have made the file huge.
      CHECK_EQ(::fchmod(folder_.get(), 0700), 0);
      (void)!::ftruncate(file_.get(), 4096);
      max_in_flight = std::max(max_in_flight, poller_->in_flight_count());
    }
    settle();
  }

  // Everything in flight ends: no read of a pipe and no open of a FIFO waits for ever.
  void settle() {
    pipe_out_.reset();
    // Lets go of opens that wait for the other end; by a name that no entry can move or remove.
    CHECK_EQ(::fchmodat(parent_.get(), "keep", 0600, 0), 0);
    const UniqueFd both_ends(::openat(parent_.get(), "keep", O_RDWR | O_CLOEXEC));
    CHECK(both_ends.valid());
    const std::uint64_t deadline_ns = nephrite::monotonic_now_ns() + 30'000'000'000;
    while (poller_->in_flight_count() > 0 && nephrite::monotonic_now_ns() < deadline_ns) {
      poller_->enter(nephrite::abi::kEnterSubmit | nephrite::abi::kEnterCollect, 10'000'000);
      consume();
      for (std::uint32_t slot = 0; slot < kSlotCount; slot++) put_cancel(slot);
    }
    left_in_flight = poller_->in_flight_count();
    CHECK_EQ(::fchmod(folder_.get(), 0700), 0);
  }

  nephrite::OpenResult opened;
  std::uint32_t max_in_flight = 0;
  std::uint32_t left_in_flight = 0;
  std::uint64_t completion_count = 0;
  std::uint64_t success_count = 0;
  std::uint64_t malformed_count = 0;

 private:
  void put(const SubmissionEntry& entry) {
    Header& header = poller_->memory().header();
    if (header.submission_tail - header.submission_head >= kSlotCount) return;
    auto* entries = const_cast<SubmissionEntry*>(poller_->memory().submission_entries());
    entries[header.submission_tail & (kSlotCount - 1)] = entry;
    header.submission_tail++;
  }

  // Now and then with a tail that may even be in range: then what lies there is taken, too.
  void enter() {
    Header& header = poller_->memory().header();
    const std::uint32_t good_tail = header.submission_tail;
    if (random_.below(32) == 0) header.submission_tail += any_bound(kSlotCount * 2);
    const auto flags = static_cast<std::uint32_t>(random_.below(4));
    bool is_more = true;  // entries that claim huge buffers use up the budget of an enter
    for (int count = 0; count < 64 && is_more; count++) {
      poller_->enter(flags, 0);
      consume();
      is_more = (header.status & nephrite::abi::kStatusMore) != 0;
    }
    const bool is_taken = header.submission_head == header.submission_tail;
    if (!is_taken && !is_more) header.submission_tail = good_tail;
  }

  // Cancels what is in flight in a slot, through a slot that is free.
  void put_cancel(std::uint32_t slot) {
    const nephrite::Operation& target = poller_->memory().operation(slot);
    if (target.state != nephrite::Operation::State::kInFlight) return;
    SubmissionEntry entry{};
    entry.opcode = static_cast<std::uint8_t>(Opcode::kCancel);
    entry.value0 = target.user_data();
    while (poller_->memory().operation(entry.slot).state != nephrite::Operation::State::kFree) {
      if (++entry.slot == kSlotCount) return;
    }
    put(entry);
  }

  std::int32_t any_fd() {
    switch (random_.below(8)) {
      case 0:
        return static_cast<std::int32_t>(0x40000000 | random_.below(1 << 20));
      case 1:
        return -static_cast<std::int32_t>(random_.below(1 << 16)) - 1;
      case 2:
        return std::numeric_limits<std::int32_t>::min();
      case 3:
        return folder_.get();
      case 4:
        return pipe_in_.get();
      case 5:
        return pipe_out_.get();
      default:
        return file_.get();
    }
  }

  // Near the ends of a range, where checks go wrong.
  std::uint32_t any_bound(std::uint64_t limit) {
    switch (random_.below(6)) {
      case 0:
        return 0;
      case 1:
        return static_cast<std::uint32_t>(limit);
      case 2:
        return static_cast<std::uint32_t>(limit - 1);
      case 3:
        return static_cast<std::uint32_t>(random_.next());
      case 4:
        return ~std::uint32_t{0} - static_cast<std::uint32_t>(random_.below(4));
      default:
        return static_cast<std::uint32_t>(random_.below(limit));
    }
  }

  SubmissionEntry make_entry() {
    SubmissionEntry entry{};
    std::uint64_t words[8];
    for (std::uint64_t& word : words) word = random_.next();
    std::memcpy(&entry, words, sizeof entry);
    // Descriptors are never left to chance, see the header comment.
    entry.fd = any_fd();
    entry.argument0 = random_.below(4) == 0 ? static_cast<std::uint32_t>(any_fd())
                                            : static_cast<std::uint32_t>(random_.below(8));
    if (random_.below(8) == 0) return entry;
    entry.opcode =
        static_cast<std::uint8_t>(random_.below(static_cast<std::uint64_t>(Opcode::kCount) + 1));
    entry.slot = random_.below(8) == 0 ? any_bound(kSlotCount)
                                       : static_cast<std::uint32_t>(random_.below(kSlotCount));
    entry.flags = static_cast<std::uint8_t>(random_.below(8));
    entry.arena = static_cast<std::uint16_t>(random_.below(4));
    entry.path_arena = static_cast<std::uint16_t>(random_.below(4));
    entry.buffer_offset = any_bound(kArenaBytes);
    entry.buffer_bytes = any_bound(random_.below(2) == 0 ? 4096 : kArenaBytes);
    entry.path_offset = any_bound(kSlotCount * nephrite::abi::kScratchBytes);
    if (random_.below(2) == 0) entry.offset = static_cast<std::int64_t>(random_.below(5)) - 2;
    if (random_.below(2) == 0) entry.value0 = random_.below(kSlotCount);
    if (random_.below(4) != 0) {
      entry.arena = 1;
      entry.buffer_offset = static_cast<std::uint32_t>(random_.below(kArenaBytes / 2));
      entry.buffer_bytes = static_cast<std::uint32_t>(random_.below(8192));
      entry.flags |= nephrite::abi::kEntryHasBuffer;
    }
    if (random_.below(4) != 0) write_path(entry);
    if (static_cast<Opcode>(entry.opcode) == Opcode::kClose) entry.fd = any_closable_fd();
    return entry;
  }

  // Closed by the fuzzed entry: nonsense, or a descriptor that nothing else uses.
  std::int32_t any_closable_fd() {
    return random_.below(2) == 0 ? -5 : ::dup3(file_.get(), 900, O_CLOEXEC);
  }

  // A path that exists or may be made, inside the scratch, with or without its NUL.
  void write_path(SubmissionEntry& entry) {
    static constexpr std::string_view kNames[] = {"file", "fifo", ".", "new", "link", ""};
    char* scratch = reinterpret_cast<char*>(poller_->memory().scratch());
    const std::string_view first = kNames[random_.below(std::size(kNames))];
    const std::string_view second = kNames[random_.below(std::size(kNames))];
    entry.path_arena = 0;
    entry.path_offset =
        static_cast<std::uint32_t>(random_.below(kSlotCount)) * nephrite::abi::kScratchBytes +
        nephrite::abi::kScratchPathOffset;
    char* at = scratch + entry.path_offset;
    std::memcpy(at, first.data(), first.size());
    at[first.size()] = random_.below(16) == 0 ? 'x' : '\0';
    std::memcpy(at + first.size() + 1, second.data(), second.size());
    at[first.size() + 1 + second.size()] = '\0';
    entry.path_bytes = static_cast<std::uint16_t>(first.size());
    entry.path2_bytes = static_cast<std::uint16_t>(second.size());
    if (random_.below(16) == 0) entry.path_bytes = static_cast<std::uint16_t>(random_.next());
    entry.flags |= nephrite::abi::kEntryHasPath;
  }

  // What JavaScript can write anywhere in the ring memory: the poller must not trust its own words
  // in it either. The cursors that this side needs are put back.
  void scramble_header() {
    Header& header = poller_->memory().header();
    const Header saved = header;
    auto* bytes = reinterpret_cast<unsigned char*>(&header);
    for (int count = 0; count < 16; count++) {
      bytes[random_.below(sizeof(Header))] = static_cast<unsigned char>(random_.next());
    }
    header.submission_tail = saved.submission_tail;
    header.submission_head = saved.submission_head;
    header.completion_head = saved.completion_head;
  }

  void consume() {
    Header& header = poller_->memory().header();
    // A producer that uses slots twice may overwrite its own results, and nothing else.
    if (header.completion_tail - header.completion_head > kSlotCount) {
      header.completion_head = header.completion_tail - kSlotCount;
    }
    while (header.completion_head != header.completion_tail) {
      const CompletionEntry entry =
          poller_->memory().completion_entries()[header.completion_head & (kSlotCount - 1)];
      header.completion_head++;
      completion_count++;
      success_count += entry.result >= 0 ? 1 : 0;
      if (entry.result < -4095) malformed_count++;
    }
  }

  // Data for reads that wait; a full pipe is emptied, so that writes do not wait for ever either.
  void feed_pipe() {
    char bytes[512] = {};
    ::fcntl(pipe_out_.get(), F_SETFL, O_NONBLOCK);
    ::fcntl(pipe_in_.get(), F_SETFL, O_NONBLOCK);
    if (random_.below(2) == 0) {
      (void)!::write(pipe_out_.get(), bytes, sizeof bytes);
    } else {
      while (::read(pipe_in_.get(), bytes, sizeof bytes) > 0) {
      }
    }
    ::fcntl(pipe_out_.get(), F_SETFL, 0);
    ::fcntl(pipe_in_.get(), F_SETFL, 0);
  }

  harness::Random random_;
  double clock_cell_ = 0;
  std::unique_ptr<nephrite::Poller> poller_;
  std::int32_t arena_id_ = 0;
  UniqueFd pipe_in_;
  UniqueFd pipe_out_;
  UniqueFd file_;
  UniqueFd folder_;
  UniqueFd parent_;  // out of the entries' reach
};

bool has_given_up_root() {
  constexpr uid_t kNobody = 65534;
  return ::geteuid() != 0 || (::setresgid(kNobody, kNobody, kNobody) == 0 &&
                              ::setresuid(kNobody, kNobody, kNobody) == 0);
}

void fuzz(std::string_view backend_name) {
#if defined(__SANITIZE_THREAD__)
  SKIP("the fuzzer overwrites what pool threads read: that race is the garbage it feeds");
#endif
  std::signal(SIGPIPE, SIG_IGN);  // as in Node
  if (!has_given_up_root()) SKIP("cannot give up root");
  TempDir dir;
  const UniqueFd home(::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  REQUIRE_EQ(::mkdir(dir.file("work").c_str(), 0700), 0);
  REQUIRE_EQ(::chdir(dir.file("work").c_str()), 0);
  REQUIRE_EQ(::link(dir.fifo("keep").c_str(), "fifo"), 0);
  {
    Fuzzer fuzzer(backend_name, harness::seed());
    if (fuzzer.opened.error != 0) {
      REQUIRE_EQ(::fchdir(home.get()), 0);
      SKIP("this backend does not open here");
    }
    fuzzer.run(round_count());
    EXPECT_EQ(fuzzer.malformed_count, 0u);
    EXPECT_TRUE(fuzzer.completion_count > round_count());
    EXPECT_TRUE(fuzzer.success_count > round_count() / 10);
    EXPECT_TRUE(fuzzer.max_in_flight <= kSlotCount);
    EXPECT_EQ(fuzzer.left_in_flight, 0u);
  }
  REQUIRE_EQ(::fchdir(home.get()), 0);
}

}  // namespace

TEST("fuzz: garbage entries and cursors, epoll") {
  fuzz("epoll");
}

TEST("fuzz: garbage entries and cursors, io_uring") {
  fuzz("io_uring");
}
