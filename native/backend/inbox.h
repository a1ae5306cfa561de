// Inbox: completed operations on their way from pool threads back to one poller, and its wake.
// Owner: shared; the backend and each pool job in progress hold a reference, so a pool thread may
// finish after the poller is gone. Any thread pushes, the poller's thread drains.
// Invariants: an operation pushed before close() is drained exactly once; after close() push
// refuses and the pool thread disposes of the result (a descriptor is closed). A parked poller is
// woken by the first push only: `is_parked` is taken back by whoever wakes it.
// Not here: the pool (blocking_pool.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "backend/operation.h"
#include "base/unique_fd.h"

namespace nephrite {

class Inbox {
 public:
  // Returns 0 or -errno of eventfd(2). Linux; a kqueue has its own wake (EVFILT_USER).
  int open();
  // False after close(): the caller still owns the operation's result.
  [[nodiscard]] bool push(Operation* operation);
  // All pushed operations as a list through Operation::next, oldest first; null when none. The
  // empty case is one relaxed load.
  Operation* drain();
  // Announce, fence, look again (pairs with the fence in push/wake): true = parked.
  bool park();
  void unpark();
  // Any thread. Makes event_fd() readable if the poller is parked.
  void wake();
  // Empties event_fd(); the poller's thread, after its event loop saw it readable.
  void acknowledge();
  int event_fd() const { return event_fd_.get(); }
  // No push is taken from now on; drain() still returns what was pushed before.
  void close();

 private:
  std::mutex mutex_;  // guards head_, tail_, is_closed_: held for a few instructions
  Operation* head_ = nullptr;
  Operation* tail_ = nullptr;
  bool is_closed_ = false;
  std::atomic<std::uint32_t> count_{0};
  std::atomic<bool> is_parked_{false};
  UniqueFd event_fd_;
};

}  // namespace nephrite
