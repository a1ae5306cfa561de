// Epoll backend: routing, readiness, cancellation, parking and teardown. See epoll.h; the reasons
// behind the numbers stand in DECISIONS.md of this folder.
#include "backend/epoll.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "backend/posix_call.h"
#include "backend/posix_ops.h"
#include "base/check.h"
#include "base/clock.h"

namespace nephrite {

namespace {

constexpr std::uint64_t kInboxTag = ~std::uint64_t{0};
constexpr int kEventCount = 128;  // per epoll_wait; what is left is reported by the next one
// Ready but empty again (another reader was faster): so many waits before a pool thread decides.
constexpr std::uint8_t kReadyCountMax = 200;
// Teardown waits so long for calls that run in PoolLane::kFiles.
constexpr std::uint64_t kCloseNsMax = 2'000'000'000;
constexpr std::int64_t kCloseSliceNs = 20'000'000;

Direction direction_of(const Operation& operation) {
  return operation.opcode() == abi::Opcode::kWrite ? Direction::kOut : Direction::kIn;
}

}  // namespace

EpollBackend::EpollBackend(std::shared_ptr<PollerMemory> memory) {
  client_ = std::make_shared<PoolClient>();
  client_->memory = std::move(memory);
  client_->inbox = std::make_shared<Inbox>();
}

OpenResult EpollBackend::open(const BackendOptions& options, CompletionSink& sink) {
  sink_ = &sink;
  const int error = client_->inbox->open();
  if (error < 0) return {-error, "eventfd"};
  UniqueFd epoll_fd(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_fd.valid()) return {errno, "epoll_create1"};
  // Edge-triggered: a wake is consumed by the epoll_wait that reports it, without a read. The
  // counter only grows, far below its limit of 2^64.
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  event.data.u64 = kInboxTag;
  if (::epoll_ctl(epoll_fd.get(), EPOLL_CTL_ADD, client_->inbox->event_fd(), &event) < 0) {
    return {errno, "epoll_ctl"};
  }
  epoll_event none{};
  if (::epoll_wait(epoll_fd.get(), &none, 1, 0) < 0) return {errno, "epoll_wait"};
  waits_.open(options.slot_capacity);
  epoll_fd_ = std::move(epoll_fd);
  is_open_ = true;
  return {};
}

// --- starting ---------------------------------------------------------------------------------

void EpollBackend::start(Operation& operation) {
  operation.stage = kStarted;
  switch (operation.opcode()) {
    case abi::Opcode::kNop:
      finish(operation, 0);
      return;
    case abi::Opcode::kRead:
    case abi::Opcode::kWrite:
      start_transfer(operation);
      return;
    default:
      break;
  }
  switch (try_without_blocking(operation, &counters_.syscall_count)) {
    case InlineOutcome::kDone:
      counters_.inline_count++;
      finish(operation, operation.result);
      return;
    case InlineOutcome::kMayWait:
      send_to_pool(operation, PoolLane::kMayWait);
      return;
    case InlineOutcome::kUnknown:
    case InlineOutcome::kWillNotWait:
      send_to_pool(operation, PoolLane::kFiles);
      return;
  }
}

// The last touch of an operation: its record may be in use again when this returns.
void EpollBackend::finish(Operation& operation, std::int32_t result) {
  sink_->complete(operation, result, operation.result_flags);
}

void EpollBackend::start_transfer(Operation& operation) {
  const Direction direction = direction_of(operation);
  // Behind those that wait already, or it would take their bytes.
  const WaitTable::Watch* watch = waits_.find(operation.entry.fd);
  if (watch != nullptr && watch->has(direction)) {
    waits_.add(operation, direction);
    operation.stage = direction == Direction::kIn ? kWaitingIn : kWaitingOut;
    return;
  }
  // Cached pages are copied right here; the poller bounds the bytes of one enter().
  if (direction == Direction::kIn &&
      try_without_blocking(operation, &counters_.syscall_count) == InlineOutcome::kDone) {
    counters_.inline_count++;
    finish(operation, operation.result);
    return;
  }
  route_by_kind(operation);
}

// Only what can be waited for gets a watch; the rest blocks in a pool thread.
void EpollBackend::route_by_kind(Operation& operation) {
  const std::int32_t fd = operation.entry.fd;
  if (fd < 0) return finish(operation, -EBADF);
  abi::StatRecord record{};
  counters_.syscall_count++;
  const std::int32_t error = posix::look_at(fd, posix::kTypeMask, &record);
  if (error < 0) return finish(operation, error);
  switch (posix::kind_of(record)) {
    case posix::kKindRegular:
    case posix::kKindDirectory:
    case posix::kKindBlock:
    case posix::kKindLink:
      return send_to_pool(operation, PoolLane::kFiles);
    default:
      break;
  }
  // Nothing to wait for, or an error to be had: of those only a terminal may block.
  if (operation.entry.buffer_bytes == 0 || operation.entry.offset != abi::kOffsetPosition) {
    return send_to_pool(operation, PoolLane::kMayWait);
  }
  // A read has just been tried.
  std::int32_t result = 0;
  if (operation.opcode() == abi::Opcode::kWrite &&
      transfer(operation, &result) == Transfer::kDone) {
    counters_.inline_count++;
    return finish(operation, result);
  }
  wait_ready(operation);
}

// One attempt that cannot block. kMayBlock: the descriptor is a blocking one and its driver knows
// no RWF_NOWAIT (terminals, pipes before 6.4), so only a pool thread may try, once it is ready.
EpollBackend::Transfer EpollBackend::transfer(Operation& operation, std::int32_t* result) {
  const abi::SubmissionEntry& entry = operation.entry;
  const bool is_write = operation.opcode() == abi::Opcode::kWrite;
  iovec buffer{operation.buffer, entry.buffer_bytes};
  counters_.syscall_count++;
  std::int32_t outcome = posix::retry_interrupted([&] {
    return is_write ? ::pwritev2(entry.fd, &buffer, 1, entry.offset, RWF_NOWAIT)
                    : ::preadv2(entry.fd, &buffer, 1, entry.offset, RWF_NOWAIT);
  });
  if (outcome == -EOPNOTSUPP || outcome == -ENOSYS || outcome == -EPERM) {
    counters_.syscall_count++;
    const int flags = ::fcntl(entry.fd, F_GETFL);
    if (flags >= 0 && (flags & O_NONBLOCK) == 0) {
      // A writable pipe takes so much without waiting; with more the thread would sit in write(2)
      // until somebody reads, and neither a cancel nor a close could end it.
      if (is_write)
        operation.entry.buffer_bytes = std::min<std::uint32_t>(entry.buffer_bytes, PIPE_BUF);
      return Transfer::kMayBlock;
    }
    counters_.syscall_count++;
    outcome = run_blocking(operation);
  }
  if (outcome == -EAGAIN) return Transfer::kNotReady;
  *result = outcome;
  return Transfer::kDone;
}

// --- readiness --------------------------------------------------------------------------------

void EpollBackend::wait_ready(Operation& operation) {
  const Direction direction = direction_of(operation);
  const std::int32_t fd = operation.entry.fd;
  waits_.add(operation, direction);
  operation.stage = direction == Direction::kIn ? kWaitingIn : kWaitingOut;
  arm_or_give_up(fd);
}

void EpollBackend::stop_waiting(Operation& operation) {
  waits_.remove(operation, direction_of(operation));
  operation.stage = kStarted;
}

// One-shot: a descriptor that nobody waits on any more cannot wake the loop again and again. The
// registration stays, disarmed, until the descriptor is closed.
bool EpollBackend::arm(WaitTable::Watch& watch, std::int32_t* error) {
  epoll_event event{};
  event.events = EPOLLONESHOT;
  if (watch.has(Direction::kIn)) event.events |= EPOLLIN | EPOLLRDHUP;
  if (watch.has(Direction::kOut)) event.events |= EPOLLOUT;
  event.data.u64 =
      static_cast<std::uint64_t>(watch.generation) << 32 | static_cast<std::uint32_t>(watch.fd);
  int action = watch.is_registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  for (int attempt = 0; attempt < 3; attempt++) {
    counters_.syscall_count++;
    if (::epoll_ctl(epoll_fd_.get(), action, watch.fd, &event) == 0) {
      watch.is_registered = true;
      return true;
    }
    *error = -errno;
    // Registered by an earlier watch; or closed and opened anew by somebody else meanwhile.
    if (errno == EEXIST) {
      action = EPOLL_CTL_MOD;
    } else if (errno == ENOENT) {
      action = EPOLL_CTL_ADD;
    } else {
      break;
    }
  }
  return false;
}

// Arms the watch of `fd`; where that is impossible nobody may stay in it.
void EpollBackend::arm_or_give_up(std::int32_t fd) {
  WaitTable::Watch* watch = waits_.find(fd);
  std::int32_t error = 0;
  if (watch == nullptr || arm(*watch, &error)) return;
  while ((watch = waits_.find(fd)) != nullptr) {
    Operation& operation = watch->has(Direction::kIn) ? *watch->head[0] : *watch->head[1];
    stop_waiting(operation);
    if (error == -EBADF) {
      finish(operation, error);
    } else {
      // EPERM: a device without poll, ready at any time. ENOSPC, ENOMEM: epoll's own limits.
      send_to_pool(operation, PoolLane::kMayWait);
    }
  }
}

// `fd` was reported ready: goes through those that wait, in order, until it is not any more.
void EpollBackend::serve(std::int32_t fd, Direction direction) {
  for (;;) {
    // Looked up anew: a completion may have ended the watch.
    WaitTable::Watch* watch = waits_.find(fd);
    if (watch == nullptr || !watch->has(direction)) return;
    Operation& operation = *watch->head[static_cast<int>(direction)];
    std::int32_t result = 0;
    switch (transfer(operation, &result)) {
      case Transfer::kDone:
        stop_waiting(operation);
        finish(operation, result);
        continue;
      case Transfer::kMayBlock:
        stop_waiting(operation);
        send_to_pool(operation, PoolLane::kMayWait);
        continue;
      case Transfer::kNotReady:
        if (++operation.retry_count < kReadyCountMax) return;
        stop_waiting(operation);
        send_to_pool(operation, PoolLane::kMayWait);
        return;
    }
  }
}

void EpollBackend::poll_ready(std::int64_t timeout_ns) {
  if (timeout_ns > 0) {
    pollfd ready{epoll_fd_.get(), POLLIN, 0};
    const timespec limit{timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
    counters_.syscall_count++;
    ::ppoll(&ready, 1, &limit, nullptr);  // whatever ends it, epoll_wait says what there is
  }
  epoll_event events[kEventCount];
  counters_.syscall_count++;
  const int count = ::epoll_wait(epoll_fd_.get(), events, kEventCount, 0);
  must_poll_ = count == kEventCount;
  for (int index = 0; index < count; index++) {
    const epoll_event& event = events[index];
    if (event.data.u64 == kInboxTag) continue;
    const auto fd = static_cast<std::int32_t>(event.data.u64 & 0xffffffff);
    const WaitTable::Watch* watch = waits_.find(fd);
    if (watch == nullptr || watch->generation != event.data.u64 >> 32) continue;
    const bool is_broken = (event.events & (EPOLLERR | EPOLLHUP)) != 0;
    if (is_broken || (event.events & (EPOLLIN | EPOLLRDHUP)) != 0) serve(fd, Direction::kIn);
    if (is_broken || (event.events & EPOLLOUT) != 0) serve(fd, Direction::kOut);
    arm_or_give_up(fd);
  }
}

// --- pools ------------------------------------------------------------------------------------

void EpollBackend::send_to_pool(Operation& operation, PoolLane lane) {
  counters_.pooled_count++;
  operation.next = operation.previous = nullptr;
  if (lane == PoolLane::kMayWait) {
    operation.stage = kPooled;
    pooled_count_++;
    BlockingPool::shared().submit(lane, &operation, client_);
    return;
  }
  operation.stage = kBatched;
  operation.previous = batch_tail_;
  (batch_tail_ != nullptr ? batch_tail_->next : batch_head_) = &operation;
  batch_tail_ = &operation;
}

void EpollBackend::flush_batch() {
  if (batch_head_ == nullptr) return;
  for (Operation* item = batch_head_; item != nullptr; item = item->next) {
    item->stage = kPooled;
    pooled_count_++;
  }
  Operation* const batch = batch_head_;
  batch_head_ = batch_tail_ = nullptr;
  BlockingPool::shared().submit_batch(PoolLane::kFiles, batch, client_);
}

void EpollBackend::collect_inbox() {
  for (Operation* operation = client_->inbox->drain(); operation != nullptr;) {
    Operation* const next = operation->next;
    CHECK_LT(0u, pooled_count_);
    pooled_count_--;
    finish(*operation, operation->result);
    operation = next;
  }
}

// --- the hot call -----------------------------------------------------------------------------

void EpollBackend::enter(std::int64_t timeout_ns) {
  flush_batch();
  const bool is_waiting = timeout_ns > 0 && client_->inbox->park();
  if (is_waiting || must_poll_ || waits_.count() > 0) poll_ready(is_waiting ? timeout_ns : 0);
  if (is_waiting) client_->inbox->unpark();
  collect_inbox();
  flush_batch();  // closes that waited for one of the completions above
}

bool EpollBackend::park() {
  flush_batch();
  return client_->inbox->park();
}

std::int32_t EpollBackend::cancel(Operation& operation) {
  switch (operation.stage) {
    case kBatched:
      (operation.previous != nullptr ? operation.previous->next : batch_head_) = operation.next;
      (operation.next != nullptr ? operation.next->previous : batch_tail_) = operation.previous;
      operation.next = operation.previous = nullptr;
      break;
    case kPooled:
      if (!BlockingPool::shared().cancel(&operation)) return -EALREADY;
      pooled_count_--;
      break;
    case kWaitingIn:
    case kWaitingOut:
      stop_waiting(operation);
      break;
    default:
      return -EALREADY;
  }
  operation.is_classified = false;
  finish(operation, -ECANCELED);
  return 0;
}

// --- teardown ---------------------------------------------------------------------------------

void EpollBackend::cancel_everything() {
  while (batch_head_ != nullptr) cancel(*batch_head_);
  while (Operation* waiting = waits_.any()) cancel(*waiting);
  for (Operation* item = BlockingPool::shared().cancel_all(*client_); item != nullptr;) {
    Operation* const next = item->next;
    pooled_count_--;
    finish(*item, -ECANCELED);
    item = next;
  }
}

// Waits for the calls that end by themselves: our caller closes the descriptors next, and a pool
// thread that has not yet made its call would make it on a number that is somebody else's by then.
// What may wait for another process is left behind: the pool keeps its memory and closes what it
// still opens.
std::uint32_t EpollBackend::close() {
  if (!is_open_) return 0;
  is_open_ = false;
  cancel_everything();
  const std::uint64_t deadline_ns = monotonic_now_ns() + kCloseNsMax;
  const BlockingPool& pool = BlockingPool::shared();
  while (pooled_count_ > pool.running_count(*client_, PoolLane::kMayWait) &&
         monotonic_now_ns() < deadline_ns) {
    enter(kCloseSliceNs);
    cancel_everything();  // an open that was being looked at may have moved to a queue
  }
  client_->inbox->close();
  collect_inbox();
  epoll_fd_.reset();
  return 0;
}

Capabilities EpollBackend::capabilities() const {
  return {.name = "epoll"};
}

}  // namespace nephrite
