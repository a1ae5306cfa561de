// Poller memory: ring memory, operation table and arenas, everything the kernel or a pool thread
// may still touch. Owner: shared; the poller, each pool job in progress and each ArrayBuffer handed
// to JavaScript hold a reference, so a dead worker's memory lives until its last completion.
// Invariants: nothing in here knows Node; the table never moves; an arena in use is never unmapped.
// Not here: validation of entries (poller.cc), allocation inside an arena
// (lib/ring/buffer_pool.ts).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/operation.h"
#include "base/check.h"
#include "base/pages.h"

namespace nephrite {

// One block of pool memory. JavaScript sees it as an ArrayBuffer whose detaching or collection
// frees nothing here.
class Arena {
 public:
  explicit Arena(Pages pages) : pages_(std::move(pages)) {}
  std::byte* data() const { return pages_.data(); }
  std::size_t bytes() const { return pages_.bytes(); }

  std::uint32_t in_use = 0;  // operations in flight that point into it
  bool is_released = false;  // JavaScript gave it up; unmapped when in_use falls to 0

 private:
  Pages pages_;
};

class PollerMemory {
 public:
  // Null when the system has no memory. Capacities are powers of two, checked by the caller.
  static std::shared_ptr<PollerMemory> allocate(std::uint32_t submission_capacity,
                                                std::uint32_t slot_capacity);

  std::byte* ring_data() const { return ring_.data(); }
  std::size_t ring_bytes() const { return ring_.bytes(); }
  abi::Header& header() const { return *reinterpret_cast<abi::Header*>(ring_.data()); }
  std::uint32_t slot_capacity() const { return static_cast<std::uint32_t>(operations_.size()); }
  Operation& operation(std::uint32_t slot) { return operations_[slot]; }

  // Private copies: the header in the ring memory is written by JavaScript too.
  std::uint32_t submission_capacity() const { return submission_capacity_; }
  const abi::SubmissionEntry* submission_entries() const {
    return reinterpret_cast<const abi::SubmissionEntry*>(ring_.data() + sizeof(abi::Header));
  }
  abi::CompletionEntry* completion_entries() const {
    return reinterpret_cast<abi::CompletionEntry*>(ring_.data() + completion_offset_);
  }

  // Scratch of all slots, as one range of the ring memory: arena 0 of a submission entry.
  std::byte* scratch() const { return ring_.data() + scratch_offset_; }
  std::size_t scratch_bytes() const { return std::size_t{slot_capacity()} * abi::kScratchBytes; }

  // Returns the new arena's id (>= 1) or a negative errno.
  std::int32_t add_arena(std::size_t bytes);
  // Null for an unknown or released id. `arena` shares ownership (for an ArrayBuffer), `find` is
  // the hot path's look.
  std::shared_ptr<Arena> arena(std::uint32_t id) const;
  Arena* find(std::uint32_t id) const {
    if (id == 0 || id > arenas_.size()) return nullptr;
    Arena* arena = arenas_[id - 1].get();
    return arena != nullptr && !arena->is_released ? arena : nullptr;
  }
  void release_arena(std::uint32_t id);
  void hold(Arena& arena) { arena.in_use++; }
  void unhold(Arena& arena);

 private:
  Pages ring_;
  std::uint32_t submission_capacity_ = 0;
  std::size_t completion_offset_ = 0;
  std::size_t scratch_offset_ = 0;
  std::vector<Operation> operations_;
  std::vector<std::shared_ptr<Arena>> arenas_;  // index = id - 1
  std::vector<std::uint32_t> free_ids_;
};

}  // namespace nephrite
