// Epoll backend: routing, pools, cancellation, parking and teardown. See epoll.h; readiness is
// epoll_readiness.cc, the reasons behind the numbers stand in DECISIONS.md of this folder.
#include "backend/epoll.h"

#include <fcntl.h>
#include <sys/epoll.h>

#include <cerrno>

#include "backend/posix_call.h"
#include "backend/posix_ops.h"
#include "base/check.h"
#include "base/clock.h"

namespace nephrite {

namespace {

// Teardown waits so long for calls that run in PoolLane::kFiles.
constexpr std::uint64_t kCloseNsMax = 2'000'000'000;
constexpr std::int64_t kCloseSliceNs = 20'000'000;

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
  event.data.u64 = kInboxEvent;
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
  if (watch != nullptr && (watch->has(direction) || watch->is_lent(direction))) {
    waits_.add(operation, direction);
    operation.stage = kWaiting;
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
  wait(operation);
}

// --- pools ------------------------------------------------------------------------------------

void EpollBackend::send_to_pool(Operation& operation, PoolLane lane) {
  if (lane == PoolLane::kMayWait) return submit_waiting_call(operation, kPooled);
  counters_.pooled_count++;
  operation.stage = kBatched;
  batch_.append(&operation);
}

void EpollBackend::submit_waiting_call(Operation& operation, Stage stage) {
  counters_.pooled_count++;
  pooled_count_++;
  operation.stage = stage;
  BlockingPool::shared().submit(PoolLane::kMayWait, &operation, client_);
}

void EpollBackend::flush_batch() {
  if (batch_.head == nullptr) return;
  for (Operation* item = batch_.head; item != nullptr; item = item->next) {
    item->stage = kPooled;
    pooled_count_++;
  }
  Operation* const list = batch_.head;
  batch_ = {};
  BlockingPool::shared().submit_batch(PoolLane::kFiles, list, client_);
}

void EpollBackend::collect_inbox() {
  for (Operation* operation = client_->inbox->drain(); operation != nullptr;) {
    Operation* const next = operation->next;
    CHECK_LT(0u, pooled_count_);
    pooled_count_--;
    const std::int32_t fd = operation->entry.fd;
    const bool was_lent = operation->stage == kLent;
    if (was_lent) take_back(*operation);
    finish(*operation, operation->result);
    if (was_lent) arm_or_give_up(fd);
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
  const std::int32_t fd = operation.entry.fd;
  const bool was_lent = operation.stage == kLent;
  switch (operation.stage) {
    case kBatched:
      batch_.unlink(&operation);
      break;
    case kPooled:
    case kLent:
      if (!BlockingPool::shared().cancel(&operation)) return -EALREADY;
      pooled_count_--;
      if (was_lent) take_back(operation);
      break;
    case kWaiting:
      stop_waiting(operation);
      break;
    default:
      return -EALREADY;
  }
  operation.is_classified = false;
  finish(operation, -ECANCELED);
  if (was_lent) arm_or_give_up(fd);
  return 0;
}

// --- teardown ---------------------------------------------------------------------------------

void EpollBackend::cancel_everything() {
  while (batch_.head != nullptr) cancel(*batch_.head);
  while (Operation* waiting = waits_.any()) cancel(*waiting);
  for (Operation* item = BlockingPool::shared().cancel_all(*client_); item != nullptr;) {
    Operation* const next = item->next;
    pooled_count_--;
    if (item->stage == kLent) take_back(*item);
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
  while (pool.running_count(*client_, PoolLane::kFiles) > 0 && monotonic_now_ns() < deadline_ns) {
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
