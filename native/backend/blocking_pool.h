// Blocking pools: bounded sets of threads for what the kernel can only do by blocking.
// Owner: process-global, created at first use, never joined and never destroyed (a thread may sit
// in open(2) of a FIFO for ever; the addon is never unloaded). They touch native memory only.
// Lanes: kFiles for calls that end (stat, rename, reads of disks); kMayWait for calls that may wait
// for another process (open of a FIFO or a device), which must not hold up the first kind.
// Invariants: threads <= the lane's limit; a queued job is run or cancelled exactly once; a job
// holds its poller's memory and inbox alive until it was pushed.
// Not here: what an operation does (posix_ops.h).
#pragma once

#include <cstdint>
#include <memory>

#include "backend/inbox.h"
#include "backend/operation.h"
#include "poller/memory.h"

namespace nephrite {

enum class PoolLane : std::uint8_t { kFiles = 0, kMayWait = 1 };

// What a job keeps alive, one per poller.
struct PoolClient {
  std::shared_ptr<PollerMemory> memory;
  std::shared_ptr<Inbox> inbox;
};

class BlockingPool {
 public:
  static BlockingPool& shared();
  // Hands over the operation; it comes back through client->inbox with `result` set.
  // submit_batch takes a list through Operation::next: one lock, at most as many wakes as needed.
  void submit(PoolLane lane, Operation* operation, const std::shared_ptr<PoolClient>& client);
  void submit_batch(PoolLane lane, Operation* list, const std::shared_ptr<PoolClient>& client);
  // Poller's thread. True: it was still queued, is taken out, and the caller owns it again.
  // False: it runs or has run; its completion comes.
  [[nodiscard]] bool cancel(PoolLane lane, Operation* operation);
  // Takes every queued operation of one client out (teardown); returns them as a list.
  Operation* cancel_all(const PoolClient& client);
  // Number of operations of one client that a thread is running now.
  std::uint32_t running_count(const PoolClient& client) const;
  void set_thread_limit(PoolLane lane, std::uint32_t limit);

 private:
  struct State;
  State* state_;  // leaked on purpose: threads outlive static destruction
  BlockingPool();
};

}  // namespace nephrite
