// io_uring backend: operations as ring entries where the kernel has an opcode, through the blocking
// pools where it has none or where an open may wait for another process.
// Owner: one poller, its thread. Invariants: an operation is owed by exactly one of: the kernel
// (kernel_count_), a pool (pool_count_), the backlog list; user_data of the kernel carries slot and
// generation, so a late completion cannot match another use of the slot.
// Not here: the ring itself (kernel_ring.h), what a pool thread does (posix_ops.h).
#pragma once

#include <memory>

#include "backend/backend.h"
#include "backend/blocking_pool.h"
#include "backend/inbox.h"
#include "backend/kernel_ring.h"
#include "backend/memory.h"

namespace nephrite {

class IoUringBackend final : public Backend {
 public:
  explicit IoUringBackend(std::shared_ptr<PollerMemory> memory);
  ~IoUringBackend() override { close(); }

  OpenResult open(const BackendOptions& options, CompletionSink& sink) override;
  void start(Operation& operation) override;
  std::int32_t cancel(Operation& operation) override;
  void enter(std::int64_t timeout_ns) override;
  bool park() override;
  void unpark() override;
  void wake() override { client_->inbox->wake(); }
  void acknowledge() override { client_->inbox->acknowledge(); }
  int wait_handle() const override { return client_->inbox->event_fd(); }
  std::uint32_t close() override;
  Capabilities capabilities() const override;

 private:
  enum Stage : std::uint8_t { kKernel, kWaitReady, kPooled, kBacklog };

  void start_classified(Operation& operation);
  void push_or_queue(Operation& operation);
  bool push_to_kernel(Operation& operation);
  void push_backlog();
  void send_to_pool(Operation& operation, PoolLane lane);
  void flush_pool_batch();
  void collect();
  void collect_kernel();
  void collect_inbox();
  void finish_kernel(Operation& operation, std::int32_t result);
  bool retry(Operation& operation, std::int32_t result);
  bool remove_from_backlog(Operation& operation);
  void cancel_everything();
  bool has_ending_work() const;

  std::shared_ptr<PollerMemory> memory_;
  std::shared_ptr<PoolClient> client_;
  uring::KernelRing ring_;
  CompletionSink* sink_ = nullptr;
  Operation* backlog_head_ = nullptr;  // waits for room in the kernel's submission ring
  Operation* backlog_tail_ = nullptr;
  Operation* pool_batch_ = nullptr;  // handed to the pool in one go by enter()
  Operation* pool_batch_tail_ = nullptr;
  std::uint32_t kernel_count_ = 0;
  std::uint32_t pool_count_ = 0;
  bool is_iopoll_ = false;
  bool is_open_ = false;
};

}  // namespace nephrite
