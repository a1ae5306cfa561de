// Wait table: a chained hash of watches in one array, lists through the operations. See
// wait_table.h.
#include "backend/wait_table.h"

#include <bit>

#include "base/check.h"

namespace nephrite {

void WaitTable::open(std::uint32_t capacity) {
  watches_.assign(capacity, Watch{});
  buckets_.assign(std::bit_ceil(capacity), -1);
  for (std::uint32_t index = 0; index < capacity; index++) {
    watches_[index].next = index + 1 < capacity ? static_cast<std::int32_t>(index + 1) : -1;
  }
  free_ = 0;
}

std::int32_t* WaitTable::bucket_of(std::int32_t fd) {
  // Descriptors are small and dense: their low bits spread by themselves.
  return &buckets_[static_cast<std::uint32_t>(fd) & (buckets_.size() - 1)];
}

WaitTable::Watch* WaitTable::find(std::int32_t fd) {
  if (count_ == 0) return nullptr;
  for (std::int32_t index = *bucket_of(fd); index >= 0;) {
    Watch& watch = watches_[static_cast<std::size_t>(index)];
    if (watch.fd == fd) return &watch;
    index = watch.next;
  }
  return nullptr;
}

WaitTable::Watch& WaitTable::add(Operation& operation, Direction direction) {
  const std::int32_t fd = operation.entry.fd;
  Watch* watch = find(fd);
  if (watch == nullptr) {
    CHECK(free_ >= 0);
    const std::int32_t index = free_;
    watch = &watches_[static_cast<std::size_t>(index)];
    free_ = watch->next;
    *watch = Watch{};
    watch->fd = fd;
    watch->generation = ++last_generation_;
    std::int32_t* bucket = bucket_of(fd);
    watch->next = *bucket;
    *bucket = index;
  }
  const int side = static_cast<int>(direction);
  operation.next = nullptr;
  operation.previous = watch->tail[side];
  (watch->tail[side] != nullptr ? watch->tail[side]->next : watch->head[side]) = &operation;
  watch->tail[side] = &operation;
  count_++;
  return *watch;
}

void WaitTable::remove(Operation& operation, Direction direction) {
  Watch* watch = find(operation.entry.fd);
  CHECK(watch != nullptr);
  const int side = static_cast<int>(direction);
  (operation.previous != nullptr ? operation.previous->next : watch->head[side]) = operation.next;
  (operation.next != nullptr ? operation.next->previous : watch->tail[side]) = operation.previous;
  operation.next = operation.previous = nullptr;
  count_--;
  if (!watch->is_empty()) return;
  std::int32_t* link = bucket_of(watch->fd);
  const auto index = static_cast<std::int32_t>(watch - watches_.data());
  while (*link != index) link = &watches_[static_cast<std::size_t>(*link)].next;
  *link = watch->next;
  watch->fd = -1;
  watch->next = free_;
  free_ = index;
}

Operation* WaitTable::any() const {
  for (const Watch& watch : watches_) {
    if (watch.fd < 0) continue;
    return watch.head[0] != nullptr ? watch.head[0] : watch.head[1];
  }
  return nullptr;
}

}  // namespace nephrite
