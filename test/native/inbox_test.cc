// Inbox: order, the park protocol (no wake is lost, none is sent to a running poller), and closing.
// Operations here are bare records; who fills them is blocking_pool_test.cc.
// Method: one thread plays the poller, others push; a lost wake would leave it parked for good.
#include "backend/inbox.h"

#include <poll.h>

#include <array>
#include <thread>

#include "base/check.h"
#include "harness.h"

using nephrite::Inbox;
using nephrite::Operation;

namespace {

bool is_readable(int fd, int timeout_ms) {
  pollfd ready{fd, POLLIN, 0};
  return ::poll(&ready, 1, timeout_ms) == 1;
}

}  // namespace

TEST("inbox: gives back what was pushed, oldest first, once") {
  Inbox inbox;
  REQUIRE_EQ(inbox.open(), 0);
  std::array<Operation, 3> operations;
  for (Operation& operation : operations) EXPECT_TRUE(inbox.push(&operation));
  Operation* list = inbox.drain();
  for (Operation& operation : operations) {
    REQUIRE_TRUE(list == &operation);
    list = list->next;
  }
  EXPECT_TRUE(list == nullptr);
  EXPECT_TRUE(inbox.drain() == nullptr);
}

TEST("inbox: a push to a poller that is not parked signals nobody") {
  Inbox inbox;
  REQUIRE_EQ(inbox.open(), 0);
  Operation operation;
  EXPECT_TRUE(inbox.push(&operation));
  inbox.wake();
  EXPECT_TRUE(!is_readable(inbox.event_fd(), 0));
}

TEST("inbox: refuses to park over a pushed operation") {
  Inbox inbox;
  REQUIRE_EQ(inbox.open(), 0);
  Operation operation;
  EXPECT_TRUE(inbox.push(&operation));
  EXPECT_TRUE(!inbox.park());
  EXPECT_TRUE(inbox.drain() == &operation);
  EXPECT_TRUE(inbox.park());
}

TEST("inbox: only the first push to a parked poller signals, until it parks again") {
  Inbox inbox;
  REQUIRE_EQ(inbox.open(), 0);
  std::array<Operation, 2> operations;
  REQUIRE_TRUE(inbox.park());
  EXPECT_TRUE(inbox.push(&operations[0]));
  EXPECT_TRUE(is_readable(inbox.event_fd(), 0));
  inbox.acknowledge();
  EXPECT_TRUE(inbox.push(&operations[1]));
  EXPECT_TRUE(!is_readable(inbox.event_fd(), 0));
  EXPECT_TRUE(inbox.drain() == &operations[0]);
}

TEST("inbox: after close it takes nothing, and what was pushed before is still there") {
  Inbox inbox;
  REQUIRE_EQ(inbox.open(), 0);
  std::array<Operation, 2> operations;
  EXPECT_TRUE(inbox.push(&operations[0]));
  inbox.close();
  EXPECT_TRUE(!inbox.push(&operations[1]));
  EXPECT_TRUE(inbox.drain() == &operations[0]);
  EXPECT_TRUE(inbox.drain() == nullptr);
}

TEST("inbox: four pushing threads never lose a wake of a poller that parks whenever it is idle") {
  constexpr std::size_t kThreadCount = 4;
  constexpr std::size_t kPushCount = 3000;
  Inbox inbox;
  REQUIRE_EQ(inbox.open(), 0);
  std::vector<std::vector<Operation>> operations(kThreadCount);
  for (auto& list : operations) list.resize(kPushCount);
  std::vector<std::thread> threads;
  for (auto& list : operations) {
    threads.emplace_back([&inbox, &list] {
      harness::Random random(harness::seed() + static_cast<std::uint64_t>(list.size()));
      for (Operation& operation : list) {
        operation.result = 1;
        CHECK(inbox.push(&operation));
        if (random.below(8) == 0) std::this_thread::yield();
      }
    });
  }
  std::size_t drained = 0;
  bool is_lost = false;
  while (drained < kThreadCount * kPushCount && !is_lost) {
    for (Operation* item = inbox.drain(); item != nullptr; item = item->next) {
      drained += static_cast<std::size_t>(item->result);
    }
    if (drained == kThreadCount * kPushCount || !inbox.park()) continue;
    // A lost wake shows as this time limit; a loaded machine does not take that long.
    is_lost = !is_readable(inbox.event_fd(), 20'000);
    inbox.unpark();
    inbox.acknowledge();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(!is_lost);
  EXPECT_EQ(drained, kThreadCount * kPushCount);
}
