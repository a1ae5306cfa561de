// Blocking pools: every job comes back exactly once, cancelled or run; what waits for another
// process holds up nobody; late results of a closed poller are disposed of.
#include "backend/blocking_pool.h"

#include <dirent.h>
#include <poll.h>
#include <sys/wait.h>

#include <deque>
#include <fstream>
#include <set>
#include <thread>

#include "bare_operation.h"
#include "eventually.h"
#include "harness.h"
#include "temp_dir.h"

using nephrite::BlockingPool;
using nephrite::Inbox;
using nephrite::Operation;
using nephrite::PoolClient;
using nephrite::PoolLane;
using nephrite::UniqueFd;
using nephrite::abi::Opcode;
using test::BareOperation;
using test::eventually;
using test::TempDir;

namespace {

constexpr int kLostMs = 20'000;

std::shared_ptr<PoolClient> make_client() {
  auto client = std::make_shared<PoolClient>();
  client->memory = nephrite::PollerMemory::allocate(16, 16);
  client->inbox = std::make_shared<Inbox>();
  CHECK_EQ(client->inbox->open(), 0);
  return client;
}

// Waits until `count` operations have come back; fewer when no wake came.
std::vector<Operation*> take(PoolClient& client, std::size_t count) {
  std::vector<Operation*> taken;
  for (;;) {
    for (Operation* item = client.inbox->drain(); item != nullptr; item = item->next) {
      taken.push_back(item);
    }
    if (taken.size() >= count) return taken;
    if (!client.inbox->park()) continue;
    pollfd ready{client.inbox->event_fd(), POLLIN, 0};
    if (::poll(&ready, 1, kLostMs) != 1) return taken;
    client.inbox->unpark();
    client.inbox->acknowledge();
  }
}

BlockingPool& pool() {
  return BlockingPool::shared();
}

// Opens of FIFOs for reading, which wait until release() opens the other ends.
struct WaitingOpens {
  TempDir dir;
  std::deque<BareOperation> operations;
  std::vector<UniqueFd> writers;

  explicit WaitingOpens(int count) {
    for (int index = 0; index < count; index++) {
      BareOperation& bare = operations.emplace_back(Opcode::kOpen);
      bare.with_path(dir.fifo("fifo" + std::to_string(index))).with_arguments(O_RDONLY);
    }
  }
  Operation* at(std::size_t index) { return &operations[index].operation; }
  // Waits for a reader, so only once the open runs.
  void release(std::size_t index) {
    writers.emplace_back(::open(operations[index].path.c_str(), O_WRONLY | O_CLOEXEC));
    CHECK(writers.back().valid());
  }
};

void close_results(const std::vector<Operation*>& opened) {
  for (const Operation* operation : opened) {
    if (operation->result >= 0) UniqueFd{operation->result};
  }
}

}  // namespace

TEST("pool: a batch comes back complete, with results") {
  auto client = make_client();
  std::deque<BareOperation> operations;
  Operation* list = nullptr;
  for (int index = 0; index < 200; index++) {
    BareOperation& bare = operations.emplace_back(Opcode::kStat);
    bare.with_path(index % 2 == 0 ? "/" : "/no/such/file");
    bare.operation.next = list;
    list = &bare.operation;
  }
  pool().submit_batch(PoolLane::kFiles, list, client);
  const auto taken = take(*client, operations.size());
  REQUIRE_EQ(taken.size(), operations.size());
  EXPECT_EQ(std::set<Operation*>(taken.begin(), taken.end()).size(), operations.size());
  for (std::size_t index = 0; index < operations.size(); index++) {
    REQUIRE_EQ(operations[index].operation.result, index % 2 == 0 ? 0 : -ENOENT);
  }
  EXPECT_TRUE(pool().thread_count(PoolLane::kFiles) <=
              std::max(4u, std::thread::hardware_concurrency()));
}

TEST("pool: FIFO opens that nobody classified do not hold up files, even with one thread") {
  auto client = make_client();
  pool().set_thread_limit(PoolLane::kFiles, 1);
  WaitingOpens opens(8);
  for (std::size_t index = 0; index < 8; index++) {
    pool().submit(PoolLane::kFiles, opens.at(index), client);
  }
  BareOperation stat(Opcode::kStat);
  pool().submit(PoolLane::kFiles, &stat.with_path("/").operation, client);
  const auto taken = take(*client, 1);
  REQUIRE_EQ(taken.size(), 1u);
  EXPECT_TRUE(taken[0] == &stat.operation);
  for (std::size_t index = 0; index < 8; index++) opens.release(index);
  const auto opened = take(*client, 8);
  EXPECT_EQ(opened.size(), 8u);
  for (const Operation* operation : opened) EXPECT_EQ(operation->result_flags, S_IFIFO >> 12);
  close_results(opened);
  pool().set_thread_limit(PoolLane::kFiles, 4);
}

TEST("pool: cancel takes a queued job out, and leaves a running one to complete once") {
  auto client = make_client();
  pool().set_thread_limit(PoolLane::kMayWait, 1);
  // Threads of earlier tests that are above the limit end first.
  WaitingOpens opens(2);
  pool().submit(PoolLane::kMayWait, opens.at(0), client);
  REQUIRE_TRUE(eventually([&] {
    return pool().running_count(*client, PoolLane::kMayWait) == 1 &&
           pool().thread_count(PoolLane::kMayWait) >= 1;
  }));
  pool().submit(PoolLane::kMayWait, opens.at(1), client);
  const bool was_queued = pool().cancel(opens.at(1));
  const bool was_running = !pool().cancel(opens.at(0));
  EXPECT_TRUE(was_running);
  EXPECT_TRUE(!pool().cancel(opens.at(0)));
  opens.release(0);
  if (!was_queued) opens.release(1);  // an idle thread of an earlier test took it
  const auto taken = take(*client, was_queued ? 1 : 2);
  EXPECT_EQ(taken.size(), was_queued ? 1u : 2u);
  close_results(taken);
  pool().set_thread_limit(PoolLane::kMayWait, BlockingPool::kMayWaitThreads);
}

TEST("pool: cancelled opens that cannot be interrupted do not use up their lane") {
  auto client = make_client();
  const std::uint32_t limit = 3;
  pool().set_thread_limit(PoolLane::kMayWait, limit);
  WaitingOpens opens(7);
  for (std::size_t index = 0; index < 6; index++) {
    pool().submit(PoolLane::kMayWait, opens.at(index), client);
  }
  REQUIRE_TRUE(
      eventually([&] { return pool().running_count(*client, PoolLane::kMayWait) >= limit; }));
  // Each round abandons all that run; every queued one must then get a thread.
  std::set<std::size_t> cancelled;
  REQUIRE_TRUE(eventually([&] {
    for (std::size_t index = 0; index < 6; index++) {
      if (cancelled.contains(index)) continue;
      if (pool().running_count(*client, PoolLane::kMayWait) <= cancelled.size()) continue;
      if (!pool().cancel(opens.at(index))) {
        cancelled.insert(index);
      } else {
        pool().submit(PoolLane::kMayWait, opens.at(index), client);
      }
    }
    return pool().running_count(*client, PoolLane::kMayWait) == 6;
  }));
  // Three threads' worth of limit is free again for one that is not cancelled.
  for (std::size_t index = 0; index < 6; index++) (void)pool().cancel(opens.at(index));
  pool().submit(PoolLane::kMayWait, opens.at(6), client);
  opens.release(6);
  const auto first = take(*client, 1);
  REQUIRE_EQ(first.size(), 1u);
  EXPECT_TRUE(first[0] == opens.at(6));
  close_results(first);
  for (std::size_t index = 0; index < 6; index++) opens.release(index);
  const auto rest = take(*client, 6);
  EXPECT_EQ(rest.size(), 6u);
  close_results(rest);
  pool().set_thread_limit(PoolLane::kMayWait, BlockingPool::kMayWaitThreads);
}

TEST("pool: an open that succeeds after its poller is gone is closed again") {
  auto client = make_client();
  WaitingOpens opens(1);
  pool().submit(PoolLane::kMayWait, opens.at(0), client);
  REQUIRE_TRUE(eventually([&] { return pool().running_count(*client, PoolLane::kMayWait) == 1; }));
  const std::weak_ptr<PoolClient> watch = client;
  client->inbox->close();
  client = nullptr;
  EXPECT_TRUE(!watch.expired());  // the job holds memory and inbox
  opens.release(0);
  // The reader's end is closed again: the writer sees an error condition.
  pollfd writer{opens.writers[0].get(), 0, 0};
  EXPECT_EQ(::poll(&writer, 1, kLostMs), 1);
  EXPECT_TRUE((writer.revents & POLLERR) != 0);
  EXPECT_TRUE(eventually([&] { return watch.expired(); }));
  // Takes the pool's mutex after its thread did: what the thread read may be freed now.
  EXPECT_TRUE(pool().thread_count(PoolLane::kMayWait) > 0);
}

TEST("pool: opens that a closed poller left behind do not use up their lane") {
  auto gone = make_client();
  auto client = make_client();
  pool().set_thread_limit(PoolLane::kMayWait, 2);
  WaitingOpens opens(3);
  pool().submit(PoolLane::kMayWait, opens.at(0), gone);
  pool().submit(PoolLane::kMayWait, opens.at(1), gone);
  REQUIRE_TRUE(eventually([&] { return pool().running_count(*gone, PoolLane::kMayWait) == 2; }));
  EXPECT_TRUE(pool().cancel_all(*gone) == nullptr);
  pool().submit(PoolLane::kMayWait, opens.at(2), client);
  opens.release(2);
  const auto opened = take(*client, 1);
  EXPECT_EQ(opened.size(), 1u);
  close_results(opened);
  opens.release(0);
  opens.release(1);
  const auto late = take(*gone, 2);
  EXPECT_EQ(late.size(), 2u);
  close_results(late);
  pool().set_thread_limit(PoolLane::kMayWait, BlockingPool::kMayWaitThreads);
}

TEST("pool: cancel_all takes the queued jobs of one client only") {
  auto first = make_client();
  auto second = make_client();
  pool().set_thread_limit(PoolLane::kMayWait, 1);
  WaitingOpens opens(4);
  pool().submit(PoolLane::kMayWait, opens.at(0), first);
  REQUIRE_TRUE(eventually([&] { return pool().running_count(*first, PoolLane::kMayWait) == 1; }));
  pool().submit(PoolLane::kMayWait, opens.at(1), second);
  pool().submit(PoolLane::kMayWait, opens.at(2), first);
  pool().submit(PoolLane::kMayWait, opens.at(3), second);
  std::set<Operation*> removed;
  for (Operation* item = pool().cancel_all(*second); item != nullptr; item = item->next) {
    removed.insert(item);
  }
  EXPECT_EQ(removed.count(opens.at(0)) + removed.count(opens.at(2)), 0u);
  opens.release(0);
  opens.release(2);
  const auto of_first = take(*first, 2);
  EXPECT_EQ(of_first.size(), 2u);
  close_results(of_first);
  // Idle threads left by earlier tests may have been faster than cancel_all.
  std::size_t run_count = 0;
  for (const std::size_t index : {std::size_t{1}, std::size_t{3}}) {
    if (removed.contains(opens.at(index))) continue;
    opens.release(index);
    run_count++;
  }
  const auto of_second = take(*second, run_count);
  EXPECT_EQ(of_second.size() + removed.size(), 2u);
  close_results(of_second);
  pool().set_thread_limit(PoolLane::kMayWait, BlockingPool::kMayWaitThreads);
}

TEST("pool: no signal handler can run on its threads") {
  auto client = make_client();
  BareOperation stat(Opcode::kStat);
  pool().submit(PoolLane::kFiles, &stat.with_path("/").operation, client);
  REQUIRE_EQ(take(*client, 1).size(), 1u);
  int thread_count = 0;
  DIR* tasks = ::opendir("/proc/self/task");
  REQUIRE_TRUE(tasks != nullptr);
  while (const dirent* task = ::readdir(tasks)) {
    const std::string base = std::string("/proc/self/task/") + task->d_name;
    std::string name;
    std::getline(std::ifstream(base + "/comm") >> std::ws, name);
    if (name.rfind("nephrite-", 0) != 0) continue;
    thread_count++;
    std::ifstream status(base + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.rfind("SigBlk:", 0) != 0) continue;
      // All but SIGKILL, SIGSTOP and the two that the C library keeps for itself.
      const std::uint64_t blocked = std::strtoull(line.c_str() + 7, nullptr, 16);
      EXPECT_EQ(blocked | 0x180040100, ~std::uint64_t{0});
    }
  }
  ::closedir(tasks);
  EXPECT_TRUE(thread_count > 0);
}

TEST("pool: clients on three threads, random cancels: each job comes back once") {
  constexpr std::size_t kRounds = 60;
  constexpr std::size_t kBatch = 40;
  std::atomic<std::size_t> lost{0};
  std::atomic<std::size_t> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint64_t index = 0; index < 3; index++) {
    threads.emplace_back([&lost, &wrong, index] {
      harness::Random random(harness::seed() + index);
      auto client = make_client();
      for (std::size_t round = 0; round < kRounds; round++) {
        std::deque<BareOperation> operations;
        Operation* list = nullptr;
        for (std::size_t each = 0; each < kBatch; each++) {
          BareOperation& bare = operations.emplace_back(Opcode::kStat);
          bare.with_path("/").operation.next = list;
          bare.operation.result = 1;
          list = &bare.operation;
        }
        pool().submit_batch(PoolLane::kFiles, list, client);
        std::size_t cancelled = 0;
        for (BareOperation& bare : operations) {
          if (random.below(4) != 0) continue;
          if (pool().cancel(&bare.operation)) cancelled++;
        }
        const auto taken = take(*client, kBatch - cancelled);
        if (taken.size() != kBatch - cancelled) lost++;
        for (const Operation* operation : taken) wrong += operation->result == 0 ? 0u : 1u;
        if (client->inbox->drain() != nullptr) wrong++;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lost.load(), 0u);
  EXPECT_EQ(wrong.load(), 0u);
}

TEST("pool: a child after fork has a pool of its own") {
#if defined(__SANITIZE_THREAD__)
  SKIP("ThreadSanitizer does not follow a fork of a process with threads");
#endif
  auto before = make_client();
  BareOperation warm(Opcode::kStat);
  pool().submit(PoolLane::kFiles, &warm.with_path("/").operation, before);
  REQUIRE_EQ(take(*before, 1).size(), 1u);
  const pid_t child = ::fork();
  if (child == 0) {
    auto client = make_client();
    BareOperation stat(Opcode::kStat);
    pool().submit(PoolLane::kFiles, &stat.with_path("/").operation, client);
    ::_exit(take(*client, 1).size() == 1 && stat.operation.result == 0 ? 0 : 1);
  }
  REQUIRE_TRUE(child > 0);
  int status = 0;
  REQUIRE_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}
