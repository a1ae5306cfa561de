// Poller: the mirror of the worker's loop: consume submissions, start them, collect, publish.
// See poller.h for ownership; lib/ring holds the other half of each ring.
#include "poller/poller.h"

#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/check.h"
#include "base/unique_fd.h"

namespace nephrite {

namespace {

// One enter() starts at most this much, so that timers and sockets of the thread get their turn:
// copying 1 MiB from the page cache takes 50 to 150 us here.
constexpr std::uint64_t kEnterBytesMax = 2 * 1024 * 1024;
// Descriptors above this are not counted (RLIMIT_NOFILE is rarely higher); their close does not
// wait for what is pending.
constexpr std::int32_t kCountedFdMax = 1 << 20;

bool has_path(const abi::SubmissionEntry& entry) {
  return (entry.flags & abi::kEntryHasPath) != 0;
}

// Open files that an operation uses, whose close it holds up; -1: none, or one that is not counted.
struct UsedDescriptors {
  std::int32_t fds[2] = {-1, -1};
  bool has(std::int32_t fd) const { return fd >= 0 && (fds[0] == fd || fds[1] == fd); }
};

UsedDescriptors used_descriptors(const abi::SubmissionEntry& entry) {
  const auto counted = [](std::int32_t fd) { return fd >= 0 && fd < kCountedFdMax ? fd : -1; };
  switch (static_cast<abi::Opcode>(entry.opcode)) {
    case abi::Opcode::kNop:
    case abi::Opcode::kClose:
    case abi::Opcode::kCancel:
      return {};
    case abi::Opcode::kCopyRange:
    case abi::Opcode::kClone:
      return {{counted(entry.fd), counted(static_cast<std::int32_t>(entry.argument0))}};
    default:
      return {{has_path(entry) ? -1 : counted(entry.fd), -1}};
  }
}

// Memory that the kernel may still write after its poller's bounded close: never freed. Reached
// only by operations that cannot be cancelled (NFS, FUSE), see DESIGN 4 "Lifetime".
void keep_for_ever(std::shared_ptr<PollerMemory> memory) {
  static auto* kept = new std::vector<std::shared_ptr<PollerMemory>>();
  static auto* mutex = new std::mutex();
  const std::lock_guard<std::mutex> lock(*mutex);
  kept->push_back(std::move(memory));
}

}  // namespace

Poller::Poller(std::shared_ptr<PollerMemory> memory, std::unique_ptr<Backend> backend,
               double* clock_cell)
    : memory_(std::move(memory)),
      backend_(std::move(backend)),
      clock_cell_(clock_cell),
      submissions_(&memory_->header(), memory_->submission_entries(),
                   memory_->submission_capacity()),
      completions_(&memory_->header(), memory_->completion_entries(), memory_->slot_capacity()) {}

Poller::~Poller() {
  close();
}

OpenResult Poller::open(const BackendOptions& options) {
  CHECK_EQ(options.slot_capacity, memory_->slot_capacity());
  return backend_->open(options, *this);
}

std::uint32_t Poller::enter(std::uint32_t flags, std::int64_t timeout_ns) {
  CHECK(!is_closed_);
  const std::uint32_t tail_before = completions_.tail();
  enter_count_++;
  status_ = 0;
  unpark();
  if ((flags & abi::kEnterSubmit) != 0) consume_submissions();
  backend_->enter(timeout_ns);
  if (clock_cell_ != nullptr) MasterClock(clock_cell_).advance(monotonic_now_ns());
  update_header();
  return completions_.tail() - tail_before;
}

void Poller::consume_submissions() {
  if (submissions_.is_corrupt()) {
    status_ |= abi::kStatusCorrupt;
    return;
  }
  std::uint64_t bytes = 0;
  for (std::uint32_t left = submissions_.available_count(); left > 0; left--) {
    // Each entry taken owes one completion, which must find room beside those not yet read.
    const std::uint64_t owed = std::uint64_t{completions_.unread_count()} + in_flight_count_;
    if (bytes >= kEnterBytesMax || owed >= memory_->slot_capacity()) {
      status_ |= abi::kStatusMore;
      break;
    }
    const abi::SubmissionEntry entry = submissions_.take();
    submission_count_++;
    bytes += entry.buffer_bytes;
    take(entry);
  }
  submissions_.publish_head();
}

// Checks one entry and starts it, or answers it with an error completion.
void Poller::take(const abi::SubmissionEntry& entry) {
  if (entry.opcode >= static_cast<std::uint8_t>(abi::Opcode::kCount) ||
      entry.slot >= memory_->slot_capacity() ||
      memory_->operation(entry.slot).state != Operation::State::kFree) {
    rejected_count_++;
    publish(entry.slot, entry.generation, -EINVAL, 0);
    return;
  }
  Operation& operation = memory_->operation(entry.slot);
  operation.entry = entry;
  const std::int32_t error = bind(operation);
  if (error < 0) {
    rejected_count_++;
    publish(entry.slot, entry.generation, error, 0);
    return;
  }
  operation.state = Operation::State::kInFlight;
  operation.is_cancelled = false;
  operation.stage = 0;
  operation.retry_count = 0;
  operation.result_flags = 0;
  operation.next = operation.previous = nullptr;
  if (operation.buffer_arena != nullptr) memory_->hold(*operation.buffer_arena);
  if (operation.path_arena != nullptr) memory_->hold(*operation.path_arena);
  in_flight_count_++;
  for (const std::int32_t used : used_descriptors(entry).fds) {
    if (used < 0) continue;
    const auto fd = static_cast<std::size_t>(used);
    if (fd >= pending_per_fd_.size()) pending_per_fd_.resize(fd + 64);
    pending_per_fd_[fd]++;
  }
  start(operation);
}

// Resolves arena ids and offsets to pointers that JavaScript cannot free. 0 or a negative errno.
std::int32_t Poller::bind(Operation& operation) {
  const abi::SubmissionEntry& entry = operation.entry;
  operation.buffer = nullptr;
  operation.path = operation.path2 = nullptr;
  operation.buffer_arena = operation.path_arena = nullptr;
  std::byte* scratch = memory_->scratch();
  operation.stat =
      reinterpret_cast<abi::StatRecord*>(scratch + std::size_t{entry.slot} * abi::kScratchBytes);

  if ((entry.flags & abi::kEntryHasBuffer) != 0) {
    std::byte* base = scratch;
    std::size_t limit = memory_->scratch_bytes();
    if (entry.arena != 0) {
      operation.buffer_arena = memory_->find(entry.arena);
      if (operation.buffer_arena == nullptr) return -EFAULT;
      base = operation.buffer_arena->data();
      limit = operation.buffer_arena->bytes();
    }
    if (std::uint64_t{entry.buffer_offset} + entry.buffer_bytes > limit) return -EFAULT;
    operation.buffer = base + entry.buffer_offset;
  }
  if (has_path(entry)) {
    std::byte* base = scratch;
    std::size_t limit = memory_->scratch_bytes();
    if (entry.path_arena != 0) {
      operation.path_arena = memory_->find(entry.path_arena);
      if (operation.path_arena == nullptr) return -EFAULT;
      base = operation.path_arena->data();
      limit = operation.path_arena->bytes();
    }
    const std::uint64_t end =
        std::uint64_t{entry.path_offset} + entry.path_bytes + 1 + entry.path2_bytes + 1;
    if (end > limit) return -EFAULT;
    if (entry.path_bytes >= abi::kPathBytesMax || entry.path2_bytes >= abi::kPathBytesMax) {
      return -ENAMETOOLONG;
    }
    const char* path = reinterpret_cast<const char*>(base + entry.path_offset);
    const char* path2 = path + entry.path_bytes + 1;
    // Exactly one NUL, at the end: a NUL inside would name another file (CVE class A11).
    if (std::memchr(path, 0, entry.path_bytes + 1u) != path + entry.path_bytes) return -EINVAL;
    if (std::memchr(path2, 0, entry.path2_bytes + 1u) != path2 + entry.path2_bytes) return -EINVAL;
    operation.path = path;
    operation.path2 = path2;
  }
  return check_shape(operation);
}

// Each opcode needs certain parts; an entry without them would reach a null pointer.
std::int32_t Poller::check_shape(const Operation& operation) {
  const bool path = operation.path != nullptr;
  const bool buffer = operation.buffer != nullptr;
  switch (operation.opcode()) {
    case abi::Opcode::kRead:
    case abi::Opcode::kWrite:
    case abi::Opcode::kReaddir:
      return buffer ? 0 : -EINVAL;
    case abi::Opcode::kOpen:
    case abi::Opcode::kRename:
    case abi::Opcode::kUnlink:
    case abi::Opcode::kMkdir:
    case abi::Opcode::kLink:
    case abi::Opcode::kSymlink:
    case abi::Opcode::kAccess:
      return path ? 0 : -EINVAL;
    case abi::Opcode::kReadlink:
    case abi::Opcode::kRealpath:
    case abi::Opcode::kReadFile:
      return path && buffer ? 0 : -EINVAL;
    default:
      return 0;
  }
}

void Poller::start(Operation& operation) {
  switch (operation.opcode()) {
    case abi::Opcode::kNop:
      complete(operation, 0, 0);
      return;
    case abi::Opcode::kCancel:
      complete(operation, cancel(operation.entry.value0), 0);
      return;
    case abi::Opcode::kClose:
      start_close(operation);
      return;
    default:
      backend_->start(operation);
  }
}

// close(2) does not cancel what is pending on the descriptor: a stale receive would swallow the
// next owner's bytes. So it waits until nothing is; argument0 says whether to cancel first.
void Poller::start_close(Operation& operation) {
  const std::int32_t fd = operation.entry.fd;
  const bool is_counted = fd >= 0 && static_cast<std::size_t>(fd) < pending_per_fd_.size();
  if (!is_counted || pending_per_fd_[static_cast<std::size_t>(fd)] == 0) {
    // Given up before the system call: after close(2) the number may be somebody else's.
    open_fds_.erase(fd);
    backend_->start(operation);
    return;
  }
  // A second close must not outlast the first: it would close the number's next owner.
  bool is_second = false;
  for (const Operation* other = waiting_closes_; other != nullptr; other = other->next) {
    is_second = is_second || other->entry.fd == fd;
  }
  const bool is_cancelling = operation.entry.argument0 == 1;
  if (is_second) {
    complete(operation, -EBADF, 0);
  } else {
    operation.next = waiting_closes_;
    waiting_closes_ = &operation;
    open_fds_.insert(fd);  // should the poller end first, it closes it
  }
  if (is_cancelling) cancel_pending(fd);
}

void Poller::cancel_pending(std::int32_t fd) {
  for (std::uint32_t slot = 0; slot < memory_->slot_capacity(); slot++) {
    Operation& target = memory_->operation(slot);
    if (target.state == Operation::State::kInFlight && !target.is_cancelled &&
        used_descriptors(target.entry).has(fd)) {
      target.is_cancelled = true;
      backend_->cancel(target);
    }
  }
}

std::int32_t Poller::cancel(std::uint64_t user_data) {
  const auto slot = static_cast<std::uint32_t>(user_data);
  const auto generation = static_cast<std::uint32_t>(user_data >> 32);
  if (slot >= memory_->slot_capacity()) return -ENOENT;
  Operation& target = memory_->operation(slot);
  if (target.state != Operation::State::kInFlight || target.entry.generation != generation ||
      target.opcode() == abi::Opcode::kCancel) {
    return -ENOENT;
  }
  // A close that never happens is a descriptor lost.
  if (target.opcode() == abi::Opcode::kClose) return -EALREADY;
  if (target.is_cancelled) return -EALREADY;
  target.is_cancelled = true;
  return backend_->cancel(target);
}

void Poller::complete(Operation& operation, std::int32_t result, std::uint32_t flags) {
  CHECK(operation.state == Operation::State::kInFlight);
  operation.state = Operation::State::kFree;
  CHECK_LT(0u, in_flight_count_);
  in_flight_count_--;
  if (operation.buffer_arena != nullptr) memory_->unhold(*operation.buffer_arena);
  if (operation.path_arena != nullptr) memory_->unhold(*operation.path_arena);
  if (operation.opcode() == abi::Opcode::kOpen && result >= 0) open_fds_.insert(result);
  // Taken back at teardown before the system call: the descriptor is ours to close again.
  if (operation.opcode() == abi::Opcode::kClose && result == -ECANCELED) {
    open_fds_.insert(operation.entry.fd);
  }
  publish(operation.entry.slot, operation.entry.generation, result, flags);
  if (is_closed_) return;
  for (const std::int32_t used : used_descriptors(operation.entry).fds) {
    if (used < 0) continue;
    const auto fd = static_cast<std::size_t>(used);
    CHECK_LT(0, pending_per_fd_[fd]);
    if (--pending_per_fd_[fd] == 0 && waiting_closes_ != nullptr) start_waiting_close(used);
  }
}

// The last operation on `fd` has completed: its close, if one waits, may go.
void Poller::start_waiting_close(std::int32_t fd) {
  for (Operation** link = &waiting_closes_; *link != nullptr; link = &(*link)->next) {
    Operation* waiting = *link;
    if (waiting->entry.fd != fd) continue;
    *link = waiting->next;
    waiting->next = nullptr;
    open_fds_.erase(fd);
    backend_->start(*waiting);
    return;
  }
}

void Poller::publish(std::uint32_t slot, std::uint32_t generation, std::int32_t result,
                     std::uint32_t flags) {
  completions_.push({slot, generation, result, flags});
  completion_count_++;
}

void Poller::update_header() {
  abi::Header& header = memory_->header();
  const BackendCounters& counters = backend_->counters();
  completions_.publish_tail();
  header.status = status_;
  header.in_flight = in_flight_count_;
  header.enter_count = static_cast<double>(enter_count_);
  header.syscall_count = static_cast<double>(counters.syscall_count);
  header.submission_count = static_cast<double>(submission_count_);
  header.completion_count = static_cast<double>(completion_count_);
  header.rejected_count = static_cast<double>(rejected_count_);
  header.inline_count = static_cast<double>(counters.inline_count);
  header.pooled_count = static_cast<double>(counters.pooled_count);
  header.park_count = static_cast<double>(park_count_);
}

bool Poller::park() {
  CHECK(!is_closed_);
  if (is_parked_) return true;
  park_count_++;
  is_parked_ = backend_->park();
  update_header();
  return is_parked_;
}

void Poller::acknowledge() {
  backend_->acknowledge();
  unpark();
}

void Poller::unpark() {
  if (is_parked_) backend_->unpark();
  is_parked_ = false;
}

void Poller::close() {
  if (is_closed_) return;
  is_closed_ = true;
  unpark();
  const std::uint32_t still_owned = backend_->close();
  if (still_owned > 0) keep_for_ever(memory_);
  for (const int fd : open_fds_) UniqueFd{fd};
  open_fds_.clear();
}

}  // namespace nephrite
