// CompletionPort: one I/O completion port and the thread that waits on it while its poller is
// parked. Why a thread: libuv can watch nothing but sockets on Windows, and its own port is not
// ours to use. Owner: the backend that opened it; its poller's thread calls everything but wake().
// Invariants: the waiter is inside the port only while armed. Parking arms it, one batch of packets
// disarms it: taking the announcement back costs no system call, and a running poller is disturbed
// by one batch at most. What the waiter took is given out by take(), exactly once. `signal` is
// called at most once per park and never after close() has returned. Not here: what a packet means
// (iocp.cc).
#pragma once

#include <windows.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "backend/backend.h"

namespace nephrite::windows {

using Packet = OVERLAPPED_ENTRY;

class CompletionPort {
 public:
  static constexpr std::uint32_t kBatchMax = 64;

  CompletionPort() = default;
  CompletionPort(const CompletionPort&) = delete;
  CompletionPort& operator=(const CompletionPort&) = delete;
  ~CompletionPort();

  // Creates the port, sends one no-op through it and starts the waiter. On failure nothing stays
  // open. `signal` may be null when nobody watches.
  OpenResult open(void (*signal)(void*), void* context);
  // Packets of `file` come here from now on, for as long as it is open. 0 or a negative errno.
  std::int32_t associate(HANDLE file);

  // Packets that have arrived, kBatchMax at most; waits for the first one if timeout_ms > 0.
  // Fewer than kBatchMax: there are no more.
  std::uint32_t take(Packet (&packets)[kBatchMax], std::uint32_t timeout_ms);
  // The waiter took some that take() has not given out yet.
  bool has_taken() const { return taken_count_.load(std::memory_order_relaxed) > 0; }

  // False: packets are there already. True: the next packet, or a wake, calls `signal`.
  bool park();
  void unpark() { state_.store(State::kRunning, std::memory_order_relaxed); }
  // Any thread, until close(): signals a parked poller, ends the wait of one that is inside take().
  void wake();
  // Ends the waiter; the port itself lives as long as the object.
  void close();

  std::uint64_t syscall_count = 0;

 private:
  enum class State : std::uint8_t { kRunning, kParked, kBlocked };

  static unsigned __stdcall run_waiter(void* self);
  void wait_while_armed();
  bool keep_batch(const Packet* batch, ULONG count);
  void disarm();
  bool send_nop();

  HANDLE port_ = nullptr;
  HANDLE waiter_ = nullptr;
  void (*signal_)(void*) = nullptr;
  void* context_ = nullptr;
  std::atomic<State> state_{State::kRunning};

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool is_armed_ = false;
  bool is_disarming_ = false;
  bool is_stopping_ = false;
  std::atomic<std::uint32_t> taken_count_{0};
  Packet taken_[kBatchMax];
};

}  // namespace nephrite::windows
