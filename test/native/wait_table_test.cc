// Wait table: order, both directions, and random use against a model of plain lists. The seed is
// printed; epoll itself is epoll_test.cc.
// Not here: who waits and how it is woken (epoll_test.cc).
#include "backend/wait_table.h"

#include <deque>
#include <map>

#include "harness.h"

using nephrite::Direction;
using nephrite::Operation;
using nephrite::WaitTable;

TEST("wait table: serves a descriptor's directions apart and in order") {
  WaitTable table;
  table.open(8);
  std::deque<Operation> operations(4);
  for (Operation& operation : operations) operation.entry.fd = 5;
  table.add(operations[0], Direction::kIn);
  table.add(operations[1], Direction::kIn);
  table.add(operations[2], Direction::kOut);
  EXPECT_TRUE(table.find(5)->first(Direction::kIn) == &operations[0]);
  EXPECT_TRUE(table.find(5)->first(Direction::kOut) == &operations[2]);
  table.remove(operations[0], Direction::kIn);
  EXPECT_TRUE(table.find(5)->first(Direction::kIn) == &operations[1]);
  table.remove(operations[1], Direction::kIn);
  EXPECT_TRUE(!table.find(5)->has(Direction::kIn));
  table.remove(operations[2], Direction::kOut);
  EXPECT_TRUE(table.find(5) == nullptr);
  EXPECT_TRUE(table.any() == nullptr);
}

TEST("wait table: a descriptor number used again gets another generation") {
  WaitTable table;
  table.open(2);
  Operation operation;
  operation.entry.fd = 3;
  const std::uint32_t first = table.add(operation, Direction::kIn).generation;
  table.remove(operation, Direction::kIn);
  EXPECT_NE(table.add(operation, Direction::kIn).generation, first);
}

TEST("wait table: what is lent keeps its watch, and its place ahead of the others") {
  WaitTable table;
  table.open(4);
  std::deque<Operation> operations(2);
  for (Operation& operation : operations) operation.entry.fd = 9;
  table.add(operations[0], Direction::kIn);
  WaitTable::Watch& watch = table.add(operations[1], Direction::kIn);
  EXPECT_TRUE(&table.lend(watch, Direction::kIn) == &operations[0]);
  EXPECT_TRUE(watch.is_lent(Direction::kIn));
  EXPECT_TRUE(watch.first(Direction::kIn) == &operations[1]);
  EXPECT_EQ(table.count(), 1u);
  table.remove(operations[1], Direction::kIn);
  EXPECT_TRUE(table.find(9) == &watch);
  EXPECT_TRUE(table.any() == nullptr);
  table.take_back(operations[0], Direction::kIn);
  EXPECT_TRUE(table.find(9) == nullptr);
}

TEST("wait table: random use agrees with plain lists") {
  constexpr std::size_t kCapacity = 32;
  harness::Random random(harness::seed());
  WaitTable table;
  table.open(kCapacity);
  std::deque<Operation> operations(kCapacity);
  std::vector<Operation*> idle;
  for (Operation& operation : operations) idle.push_back(&operation);
  std::map<std::pair<int, int>, std::deque<Operation*>> model;
  for (int step = 0; step < 20'000; step++) {
    const int fd = static_cast<int>(random.below(12)) * 32;  // many in one bucket
    const int side = static_cast<int>(random.below(2));
    auto& list = model[{fd, side}];
    if (!idle.empty() && random.below(2) == 0) {
      Operation* operation = idle.back();
      idle.pop_back();
      operation->entry.fd = fd;
      table.add(*operation, static_cast<Direction>(side));
      list.push_back(operation);
    } else if (!list.empty()) {
      const std::size_t at = random.below(list.size());
      table.remove(*list[at], static_cast<Direction>(side));
      idle.push_back(list[at]);
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
    }
    const WaitTable::Watch* watch = table.find(fd);
    const bool is_empty = model[{fd, 0}].empty() && model[{fd, 1}].empty();
    REQUIRE_EQ(watch == nullptr, is_empty);
    for (int each = 0; watch != nullptr && each < 2; each++) {
      const Operation* at = watch->waiting[each].head;
      for (const Operation* expected : model[{fd, each}]) {
        REQUIRE_TRUE(at == expected);
        at = at->next;
      }
      REQUIRE_TRUE(at == nullptr);
    }
    REQUIRE_EQ(table.count(), kCapacity - idle.size());
  }
}
