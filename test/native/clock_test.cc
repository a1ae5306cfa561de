// Master clock: the cell only moves forward, over any number of writing threads.
// Method: threads race on one cell; what each saw is compared with what came before.
#include <thread>

#include "base/clock.h"
#include "harness.h"

using nephrite::MasterClock;

TEST("clock: an older time does not move it back") {
  double cell = 0;
  MasterClock clock(&cell);
  clock.advance(1000);
  clock.advance(999);
  EXPECT_EQ(clock.read_ns(), 1000.0);
  clock.advance(1001);
  EXPECT_EQ(clock.read_ns(), 1001.0);
}

TEST("clock: exact to the nanosecond below 2^53") {
  double cell = 0;
  MasterClock clock(&cell);
  const std::uint64_t limit = std::uint64_t{1} << 53;
  clock.advance(limit - 1);
  EXPECT_EQ(clock.read_ns(), static_cast<double>(limit - 1));
  clock.advance(limit);
  EXPECT_EQ(clock.read_ns(), static_cast<double>(limit));
}

TEST("clock: monotonic for every reader while four threads advance it") {
  constexpr int kThreadCount = 4;
  constexpr int kStepCount = 20'000;
  double cell = 0;
  std::atomic<int> backward_count{0};
  std::atomic<int> behind_count{0};
  std::vector<std::thread> threads;
  for (int index = 0; index < kThreadCount; index++) {
    threads.emplace_back([&cell, &backward_count, &behind_count] {
      MasterClock clock(&cell);
      double last = 0;
      for (int step = 0; step < kStepCount; step++) {
        const std::uint64_t now = nephrite::monotonic_now_ns();
        clock.advance(now);
        const double seen = clock.read_ns();
        if (seen < last) backward_count++;
        if (seen < static_cast<double>(now)) behind_count++;
        last = seen;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(backward_count.load(), 0);
  EXPECT_EQ(behind_count.load(), 0);
  EXPECT_TRUE(MasterClock(&cell).read_ns() <= static_cast<double>(nephrite::monotonic_now_ns()));
}

TEST("clock: what a writer did before advancing is seen with its time") {
  // Under ThreadSanitizer this fails if advance() does not release or read_ns() not acquire.
  double cell = 0;
  int payload = 0;
  std::thread writer([&] {
    payload = 42;
    MasterClock(&cell).advance(7);
  });
  MasterClock clock(&cell);
  while (clock.read_ns() < 7) std::this_thread::yield();
  EXPECT_EQ(payload, 42);
  writer.join();
}
