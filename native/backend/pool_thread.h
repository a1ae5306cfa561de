// Pool thread: creation of a detached thread that no signal handler runs on.
// Owner: nobody; the thread ends by itself or with the process. Invariants: all signals are blocked
// in it (a profiler's SIGPROF would interrupt its calls, a user's handler expects the main thread);
// no thread_local with a destructor and no pthread key is used by what runs there.
// Not here: what it does (blocking_pool.cc).
#pragma once

#include <cstdint>

namespace nephrite {

// Returns 0 or an errno (EAGAIN: RLIMIT_NPROC or a cgroup's pids.max).
int start_detached_thread(void* (*body)(void*), void* argument);
// Cores that this process may run on, at least 1.
std::uint32_t usable_core_count();

}  // namespace nephrite
