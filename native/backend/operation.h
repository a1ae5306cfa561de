// Operation: the native record of one submission, from its entry until its completion.
// Owner: the table in backend/memory.h, one record per slot. The poller's thread writes it; while
// `state` is kInFlight a backend may lend it to ONE pool thread, which then owns every field until
// it pushes the record to the inbox. It never moves and is never freed before its completion.
// Invariants: buffer, path and path2 point into memory that JavaScript cannot free (an arena or the
// slot's scratch), bounds-checked when the entry was taken. The entry is a private copy: the ring
// is untrusted and is read once. Not here: how a backend carries it out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "abi/layout.h"

namespace nephrite {

class Arena;

struct Operation {
  enum class State : std::uint8_t { kFree, kInFlight };

  abi::SubmissionEntry entry{};
  std::byte* buffer = nullptr;
  const char* path = nullptr;       // NUL-terminated, null when fd names the object
  const char* path2 = nullptr;      // NUL-terminated
  abi::StatRecord* stat = nullptr;  // the slot's scratch
  Arena* buffer_arena = nullptr;    // held (in_use) until the completion
  Arena* path_arena = nullptr;
  Operation* next = nullptr;  // intrusive list of whoever owns the record
  Operation* previous = nullptr;
  std::int32_t result = 0;
  std::uint32_t result_flags = 0;
  State state = State::kFree;
  bool is_cancelled = false;  // cancel was asked for; the target's completion still decides
  std::uint8_t stage = 0;     // the backend's own state machine
  std::uint8_t retry_count = 0;
  bool is_classified = false;     // kOpen: known not to wait (posix_ops.h); the pool takes it back
  std::uint64_t storage[6] = {};  // the backend's own bytes (open_how, iovec, OVERLAPPED)

  abi::Opcode opcode() const { return static_cast<abi::Opcode>(entry.opcode); }
  bool no_follow() const { return (entry.flags & abi::kEntryNoFollow) != 0; }
  // Names this use of the slot in the kernel: a late completion of an earlier use cannot match.
  std::uint64_t user_data() const {
    return static_cast<std::uint64_t>(entry.generation) << 32 | entry.slot;
  }
};

}  // namespace nephrite
