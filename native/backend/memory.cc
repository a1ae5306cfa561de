// Poller memory: allocation and arena bookkeeping. See memory.h.
#include "backend/memory.h"

#include <cerrno>
#include <cstring>

namespace nephrite {

namespace {

constexpr std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

std::shared_ptr<PollerMemory> PollerMemory::allocate(std::uint32_t submission_capacity,
                                                     std::uint32_t slot_capacity) {
  const std::size_t submission_offset = sizeof(abi::Header);
  const std::size_t completion_offset =
      submission_offset + std::size_t{submission_capacity} * sizeof(abi::SubmissionEntry);
  // As many completions as slots: a slot is reused only after its completion was consumed, so the
  // completion ring cannot overflow.
  const std::size_t scratch_offset =
      round_up(completion_offset + std::size_t{slot_capacity} * sizeof(abi::CompletionEntry), 4096);
  const std::size_t bytes = scratch_offset + std::size_t{slot_capacity} * abi::kScratchBytes;

  auto memory = std::make_shared<PollerMemory>();
  memory->ring_ = Pages::allocate(bytes);
  if (memory->ring_.data() == nullptr) return nullptr;
  memory->submission_capacity_ = submission_capacity;
  memory->completion_offset_ = completion_offset;
  memory->scratch_offset_ = scratch_offset;
  memory->operations_.resize(slot_capacity);

  abi::Header& header = memory->header();
  header.magic = abi::kMagic;
  header.abi_version = abi::kAbiVersion;
  header.submission_capacity = submission_capacity;
  header.completion_capacity = slot_capacity;
  header.slot_capacity = slot_capacity;
  header.submission_offset = static_cast<std::uint32_t>(submission_offset);
  header.completion_offset = static_cast<std::uint32_t>(completion_offset);
  header.scratch_offset = static_cast<std::uint32_t>(scratch_offset);
  return memory;
}

std::int32_t PollerMemory::add_arena(std::size_t bytes) {
  if (free_ids_.empty() && arenas_.size() >= abi::kArenaCountMax) return -ENOBUFS;
  Pages pages = Pages::allocate(bytes);
  if (pages.data() == nullptr) return -ENOMEM;
  auto arena = std::make_shared<Arena>(std::move(pages));
  if (!free_ids_.empty()) {
    const std::uint32_t id = free_ids_.back();
    free_ids_.pop_back();
    arenas_[id - 1] = std::move(arena);
    return static_cast<std::int32_t>(id);
  }
  arenas_.push_back(std::move(arena));
  return static_cast<std::int32_t>(arenas_.size());
}

std::shared_ptr<Arena> PollerMemory::arena(std::uint32_t id) const {
  if (id == 0 || id > arenas_.size()) return nullptr;
  const std::shared_ptr<Arena>& arena = arenas_[id - 1];
  return arena != nullptr && !arena->is_released ? arena : nullptr;
}

void PollerMemory::release_arena(std::uint32_t id) {
  const std::shared_ptr<Arena> released = arena(id);
  if (released == nullptr) return;
  released->is_released = true;
  if (released->in_use == 0) {
    arenas_[id - 1] = nullptr;
    free_ids_.push_back(id);
  }
}

void PollerMemory::unhold(Arena& arena) {
  CHECK_LT(0u, arena.in_use);
  if (--arena.in_use > 0 || !arena.is_released) return;
  for (std::size_t index = 0; index < arenas_.size(); index++) {
    if (arenas_[index].get() == &arena) {
      arenas_[index] = nullptr;
      free_ids_.push_back(static_cast<std::uint32_t>(index + 1));
      return;
    }
  }
  CHECK(false);
}

}  // namespace nephrite
