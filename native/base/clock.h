// Master clock: monotonic nanoseconds in shared memory, moved forward by whoever enters a poller.
// Owner: the cell belongs to the thread that allocated it (a SharedArrayBuffer); writers hold a
// reference while they are open. Invariants: the value never decreases (maximum wins), readers
// make no system call. Staleness: at most the time since the last enter of any poller that shares
// the cell. Not here: time budgets, which read the real clock (DESIGN 8).
//
// Encoding: the cell holds nanoseconds as binary64, because TypeScript reads a Float64Array
// element in one load where a BigInt64Array allocates. Non-negative binary64 values order like
// their bit patterns, so the maximum is taken on the bits with an integer compare-exchange.
// Exact to 2^53 ns (104 days) after boot, then to 2 ns, 4 ns, ...: finer than the clock's use.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <ctime>

namespace nephrite {

inline std::uint64_t monotonic_now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000ull +
         static_cast<std::uint64_t>(time.tv_nsec);
}

class MasterClock {
 public:
  // SAFETY: cell points at 8 aligned bytes that outlive this object; the addon holds a reference
  // to the SharedArrayBuffer behind it.
  explicit MasterClock(double* cell) : cell_(reinterpret_cast<std::uint64_t*>(cell)) {
    static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free);
  }

  // Moves the cell to `now_ns` unless another thread has moved it further. Lock-free: a failed
  // exchange means another writer advanced the clock.
  void advance(std::uint64_t now_ns) {
    const auto next = std::bit_cast<std::uint64_t>(static_cast<double>(now_ns));
    std::atomic_ref<std::uint64_t> cell(*cell_);
    std::uint64_t current = cell.load(std::memory_order_relaxed);
    while (current < next && !cell.compare_exchange_weak(current, next, std::memory_order_release,
                                                         std::memory_order_relaxed)) {
    }
  }

  // Pairs with the release in advance(): a reader that saw t also sees what its writer did before.
  double read_ns() const {
    return std::bit_cast<double>(
        std::atomic_ref<std::uint64_t>(*cell_).load(std::memory_order_acquire));
  }

 private:
  std::uint64_t* cell_;
};

}  // namespace nephrite
