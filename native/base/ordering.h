// All memory ordering of the native side goes through the names below; the meaning stands here.
//   load_acquire   what the storing thread wrote before its store_release is visible afterwards
//   store_release  publishes every earlier write of this thread
//   full_fence     orders this thread's earlier stores before its later loads (StoreLoad); the
//                  park protocol needs it on both sides: announce, fence, look / publish, fence,
//                  look
// Owner: none, stateless. The kernel's ring cursors are plain u32 in shared memory, hence the
// pointer forms (GCC builtins, not std::atomic, which cannot be laid over foreign memory before
// C++20's atomic_ref).
#pragma once

#include <atomic>
#include <cstdint>

namespace nephrite {

inline std::uint32_t load_acquire(const std::uint32_t* address) {
  return __atomic_load_n(address, __ATOMIC_ACQUIRE);
}

inline std::uint32_t load_relaxed(const std::uint32_t* address) {
  return __atomic_load_n(address, __ATOMIC_RELAXED);
}

inline void store_release(std::uint32_t* address, std::uint32_t value) {
  __atomic_store_n(address, value, __ATOMIC_RELEASE);
}

inline void store_relaxed(std::uint32_t* address, std::uint32_t value) {
  __atomic_store_n(address, value, __ATOMIC_RELAXED);
}

// A seq_cst read-modify-write rather than a bare fence: ThreadSanitizer does not model fences, and
// on x86-64 both are one locked instruction.
inline void full_fence() {
  static std::atomic<std::uint32_t> sink{0};
#if defined(__SANITIZE_THREAD__)
  sink.fetch_add(1, std::memory_order_seq_cst);
#else
  (void)sink;
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace nephrite
