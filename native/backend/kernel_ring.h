// KernelRing: one io_uring instance: setup, the two kernel rings, enter and register.
// Owner: the backend that opened it; one thread only (SINGLE_ISSUER: the opening thread submits).
// Invariants: sqe_tail_ - sq head <= entries; what push() returned is filled before enter().
// Not here: what an entry means (io_uring.cc).
#pragma once

#include <cstdint>

#include "backend/backend.h"
#include "backend/io_uring_abi.h"
#include "base/ordering.h"
#include "base/unique_fd.h"

namespace nephrite::uring {

class KernelRing {
 public:
  KernelRing() = default;
  KernelRing(const KernelRing&) = delete;
  KernelRing& operator=(const KernelRing&) = delete;
  ~KernelRing() { close(); }

  // Tries flag sets best first, halves the rings on ENOMEM (RLIMIT_MEMLOCK counts them again since
  // 6.x), registers event_fd and sends one NOP through. On failure nothing stays open.
  OpenResult open(const BackendOptions& options, int event_fd);
  void close();

  // A zeroed entry, or null when the submission ring is full: enter() first.
  Sqe* push();
  bool is_full() const { return sqe_tail_ - load_acquire(sq_head_) >= sq_entries_; }
  // Hands pushed entries to the kernel and runs its deferred work; waits for one completion when
  // timeout_ns > 0. 0 or -errno (-EBUSY, -EAGAIN: collect completions, then again).
  std::int32_t enter(std::int64_t timeout_ns);
  bool has_unsubmitted() const { return sqe_tail_ != submitted_tail_; }
  // Deferred work or overflowed completions wait for an enter().
  bool needs_enter() const { return (load_relaxed(sq_flags_) & (kSqTaskrun | kSqCqOverflow)) != 0; }

  // Oldest completion or null; pop() after it was copied out.
  const Cqe* peek() const {
    return cq_head_local_ == load_acquire(cq_tail_) ? nullptr : &cqes_[cq_head_local_ & cq_mask_];
  }
  void pop() { store_release(cq_head_, ++cq_head_local_); }

  void set_eventfd_enabled(bool is_enabled);
  std::int32_t register_op(unsigned opcode, void* argument, unsigned count);
  bool has(Op op) const { return (opcodes_ >> static_cast<unsigned>(op) & 1) != 0; }

  std::uint64_t opcodes() const { return opcodes_; }
  std::uint32_t setup_flags() const { return setup_flags_; }
  std::uint32_t features() const { return features_; }
  std::uint32_t entries() const { return sq_entries_; }
  std::uint64_t syscall_count = 0;

 private:
  std::int32_t setup(std::uint32_t entries, std::uint32_t cq_entries, std::uint32_t flags);
  std::int32_t map_rings();
  void probe_opcodes(const BackendOptions& options);
  std::int32_t send_nop();

  UniqueFd fd_;
  void* ring_map_ = nullptr;
  std::size_t ring_map_bytes_ = 0;
  void* cq_map_ = nullptr;  // before 5.4 the completion ring has a mapping of its own
  std::size_t cq_map_bytes_ = 0;
  Sqe* sqes_ = nullptr;
  std::size_t sqes_bytes_ = 0;
  Params params_{};

  std::uint32_t* sq_head_ = nullptr;
  std::uint32_t* sq_tail_ = nullptr;
  std::uint32_t* sq_flags_ = nullptr;
  std::uint32_t* sq_array_ = nullptr;
  std::uint32_t sq_mask_ = 0;
  std::uint32_t sq_entries_ = 0;
  std::uint32_t sqe_tail_ = 0;        // entries filled
  std::uint32_t submitted_tail_ = 0;  // entries the kernel has taken
  std::uint32_t* cq_head_ = nullptr;
  std::uint32_t* cq_tail_ = nullptr;
  std::uint32_t* cq_flags_ = nullptr;
  const Cqe* cqes_ = nullptr;
  std::uint32_t cq_mask_ = 0;
  std::uint32_t cq_head_local_ = 0;
  std::uint32_t setup_flags_ = 0;
  std::uint32_t features_ = 0;
  std::uint64_t opcodes_ = 0;
};

}  // namespace nephrite::uring
