// Epoll backend: what most containers get, where io_uring is refused. Cached reads, opens and stats
// are done at once on the poller's thread (posix_inline.cc); pipes, sockets and terminals wait in
// epoll and are then read or written without blocking; everything else goes to the blocking pools.
// Owner: one poller, its thread. Invariants: an operation is owed by exactly one of: the batch for
// the pool, the pool (pooled_count_), the wait table; operations on one descriptor and direction
// that wait are served in order; an O_NONBLOCK descriptor never gives EAGAIN to the caller.
// The poller starts a kClose only when nothing is pending on the descriptor, so no watch outlives
// its descriptor through us.
// Not here: system calls of operations (posix_ops.h), threads (blocking_pool.h).
#pragma once

#include <memory>

#include "backend/backend.h"
#include "backend/blocking_pool.h"
#include "backend/operation_list.h"
#include "backend/wait_table.h"
#include "base/unique_fd.h"

namespace nephrite {

class EpollBackend final : public Backend {
 public:
  explicit EpollBackend(std::shared_ptr<PollerMemory> memory);
  ~EpollBackend() override { close(); }

  OpenResult open(const BackendOptions& options, CompletionSink& sink) override;
  void start(Operation& operation) override;
  std::int32_t cancel(Operation& operation) override;
  void enter(std::int64_t timeout_ns) override;
  bool park() override;
  void unpark() override { client_->inbox->unpark(); }
  void wake() override { client_->inbox->wake(); }
  void acknowledge() override { must_poll_ = true; }
  // The epoll descriptor: readable when the inbox's eventfd or any watched descriptor is.
  int wait_handle() const override { return epoll_fd_.get(); }
  std::uint32_t close() override;
  Capabilities capabilities() const override;

 private:
  static constexpr std::uint64_t kInboxEvent = ~std::uint64_t{0};  // no watch has this tag
  // kLent: first of its descriptor and direction, in a pool thread while the others wait.
  enum Stage : std::uint8_t { kStarted, kBatched, kPooled, kWaiting, kLent };
  enum class Transfer : std::uint8_t { kDone, kNotReady, kMayBlock };

  static Direction direction_of(const Operation& operation) {
    return operation.opcode() == abi::Opcode::kWrite ? Direction::kOut : Direction::kIn;
  }
  void finish(Operation& operation, std::int32_t result);
  void start_transfer(Operation& operation);
  void route_by_kind(Operation& operation);
  Transfer transfer(Operation& operation, std::int32_t* result);
  void wait(Operation& operation);
  void stop_waiting(Operation& operation);
  bool arm(WaitTable::Watch& watch, std::int32_t* error);
  void arm_or_give_up(std::int32_t fd);
  void serve(std::int32_t fd, Direction direction);
  void lend(WaitTable::Watch& watch, Direction direction);
  void take_back(Operation& operation);
  void poll_ready(std::int64_t timeout_ns);
  void send_to_pool(Operation& operation, PoolLane lane);
  void submit_waiting_call(Operation& operation, Stage stage);
  void flush_batch();
  void collect_inbox();
  void cancel_everything();

  std::shared_ptr<PoolClient> client_;
  UniqueFd epoll_fd_;
  CompletionSink* sink_ = nullptr;
  WaitTable waits_;
  OperationList batch_;  // handed to PoolLane::kFiles in one go by enter()
  std::uint32_t pooled_count_ = 0;
  bool must_poll_ = false;  // the eventfd's edge may be pending: ask epoll at the next enter
  bool is_open_ = false;
};

}  // namespace nephrite
