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
  if (watch_count_ == 0) return nullptr;
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
    watch_count_++;
  }
  watch->waiting[static_cast<int>(direction)].append(&operation);
  count_++;
  return *watch;
}

void WaitTable::release_if_empty(Watch& watch) {
  if (!watch.is_empty()) return;
  std::int32_t* link = bucket_of(watch.fd);
  const auto index = static_cast<std::int32_t>(&watch - watches_.data());
  while (*link != index) link = &watches_[static_cast<std::size_t>(*link)].next;
  *link = watch.next;
  watch.fd = -1;
  watch.next = free_;
  free_ = index;
  watch_count_--;
}

void WaitTable::remove(Operation& operation, Direction direction) {
  Watch* watch = find(operation.entry.fd);
  CHECK(watch != nullptr);
  watch->waiting[static_cast<int>(direction)].unlink(&operation);
  count_--;
  release_if_empty(*watch);
}

Operation& WaitTable::lend(Watch& watch, Direction direction) {
  CHECK(watch.has(direction) && !watch.is_lent(direction));
  Operation& operation = *watch.first(direction);
  watch.waiting[static_cast<int>(direction)].unlink(&operation);
  count_--;
  watch.lent[static_cast<int>(direction)] = &operation;
  return operation;
}

void WaitTable::take_back(Operation& operation, Direction direction) {
  Watch* watch = find(operation.entry.fd);
  CHECK(watch != nullptr && watch->lent[static_cast<int>(direction)] == &operation);
  watch->lent[static_cast<int>(direction)] = nullptr;
  release_if_empty(*watch);
}

Operation* WaitTable::any() const {
  for (const Watch& watch : watches_) {
    if (watch.fd < 0) continue;
    if (watch.has(Direction::kIn)) return watch.first(Direction::kIn);
    if (watch.has(Direction::kOut)) return watch.first(Direction::kOut);
  }
  return nullptr;
}

}  // namespace nephrite
