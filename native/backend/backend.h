// The poller contract: what every backend (io_uring, epoll, kqueue, iocp) defines, nothing else.
//
//   open      one system resource, probed with a real no-op. Any failure is returned with the stage
//             that failed; nothing stays open. May allocate.
//   start     takes one operation. Never blocks and never fails: an error becomes a completion,
//             which may be delivered from inside start (an operation that was ready at once).
//   cancel    asks one operation to stop. The target's own completion ends it, never the cancel.
//   enter     THE hot call: gives what was started to the kernel and collects what has completed.
//             Blocks at most timeout_ns (0 = never, the rule; > 0 only at teardown and in tests).
//             Allocates nothing.
//   park      announces that the thread is about to wait in its event loop, then looks again:
//             true = parked, from now on a completion makes wait_handle() readable; false =
//             completions are there, enter again. unpark takes the announcement back.
//   wake      makes wait_handle() readable if parked. The only call that any thread may make.
//   acknowledge  empties wait_handle() after the event loop saw it readable.
//   wait_handle  what the event loop watches. -1: nothing here can be watched (Windows); then
//             options.signal_loop is called wherever it says "becomes readable".
//   close     cancels everything and waits a bounded time. Returns the number of operations the
//             system still owns; their memory must then live on (poller.cc keeps it).
//
// Threads: all calls but wake come from the thread that called open.
// Results: >= 0 a value, < 0 a negative errno, the same for the same situation on every backend.
// Memory: an operation and its buffers stay valid until its completion was delivered.
#pragma once

#include <cstdint>

#include "backend/operation.h"

namespace nephrite {

// Where completions go: implemented by the poller. Poller's thread only.
class CompletionSink {
 public:
  // Ends the operation; the record may be reused as soon as this returns.
  virtual void complete(Operation& operation, std::int32_t result, std::uint32_t flags) = 0;

 protected:
  ~CompletionSink() = default;
};

// Counters of the poller's thread that a backend writes; the poller publishes them (abi Header).
struct BackendCounters {
  std::uint64_t syscall_count = 0;
  std::uint64_t inline_count = 0;
  std::uint64_t pooled_count = 0;
};

struct BackendOptions {
  std::uint32_t ring_entries = 256;    // kernel submission entries, halved on ENOMEM
  std::uint32_t slot_capacity = 1024;  // most operations in flight
  std::uint32_t io_workers_max = 8;    // io-wq workers of each kind (bounded and unbounded)
  bool use_sqpoll = false;             // a kernel thread polls: only for those who measure
  bool use_iopoll = false;
  std::uint32_t denied_opcodes_low = 0;  // test hook: bit n = kernel opcode n is missing (E4)
  std::uint32_t denied_opcodes_high = 0;
  // Where wait_handle() is -1: called by any thread, once per park, not after close() returned.
  // Must neither block nor call back (uv_async_send).
  void (*signal_loop)(void* context) = nullptr;
  void* signal_context = nullptr;
};

struct OpenResult {
  int error = 0;           // errno, 0 = open
  const char* stage = "";  // the call that failed
};

// What doctor shows. Strings are literals.
struct Capabilities {
  const char* name = "";
  std::uint32_t kernel_flags = 0;  // io_uring setup flags in use
  std::uint32_t kernel_features = 0;
  std::uint32_t ring_entries = 0;    // after halving
  std::uint64_t kernel_opcodes = 0;  // bit n: kernel opcode n is there
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual OpenResult open(const BackendOptions& options, CompletionSink& sink) = 0;
  virtual void start(Operation& operation) = 0;
  // 0: asked; -EALREADY: cannot be stopped any more, its completion will come.
  virtual std::int32_t cancel(Operation& operation) = 0;
  virtual void enter(std::int64_t timeout_ns) = 0;
  virtual bool park() = 0;
  virtual void unpark() = 0;
  virtual void wake() = 0;
  // The event loop saw wait_handle() readable: empty it. Poller's thread.
  virtual void acknowledge() = 0;
  virtual int wait_handle() const = 0;
  virtual std::uint32_t close() = 0;
  virtual Capabilities capabilities() const = 0;
  const BackendCounters& counters() const { return counters_; }

 protected:
  BackendCounters counters_;
};

}  // namespace nephrite
