// Poller: one per thread; takes entries from the submission ring, hands them to its backend and
// publishes completions. Owner: the thread that created it (only wake() is for others).
// Invariants: every entry taken gives exactly one completion; a bad entry gives an error completion
// and touches nothing; completion_tail - completion_head <= slot_capacity.
// Not here: Node-API and libuv (addon/), system calls (backend/).
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_set>
#include <vector>

#include "backend/backend.h"
#include "backend/memory.h"
#include "base/clock.h"
#include "ring/completion_ring.h"
#include "ring/submission_ring.h"

namespace nephrite {

class Poller final : public CompletionSink {
 public:
  // `clock` may be null. The backend is opened by the caller through open().
  Poller(std::shared_ptr<PollerMemory> memory, std::unique_ptr<Backend> backend,
         double* clock_cell);
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  OpenResult open(const BackendOptions& options);
  // kEnterSubmit | kEnterCollect; returns the number of completions published by this call. Reads
  // status in the header: kStatusMore when a budget ended it, kStatusCorrupt when cursors are
  // wrong.
  std::uint32_t enter(std::uint32_t flags, std::int64_t timeout_ns = 0);
  // Whoever woke has taken the announcement back: parked no more, even if no enter() follows.
  void acknowledge();
  // True: parked, wait_handle() will become readable. False: completions wait, enter again.
  bool park();
  void wake() { backend_->wake(); }
  bool is_parked() const { return is_parked_; }
  // Cancels all, waits at most `timeout_ns`, closes every descriptor opened through this poller
  // that was not closed. What the kernel still owns keeps its memory alive. Idempotent.
  void close();

  PollerMemory& memory() { return *memory_; }
  const std::shared_ptr<PollerMemory>& shared_memory() const { return memory_; }
  Backend& backend() { return *backend_; }
  std::uint32_t in_flight_count() const { return in_flight_count_; }
  // Written by TypeScript; only ever compared.
  std::uint32_t unreferenced_count() const { return memory_->header().unreferenced_count; }

  void complete(Operation& operation, std::int32_t result, std::uint32_t flags) override;

 private:
  void consume_submissions();
  void take(const abi::SubmissionEntry& entry);
  std::int32_t bind(Operation& operation);
  static std::int32_t check_shape(const Operation& operation);
  void start(Operation& operation);
  void start_close(Operation& operation);
  void start_waiting_close(std::int32_t fd);
  void cancel_pending(std::int32_t fd);
  std::int32_t cancel(std::uint64_t user_data);
  void publish(std::uint32_t slot, std::uint32_t generation, std::int32_t result,
               std::uint32_t flags);
  void unpark();
  void update_header();

  std::shared_ptr<PollerMemory> memory_;
  std::unique_ptr<Backend> backend_;
  double* clock_cell_;
  SubmissionRing submissions_;
  CompletionRing completions_;
  std::unordered_set<int> open_fds_;  // adopted at kOpen, given up at kClose
  std::uint32_t in_flight_count_ = 0;
  std::uint64_t enter_count_ = 0;
  std::uint64_t rejected_count_ = 0;
  std::uint64_t submission_count_ = 0;
  std::uint64_t completion_count_ = 0;
  std::uint64_t park_count_ = 0;
  std::uint32_t status_ = 0;
  bool is_parked_ = false;
  bool is_closed_ = false;
  // Operations in flight per descriptor, and the closes that wait for them (through
  // Operation::next). Indexed by descriptor: a hash costs 40 ns a completion more.
  std::vector<std::uint32_t> pending_per_fd_;
  Operation* waiting_closes_ = nullptr;
};

}  // namespace nephrite
