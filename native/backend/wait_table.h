// Wait table: operations that wait until a descriptor is readable or writable, in order of arrival
// per descriptor and direction. Owner: one epoll backend, its thread.
// Invariants: no allocation after open(); a watch exists exactly while somebody waits on its
// descriptor or is lent to a pool thread (one a direction, so that order holds); a watch's
// generation is never used twice, so an event that was on its way when the descriptor was closed
// and its number reused cannot be taken for a new one. Not here: epoll(7) itself, what is done when
// a descriptor is ready (epoll.cc).
#pragma once

#include <cstdint>
#include <vector>

#include "backend/operation_list.h"

namespace nephrite {

enum class Direction : std::uint8_t { kIn = 0, kOut = 1 };

class WaitTable {
 public:
  struct Watch {
    std::int32_t fd = -1;
    std::uint32_t generation = 0;
    OperationList waiting[2];
    Operation* lent[2] = {};     // taken out of the list, still ahead of it
    bool is_registered = false;  // the caller's note: epoll knows the descriptor
    std::int32_t next = -1;      // in its bucket, or in the free list

    Operation* first(Direction direction) const {
      return waiting[static_cast<int>(direction)].head;
    }
    bool has(Direction direction) const { return first(direction) != nullptr; }
    bool is_lent(Direction direction) const { return lent[static_cast<int>(direction)] != nullptr; }
    bool is_empty() const {
      return !has(Direction::kIn) && !has(Direction::kOut) && lent[0] == nullptr &&
             lent[1] == nullptr;
    }
  };

  // At most `capacity` operations wait or are lent at once.
  void open(std::uint32_t capacity);
  // Operations that wait, without the lent ones.
  std::uint32_t count() const { return count_; }
  // Null when nobody waits on fd. A pointer holds until the watch's last operation is removed.
  Watch* find(std::int32_t fd);
  // Appends; creates the watch if there is none.
  Watch& add(Operation& operation, Direction direction);
  // Takes it out of the list; the watch ends with its last operation.
  void remove(Operation& operation, Direction direction);
  // Takes the first one out of its list, keeping the watch; take_back() ends that.
  Operation& lend(Watch& watch, Direction direction);
  void take_back(Operation& operation, Direction direction);
  // Any operation that waits, null when none does (teardown).
  Operation* any() const;

 private:
  std::int32_t* bucket_of(std::int32_t fd);
  void release_if_empty(Watch& watch);

  std::vector<Watch> watches_;
  std::vector<std::int32_t> buckets_;  // index of the first watch, -1 when empty
  std::int32_t free_ = -1;
  std::uint32_t last_generation_ = 0;
  std::uint32_t count_ = 0;
  std::uint32_t watch_count_ = 0;
};

}  // namespace nephrite
