// Operations as plain POSIX calls: what a pool thread runs, and what may be tried without blocking.
// Owner: stateless. Shared by epoll, kqueue and, for opcodes its kernel lacks, io_uring.
// Not here: threads (blocking_pool.h), readiness (epoll.cc).
#pragma once

#include <cstdint>
#include <optional>

#include "backend/operation.h"

namespace nephrite {

// Carries the operation out, blocking as long as it takes; EINTR is retried. Returns the result;
// may set operation.result_flags (kOpen: file kind).
std::int32_t run_blocking(Operation& operation);

// kOpen only: kMayWait when the path names a FIFO or a device. May block on the disk: pool threads.
bool open_may_wait(const Operation& operation);

// Carries it out only if that cannot block, else nullopt and nothing was changed:
//   kRead   preadv2(RWF_NOWAIT) of cached pages     kOpen, kStat  openat2(RESOLVE_CACHED)
//   kClose  of descriptors that have nothing to flush
// *may_wait is set for a kOpen of a FIFO or device (found without blocking): use PoolLane::kMayWait.
// Counts its system calls in *syscall_count.
std::optional<std::int32_t> try_without_blocking(Operation& operation, bool* may_wait,
                                                 std::uint64_t* syscall_count);

}  // namespace nephrite
