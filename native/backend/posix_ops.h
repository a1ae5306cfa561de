// Operations as plain POSIX calls: what a pool thread runs, and what may be tried without blocking.
// Owner: stateless but for what posix_inline.cc and local_devices.h learn about kernel and mounts.
// Shared by epoll, kqueue and, for opcodes its kernel lacks, io_uring.
// Not here: threads (blocking_pool.h), readiness (epoll.cc).
#pragma once

#include <cstdint>

#include "backend/operation.h"

namespace nephrite {

// Carries the operation out, blocking as long as it takes; EINTR is retried. Returns the result;
// may set operation.result_flags (kOpen: file kind). kOpen and kStat also learn here which file
// systems answer from memory.
std::int32_t run_blocking(Operation& operation);

// kOpen only: true when the path names a FIFO or a device whose open may wait for another process.
// May block on the disk: pool threads.
bool open_may_wait(const Operation& operation);

enum class InlineOutcome : std::uint8_t {
  kDone,         // carried out: operation.result and result_flags are set
  kUnknown,      // not done, nothing was changed. kOpen: a pool thread has to find out whether it
                 // may wait (PoolLane::kFiles does that and moves it to kMayWait by itself)
  kWillNotWait,  // kOpen, not done: a file or directory, or it will be created. PoolLane::kFiles or
                 // io_uring; the pool does not look again (operation.is_classified)
  kMayWait,      // kOpen, not done: a FIFO or a device. PoolLane::kMayWait, never io_uring
};

// Carries it out only if that cannot block:
//   kRead   preadv2(RWF_NOWAIT) of cached pages (at least one byte asked for)
//   kOpen   openat2(RESOLVE_CACHED), on file systems known to answer from memory
//   kStat   the same, by path or descriptor
//   kClose  descriptors that have nothing to flush or to delete
// Other opcodes give kUnknown without a system call. Poller's thread. Adds its system calls to
// *syscall_count; kOpen sets operation.is_classified.
InlineOutcome try_without_blocking(Operation& operation, std::uint64_t* syscall_count);

}  // namespace nephrite
