// io_uring backend: routing, collection, cancellation, parking and teardown. See io_uring.h.
#include "backend/io_uring.h"

#include <cerrno>
#include <ctime>

#include "backend/io_uring_encode.h"
#include "backend/posix_ops.h"
#include "base/check.h"
#include "base/clock.h"

namespace nephrite {

namespace {

using uring::Cqe;
using uring::Sqe;

// The cancel requests' own completions; no slot has this generation and slot.
constexpr std::uint64_t kCancelUserData = ~std::uint64_t{0} - 1;
// One GETEVENTS runs about 20 deferred completions (IO_LOCAL_TW_DEFAULT_MAX); so many rounds per
// enter bound the time the thread spends here.
constexpr int kCollectRoundsMax = 8;
// Ready but empty again (another reader was faster): so many waits before a pool thread decides.
constexpr std::uint8_t kReadyCountMax = 200;
// Teardown waits so long for what cannot be cancelled.
constexpr std::int64_t kCloseNsMax = 2'000'000'000;
constexpr std::int64_t kCloseSliceNs = 5'000'000;

}  // namespace

IoUringBackend::IoUringBackend(std::shared_ptr<PollerMemory> memory)
    : memory_(memory), client_(std::make_shared<PoolClient>()) {
  client_->memory = std::move(memory);
  client_->inbox = std::make_shared<Inbox>();
}

OpenResult IoUringBackend::open(const BackendOptions& options, CompletionSink& sink) {
  sink_ = &sink;
  is_iopoll_ = options.use_iopoll;
  const std::int32_t error = client_->inbox->open();
  if (error < 0) return {-error, "eventfd"};
  // One descriptor for both sources: the ring signals the inbox's eventfd.
  const OpenResult result = ring_.open(options, client_->inbox->event_fd());
  is_open_ = result.error == 0;
  return result;
}

// --- starting ---------------------------------------------------------------------------------

void IoUringBackend::start(Operation& operation) {
  const abi::Opcode opcode = operation.opcode();
  // Opens are classified first: eight blocked FIFO opens filled io-wq and stopped everything
  // behind them (measured). A stat whose dentry is cached costs less here than an io-wq trip.
  if (opcode == abi::Opcode::kOpen || opcode == abi::Opcode::kStat) {
    switch (try_without_blocking(operation, &counters_.syscall_count)) {
      case InlineOutcome::kDone:
        counters_.inline_count++;
        sink_->complete(operation, operation.result, operation.result_flags);
        return;
      case InlineOutcome::kMayWait:
        send_to_pool(operation, PoolLane::kMayWait);
        return;
      case InlineOutcome::kUnknown:
        // A pool thread classifies the open, and learns whether the device is a local one, which
        // is what lets the next stat or open of it be done right here.
        return send_to_pool(operation, PoolLane::kFiles);
      case InlineOutcome::kWillNotWait:
        break;
    }
  }
  start_classified(operation);
}

void IoUringBackend::start_classified(Operation& operation) {
  const uring::Op opcode = uring::opcode_for(operation);
  const bool is_transfer = opcode == uring::Op::kRead || opcode == uring::Op::kWrite;
  if (opcode == uring::Op::kNop || !ring_.has(opcode) || (is_iopoll_ && !is_transfer)) {
    send_to_pool(operation, PoolLane::kFiles);
    return;
  }
  operation.stage = kKernel;
  push_or_queue(operation);
}

void IoUringBackend::push_or_queue(Operation& operation) {
  if (backlog_head_ == nullptr && push_to_kernel(operation)) return;
  const std::uint8_t wanted = operation.stage;
  operation.storage[0] = wanted;
  operation.stage = kBacklog;
  operation.next = nullptr;
  if (backlog_tail_ != nullptr) {
    backlog_tail_->next = &operation;
  } else {
    backlog_head_ = &operation;
  }
  backlog_tail_ = &operation;
}

// False when the kernel's submission ring is full and would not empty now.
bool IoUringBackend::push_to_kernel(Operation& operation) {
  Sqe* sqe = ring_.push();
  if (sqe == nullptr) {
    ring_.enter(0);
    sqe = ring_.push();
    if (sqe == nullptr) return false;
  }
  if (operation.stage == kWaitReady) {
    uring::encode_wait_ready(operation, *sqe);
  } else {
    uring::encode(operation, *sqe);
  }
  kernel_count_++;
  return true;
}

void IoUringBackend::push_backlog() {
  while (backlog_head_ != nullptr) {
    Operation& operation = *backlog_head_;
    operation.stage = static_cast<std::uint8_t>(operation.storage[0]);
    if (!push_to_kernel(operation)) {
      operation.stage = kBacklog;
      return;
    }
    backlog_head_ = operation.next;
    if (backlog_head_ == nullptr) backlog_tail_ = nullptr;
    operation.next = nullptr;
  }
}

void IoUringBackend::send_to_pool(Operation& operation, PoolLane lane) {
  operation.stage = kPooled;
  pool_count_++;
  counters_.pooled_count++;
  if (lane == PoolLane::kMayWait) {
    BlockingPool::shared().submit(lane, &operation, client_);
    return;
  }
  operation.next = nullptr;
  if (pool_batch_tail_ != nullptr) {
    pool_batch_tail_->next = &operation;
  } else {
    pool_batch_ = &operation;
  }
  pool_batch_tail_ = &operation;
}

void IoUringBackend::flush_pool_batch() {
  if (pool_batch_ == nullptr) return;
  Operation* batch = pool_batch_;
  pool_batch_ = pool_batch_tail_ = nullptr;
  BlockingPool::shared().submit_batch(PoolLane::kFiles, batch, client_);
}

// --- the hot call -----------------------------------------------------------------------------

void IoUringBackend::enter(std::int64_t timeout_ns) {
  flush_pool_batch();
  push_backlog();
  const bool must_enter = ring_.has_unsubmitted() || ring_.needs_enter() || timeout_ns > 0 ||
                          (is_iopoll_ && kernel_count_ > 0);
  // -EBUSY and -EAGAIN mean "collect first": the entries stay pushed and go out next time.
  if (must_enter) ring_.enter(timeout_ns);
  collect();
  flush_pool_batch();
  counters_.syscall_count += std::exchange(ring_.syscall_count, 0);
}

void IoUringBackend::collect() {
  for (int round = 0; round < kCollectRoundsMax; round++) {
    collect_kernel();
    push_backlog();
    if (!ring_.has_unsubmitted() && !ring_.needs_enter()) break;
    if (ring_.enter(0) < 0) break;
  }
  collect_kernel();
  collect_inbox();
}

void IoUringBackend::collect_kernel() {
  while (const Cqe* cqe = ring_.peek()) {
    const Cqe copy = *cqe;
    ring_.pop();
    if (copy.user_data == kCancelUserData) continue;
    const auto slot = static_cast<std::uint32_t>(copy.user_data);
    CHECK_LT(slot, memory_->slot_capacity());
    Operation& operation = memory_->operation(slot);
    CHECK(operation.state == Operation::State::kInFlight);
    CHECK_EQ(operation.user_data(), copy.user_data);
    CHECK_LT(0u, kernel_count_);
    kernel_count_--;
    finish_kernel(operation, copy.res);
  }
}

void IoUringBackend::collect_inbox() {
  Operation* next = nullptr;
  for (Operation* operation = client_->inbox->drain(); operation != nullptr; operation = next) {
    next = operation->next;
    CHECK_LT(0u, pool_count_);
    pool_count_--;
    sink_->complete(*operation, operation->result, operation->result_flags);
  }
}

void IoUringBackend::finish_kernel(Operation& operation, std::int32_t result) {
  // Nobody has asked for it: io-wq could not start its first worker (no more processes allowed, or
  // signals arrive faster than the kernel can fork one) and gave up, before anything was done.
  if (result == -ECANCELED && !operation.is_cancelled && operation.stage == kKernel) {
    return send_to_pool(operation, PoolLane::kFiles);
  }
  if (operation.stage == kWaitReady && result >= 0) {
    // Ready while its cancel was on the way: that cancel has found nothing, and none follows it.
    if (operation.is_cancelled) return sink_->complete(operation, -ECANCELED, 0);
    operation.stage = kKernel;
    push_or_queue(operation);
    return;
  }
  if (operation.opcode() == abi::Opcode::kClose) {
    // The descriptor is gone whatever a flush answered (posix_ops.cc, run_close): never again.
    const bool is_done = result == -EINTR || result == -EINPROGRESS;
    return sink_->complete(operation, is_done ? 0 : result, 0);
  }
  if (result < 0 && retry(operation, result)) return;
  // A cancelled poll, a cancelled read and an interrupted io-wq call look the same to the caller.
  if (operation.is_cancelled && (result == -EINTR || result == -EAGAIN)) result = -ECANCELED;
  sink_->complete(operation, result, operation.result_flags);
}

// True when the operation went on its way again.
bool IoUringBackend::retry(Operation& operation, std::int32_t result) {
  if (operation.is_cancelled) return false;
  const abi::Opcode opcode = operation.opcode();
  const bool is_transfer = opcode == abi::Opcode::kRead || opcode == abi::Opcode::kWrite;
  if (result == -EINTR) {
    operation.stage = kKernel;
    push_or_queue(operation);
    return true;
  }
  if (result == -EAGAIN && is_transfer && !is_iopoll_ && operation.retry_count < kReadyCountMax) {
    // An O_NONBLOCK descriptor without data: the caller waits, as on every backend (A16). A ring
    // with IOPOLL refuses to poll descriptors.
    operation.retry_count++;
    operation.stage = kWaitReady;
    push_or_queue(operation);
    return true;
  }
  // Refused for want of memory or by a filesystem that io_uring cannot drive (CIFS answered
  // EOPNOTSUPP to libuv): once more, the blocking way. Its answer is final: it does not come here.
  if (result == -ENOMEM || result == -EAGAIN || result == -EOPNOTSUPP) {
    send_to_pool(operation, PoolLane::kFiles);
    return true;
  }
  return false;
}

// --- cancelling -------------------------------------------------------------------------------

bool IoUringBackend::remove_from_backlog(Operation& operation) {
  Operation* previous = nullptr;
  for (Operation* item = backlog_head_; item != nullptr; previous = item, item = item->next) {
    if (item != &operation) continue;
    (previous != nullptr ? previous->next : backlog_head_) = item->next;
    if (backlog_tail_ == item) backlog_tail_ = previous;
    return true;
  }
  return false;
}

std::int32_t IoUringBackend::cancel(Operation& operation) {
  if (operation.stage == kBacklog) {
    CHECK(remove_from_backlog(operation));
    sink_->complete(operation, -ECANCELED, 0);
    return 0;
  }
  if (operation.stage == kPooled) {
    flush_pool_batch();
    if (!BlockingPool::shared().cancel(&operation)) return -EALREADY;
    pool_count_--;
    sink_->complete(operation, -ECANCELED, 0);
    return 0;
  }
  Sqe* sqe = ring_.push();
  if (sqe == nullptr) {
    ring_.enter(0);
    sqe = ring_.push();
    if (sqe == nullptr) return -EALREADY;
  }
  sqe->opcode = static_cast<std::uint8_t>(uring::Op::kAsyncCancel);
  sqe->addr = operation.user_data();
  sqe->user_data = kCancelUserData;
  return 0;
}

// --- parking ----------------------------------------------------------------------------------

bool IoUringBackend::park() {
  if (is_iopoll_ && kernel_count_ > 0) return false;  // nothing signals IOPOLL completions
  if (!client_->inbox->park()) return false;
  // Announce, fence, look again. The enter is not optional: re-enabling the eventfd without one
  // loses the wake for good (measured), since deferred work queued meanwhile signals nobody.
  ring_.set_eventfd_enabled(true);
  full_fence();
  bool has_work = ring_.peek() != nullptr;
  if (!has_work && kernel_count_ > 0) {
    ring_.enter(0);
    // Entries that the kernel would not take now (no memory) signal nobody either.
    has_work = ring_.peek() != nullptr || ring_.needs_enter() || ring_.has_unsubmitted();
  }
  if (has_work) {
    unpark();
    return false;
  }
  counters_.syscall_count += std::exchange(ring_.syscall_count, 0);
  return true;
}

void IoUringBackend::unpark() {
  ring_.set_eventfd_enabled(false);
  client_->inbox->unpark();
}

// --- teardown ---------------------------------------------------------------------------------

void IoUringBackend::cancel_everything() {
  while (backlog_head_ != nullptr) cancel(*backlog_head_);
  flush_pool_batch();
  Operation* next = nullptr;
  for (Operation* item = BlockingPool::shared().cancel_all(*client_); item != nullptr;
       item = next) {
    next = item->next;
    pool_count_--;
    sink_->complete(*item, -ECANCELED, 0);
  }
  for (std::uint32_t slot = 0; slot < memory_->slot_capacity(); slot++) {
    Operation& operation = memory_->operation(slot);
    const bool is_kernels = operation.stage == kKernel || operation.stage == kWaitReady;
    if (operation.state != Operation::State::kInFlight || !is_kernels) continue;
    if (operation.is_cancelled) continue;
    operation.is_cancelled = true;
    cancel(operation);
  }
}

std::uint32_t IoUringBackend::close() {
  if (!is_open_) return 0;
  is_open_ = false;
  cancel_everything();
  const std::uint64_t deadline_ns = monotonic_now_ns() + kCloseNsMax;
  while (has_ending_work() && monotonic_now_ns() < deadline_ns) {
    push_backlog();
    ring_.enter(kCloseSliceNs);
    collect_kernel();
    collect_inbox();
    cancel_everything();  // an open that was being looked at may have moved to a queue
  }
  // A pool thread that waits for another process keeps the memory alive by itself and disposes of
  // its result; only what the kernel owns is counted.
  client_->inbox->close();
  collect_inbox();
  ring_.close();
  return kernel_count_;
}

// Work that ends by itself: what the kernel has been asked to stop, and pool calls that do not wait
// for another process (their descriptors must stay open until they have made the call).
bool IoUringBackend::has_ending_work() const {
  return kernel_count_ > 0 || BlockingPool::shared().running_count(*client_, PoolLane::kFiles) > 0;
}

Capabilities IoUringBackend::capabilities() const {
  return {"io_uring", ring_.setup_flags(), ring_.features(), ring_.entries(), ring_.opcodes()};
}

}  // namespace nephrite
