// Blocking pools: bounded sets of threads for what the kernel can only do by blocking.
// Owner: process-global, created at first use, never joined and never destroyed (a thread may sit
// in open(2) of a FIFO for ever; the addon is never unloaded). They touch native memory only.
// Lanes: kFiles for calls that end (stat, rename, reads of disks); kMayWait for calls that may wait
// for another process (open of a FIFO or a device), which must not hold up the first kind. An open
// that nobody has classified starts in kFiles; its thread looks and moves it over by itself.
// Invariants: threads <= the lane's limit (kMayWait: plus the abandoned ones, see cancel); a queued
// job is run or cancelled exactly once; a client's memory and inbox live until its last job is
// pushed. All fields of a PoolClient's and a PoolJob's pool part are guarded by the pool's mutex.
// Not here: what an operation does (posix_ops.h).
#pragma once

#include <cstdint>
#include <memory>

#include "backend/inbox.h"
#include "backend/memory.h"
#include "backend/operation.h"

namespace nephrite {

enum class PoolLane : std::uint8_t { kFiles = 0, kMayWait = 1 };

// One per poller: what its jobs keep alive.
struct PoolClient {
  std::shared_ptr<PollerMemory> memory;
  std::shared_ptr<Inbox> inbox;

  // The pool's own. `self` is set while jobs are pending: no reference is counted per job.
  std::uint32_t queued_count = 0;
  std::uint32_t running_count[2] = {};  // by lane
  std::uint32_t occupied_count = 0;     // kMayWait threads in a call, not abandoned
  bool is_gone = false;                 // cancel_all: its poller has closed
  std::shared_ptr<PoolClient> self;
};

class BlockingPool {
 public:
  static BlockingPool& shared();
  // Hands over the operation; it comes back through client->inbox with `result` set (-EAGAIN when
  // not even one thread could be created). Uses the last two words of operation.storage.
  // submit_batch takes a list through Operation::next: one lock, at most one wake; woken threads
  // wake the next one while there is more than they took.
  void submit(PoolLane lane, Operation* operation, const std::shared_ptr<PoolClient>& client);
  void submit_batch(PoolLane lane, Operation* list, const std::shared_ptr<PoolClient>& client);
  // Poller's thread; the operation must be in the pool (submitted, not drained). True: it was still
  // queued, is taken out, and the caller owns it again. False: it runs or has run; its completion
  // comes. A kMayWait call that runs cannot be interrupted: its thread stays in it, is counted as
  // abandoned, and may be replaced by another one (up to kAbandonedMax), so that cancelled opens of
  // FIFOs do not use up the lane.
  [[nodiscard]] bool cancel(Operation* operation);
  // Takes every queued operation of one client out (teardown, may be repeated); returns them as a
  // list. Its kMayWait calls that run are abandoned, as by cancel.
  Operation* cancel_all(PoolClient& client);
  // Number of operations of one client that threads of a lane have taken. May still include some
  // that were just pushed.
  std::uint32_t running_count(const PoolClient& client, PoolLane lane) const;
  // 1 to kThreadLimitMax. Threads above a lowered limit end when they have finished their job.
  void set_thread_limit(PoolLane lane, std::uint32_t limit);
  std::uint32_t thread_count(PoolLane lane) const;

  static constexpr std::uint32_t kThreadLimitMax = 1024;
  static constexpr std::uint32_t kMayWaitThreads = 64;
  static constexpr std::uint32_t kAbandonedMax = 192;

 private:
  struct State;
  State* state_;  // leaked on purpose: threads outlive static destruction
  BlockingPool();
};

}  // namespace nephrite
