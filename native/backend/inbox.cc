// Inbox: completed operations from pool threads, and the wake of a parked poller. See inbox.h.
#include "backend/inbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

#include "base/ordering.h"

namespace nephrite {

int Inbox::open() {
  event_fd_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  return event_fd_.valid() ? 0 : -errno;
}

bool Inbox::push(Operation* operation) {
  operation->next = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_closed_) return false;
    if (tail_ != nullptr) {
      tail_->next = operation;
    } else {
      head_ = operation;
    }
    tail_ = operation;
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  wake();
  return true;
}

// Publish (the push above, or whatever the caller of wake() has published), fence, look whether
// the poller has announced that it parks. Pairs with park().
void Inbox::wake() {
  full_fence();
  // The plain load first: while the poller runs, nobody writes the line that holds the flag.
  if (!is_parked_.load(std::memory_order_relaxed)) return;
  if (!is_parked_.exchange(false, std::memory_order_acq_rel)) return;
  const std::uint64_t one = 1;
  // Fails only when the counter is full, that is when it is readable anyway, or when somebody has
  // closed the descriptor under us; neither can be answered from here.
  while (::write(event_fd_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
}

Operation* Inbox::drain() {
  if (count_.load(std::memory_order_relaxed) == 0) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  Operation* list = head_;
  head_ = tail_ = nullptr;
  count_.store(0, std::memory_order_relaxed);
  return list;
}

bool Inbox::park() {
  is_parked_.store(true, std::memory_order_relaxed);
  full_fence();
  if (count_.load(std::memory_order_relaxed) == 0) return true;
  unpark();
  return false;
}

void Inbox::unpark() {
  is_parked_.store(false, std::memory_order_relaxed);
}

void Inbox::acknowledge() {
  std::uint64_t count = 0;
  while (::read(event_fd_.get(), &count, sizeof count) < 0 && errno == EINTR) {
  }
}

// The descriptor stays open until the last reference is gone: a pool thread between its exchange
// and its write would otherwise write into a stranger's file.
void Inbox::close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_closed_ = true;
}

}  // namespace nephrite
