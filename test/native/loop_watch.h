// LoopWatch: stands where libuv's watcher stands, and sleeps until a parked poller is woken:
// poll(2) on the wait handle, or an event behind BackendOptions::signal_loop where there is none
// (Windows). Owner: the driver; it outlives the poller. Invariant: a wake stays seen until
// acknowledge(). Not here: when to park (poller_driver.h).
#pragma once

#include "backend/backend.h"
#include "base/check.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <poll.h>
#endif

namespace test {

#ifdef _WIN32

class LoopWatch {
 public:
  LoopWatch() : event_(CreateEventW(nullptr, TRUE, FALSE, nullptr)) { CHECK(event_ != nullptr); }
  ~LoopWatch() { CloseHandle(event_); }
  LoopWatch(const LoopWatch&) = delete;
  LoopWatch& operator=(const LoopWatch&) = delete;

  void connect(nephrite::BackendOptions& options) {
    options.signal_loop = [](void* event) { CHECK(SetEvent(event) != 0); };
    options.signal_context = event_;
  }
  bool wait(const nephrite::Backend& backend, int timeout_ms) const {
    CHECK_EQ(backend.wait_handle(), -1);
    return WaitForSingleObject(event_, static_cast<DWORD>(timeout_ms)) == WAIT_OBJECT_0;
  }
  void acknowledge() const { CHECK(ResetEvent(event_) != 0); }

 private:
  HANDLE event_;
};

#else

class LoopWatch {
 public:
  void connect(nephrite::BackendOptions&) {}
  bool wait(const nephrite::Backend& backend, int timeout_ms) const {
    pollfd ready{backend.wait_handle(), POLLIN, 0};
    return ::poll(&ready, 1, timeout_ms) == 1;
  }
  void acknowledge() const {}  // Backend::acknowledge() does it
};

#endif

}  // namespace test
