// CompletionPort: the port, the waiter and the park protocol. See completion_port.h.
#include "backend/completion_port.h"

#include <process.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "backend/windows_errors.h"
#include "base/check.h"
#include "base/ordering.h"

namespace nephrite::windows {

namespace {

constexpr ULONG_PTR kFileKey = 0;
constexpr ULONG_PTR kControlKey = 1;  // our own packets: they only end a wait
// The poller's thread and the waiter: neither may hold up the other.
constexpr DWORD kThreadCount = 2;
constexpr DWORD kNopTimeoutMs = 1000;
constexpr unsigned kWaiterStackBytes = 64 * 1024;

// Fails only when the system is out of non-paged memory; libuv gives the process up then, too.
void post_control(HANDLE port) {
  CHECK(PostQueuedCompletionStatus(port, 0, kControlKey, nullptr) != 0);
}

}  // namespace

CompletionPort::~CompletionPort() {
  close();
  // Operations that the system still owns have their own reference to the port.
  if (port_ != nullptr) CloseHandle(port_);
}

OpenResult CompletionPort::open(void (*signal)(void*), void* context) {
  CHECK(port_ == nullptr);
  signal_ = signal;
  context_ = context;
  port_ = CreateIoCompletionPort(INVALID_HANDLE_VALUE, nullptr, 0, kThreadCount);
  if (port_ == nullptr) return {-last_error(), "CreateIoCompletionPort"};
  OpenResult result;
  if (!send_nop()) {
    result = {-last_error(), "a NOP through the completion port"};
  } else {
    waiter_ = reinterpret_cast<HANDLE>(_beginthreadex(nullptr, kWaiterStackBytes, &run_waiter, this,
                                                      STACK_SIZE_PARAM_IS_A_RESERVATION, nullptr));
    if (waiter_ == nullptr) result = {errno, "_beginthreadex"};
  }
  if (result.error != 0) CloseHandle(std::exchange(port_, nullptr));
  return result;
}

bool CompletionPort::send_nop() {
  if (PostQueuedCompletionStatus(port_, 0, kControlKey, nullptr) == 0) return false;
  Packet packet;
  ULONG count = 0;
  return GetQueuedCompletionStatusEx(port_, &packet, 1, &count, kNopTimeoutMs, FALSE) != 0 &&
         count == 1 && packet.lpCompletionKey == kControlKey;
}

std::int32_t CompletionPort::associate(HANDLE file) {
  syscall_count++;
  return CreateIoCompletionPort(file, port_, kFileKey, 0) == port_ ? 0 : last_error();
}

std::uint32_t CompletionPort::take(Packet (&packets)[kBatchMax], std::uint32_t timeout_ms) {
  // Two threads inside the port would race for the packet that this wait is about.
  if (timeout_ms > 0) disarm();
  std::uint32_t count = 0;
  if (has_taken()) {
    const std::lock_guard<std::mutex> lock(mutex_);
    count = taken_count_.load(std::memory_order_relaxed);
    std::copy_n(taken_, count, packets);
    taken_count_.store(0, std::memory_order_relaxed);
    if (count == kBatchMax) return count;
    timeout_ms = 0;
  }
  if (timeout_ms > 0) {
    state_.store(State::kBlocked, std::memory_order_relaxed);
    full_fence();  // as in park()
  }
  ULONG arrived = 0;
  syscall_count++;
  const bool has_some = GetQueuedCompletionStatusEx(port_, packets + count, kBatchMax - count,
                                                    &arrived, timeout_ms, FALSE) != 0;
  if (timeout_ms > 0) unpark();
  if (!has_some) return count;
  const Packet* end =
      std::remove_if(packets + count, packets + count + arrived,
                     [](const Packet& packet) { return packet.lpCompletionKey == kControlKey; });
  return static_cast<std::uint32_t>(end - packets);
}

// --- parking ----------------------------------------------------------------------------------

// The port is a queue: a packet that arrived before the waiter looks is still there when it does.
// So only what the waiter has taken needs a second look, and the mutex orders that.
bool CompletionPort::park() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (has_taken()) return false;
  state_.store(State::kParked, std::memory_order_relaxed);
  full_fence();  // announce, fence, look: the caller looks at its other queues after this
  if (!is_armed_) {
    is_armed_ = true;
    changed_.notify_all();
  }
  return true;
}

// Publish (done by the caller), fence, look whether the poller has announced that it waits.
void CompletionPort::wake() {
  full_fence();
  if (state_.load(std::memory_order_relaxed) == State::kRunning) return;
  switch (state_.exchange(State::kRunning, std::memory_order_acq_rel)) {
    case State::kParked:
      if (signal_ != nullptr) signal_(context_);
      return;
    case State::kBlocked:
      post_control(port_);
      return;
    case State::kRunning:
      return;
  }
}

// --- the waiter -------------------------------------------------------------------------------

unsigned __stdcall CompletionPort::run_waiter(void* self) {
  auto& port = *static_cast<CompletionPort*>(self);
  for (;;) {
    {
      std::unique_lock<std::mutex> lock(port.mutex_);
      port.changed_.wait(lock, [&] { return port.is_armed_ || port.is_stopping_; });
      if (port.is_stopping_) return 0;
    }
    port.wait_while_armed();
  }
}

void CompletionPort::wait_while_armed() {
  Packet batch[kBatchMax];
  for (;;) {
    ULONG count = 0;
    CHECK(GetQueuedCompletionStatusEx(port_, batch, kBatchMax, &count, INFINITE, FALSE) != 0);
    if (keep_batch(batch, count)) return;
  }
}

// Returns true when the waiter is disarmed by it. A control packet that was meant for an earlier
// wait disarms nobody.
bool CompletionPort::keep_batch(const Packet* batch, ULONG count) {
  bool was_parked = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    CHECK_EQ(taken_count_.load(std::memory_order_relaxed), 0u);
    const Packet* end = std::copy_if(batch, batch + count, taken_, [](const Packet& packet) {
      return packet.lpCompletionKey != kControlKey;
    });
    if (end == taken_ && !is_disarming_) return false;
    taken_count_.store(static_cast<std::uint32_t>(end - taken_), std::memory_order_relaxed);
    is_armed_ = false;
    // A poller that runs finds them by itself, at its next enter or when it parks.
    was_parked = end != taken_ &&
                 state_.exchange(State::kRunning, std::memory_order_acq_rel) == State::kParked;
    changed_.notify_all();
  }
  if (was_parked && signal_ != nullptr) signal_(context_);
  return true;
}

void CompletionPort::disarm() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!is_armed_) return;
  is_disarming_ = true;
  post_control(port_);
  changed_.wait(lock, [this] { return !is_armed_; });
  is_disarming_ = false;
}

void CompletionPort::close() {
  if (waiter_ == nullptr) return;
  disarm();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_stopping_ = true;
    changed_.notify_all();
  }
  CHECK_EQ(WaitForSingleObject(waiter_, INFINITE), WAIT_OBJECT_0);
  CloseHandle(std::exchange(waiter_, nullptr));
}

}  // namespace nephrite::windows
