// Blocking pools: queues, threads and their accounting. See blocking_pool.h; why one mutex, one job
// at a time and one wake at a time: DECISIONS.md of this folder.
#include "backend/blocking_pool.h"

#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "backend/operation_list.h"
#include "backend/pool_job.h"
#include "backend/pool_thread.h"
#include "backend/posix_ops.h"
#include "base/check.h"

namespace nephrite {

namespace {

constexpr std::uint32_t kFilesThreadsMin = 4;
// Threads above so many end when they were idle for so long; the others cost nothing asleep.
constexpr std::uint32_t kKeptThreads = 4;
constexpr time_t kIdleSeconds = 10;

class Lock {
 public:
  explicit Lock(pthread_mutex_t& mutex) : mutex_(mutex) {
    CHECK_EQ(pthread_mutex_lock(&mutex_), 0);
  }
  ~Lock() { CHECK_EQ(pthread_mutex_unlock(&mutex_), 0); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

// Nobody waits for the result any more: what it opened is closed here.
void dispose(Operation& operation) {
  if (operation.opcode() == abi::Opcode::kOpen && operation.result >= 0) UniqueFd{operation.result};
}

void deliver(Operation* operation, PoolClient* client) {
  if (!client->inbox->push(operation)) dispose(*operation);
}

// Drops a finished client's reference to itself; the caller lets go of it after the mutex.
std::shared_ptr<PoolClient> release_if_idle(PoolClient* client) {
  if (client->queued_count + client->running_count[0] + client->running_count[1] > 0) {
    return nullptr;
  }
  return std::exchange(client->self, nullptr);
}

}  // namespace

struct BlockingPool::State {
  struct Lane {
    State* state = nullptr;
    PoolLane name = PoolLane::kFiles;
    OperationList queue;
    pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
    std::uint32_t limit = 0;
    std::uint32_t thread_count = 0;
    std::uint32_t sleeping_count = 0;
    std::uint32_t woken_count = 0;     // signalled, not yet running
    std::uint32_t starting_count = 0;  // created, not yet running
    std::uint32_t abandoned_count = 0;

    std::size_t index() const { return static_cast<std::size_t>(name); }
    std::uint32_t allowed_count() const { return limit + std::min(abandoned_count, kAbandonedMax); }
  };
  // What is to be done for a lane once the mutex is free.
  enum class Call : std::uint8_t { kNone, kSignal, kSpawn };

  State();
  Lane& lane(PoolLane name) { return lanes[static_cast<std::size_t>(name)]; }
  Call call_thread(Lane& lane);
  void carry_out(Call call, Lane& lane);
  void fail_queued(Lane& lane);
  bool sleep(Lane& lane);
  bool run(Lane& lane, Operation* operation, PoolClient* client);
  bool move_to_may_wait(Operation* operation, PoolClient* client);
  static void leave_call(Lane& lane, Operation* operation, PoolClient* client);
  void work(Lane& lane);
  static void* thread_main(void* lane);

  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  Lane lanes[2];
};

BlockingPool::State::State() {
  for (Lane& lane : lanes) lane.state = this;
  lanes[0].name = PoolLane::kFiles;
  lanes[0].limit = std::max(kFilesThreadsMin, usable_core_count());
  lanes[1].name = PoolLane::kMayWait;
  lanes[1].limit = kMayWaitThreads;
}

// Under the mutex. One thread at most is on its way; when it has taken its job it calls the next,
// so a poller pays for one wake per batch and no thread wakes to find nothing.
BlockingPool::State::Call BlockingPool::State::call_thread(Lane& lane) {
  if (lane.queue.head == nullptr || lane.woken_count + lane.starting_count > 0) return Call::kNone;
  if (lane.sleeping_count > 0) {
    lane.sleeping_count--;
    lane.woken_count++;
    return Call::kSignal;
  }
  if (lane.thread_count >= lane.allowed_count()) return Call::kNone;
  lane.thread_count++;
  lane.starting_count++;
  return Call::kSpawn;
}

// Without the mutex: a signal makes its thread want it, and creating a thread takes 20 to 50 us.
void BlockingPool::State::carry_out(Call call, Lane& lane) {
  if (call == Call::kNone) return;
  if (call == Call::kSignal) {
    CHECK_EQ(pthread_cond_signal(&lane.ready), 0);
    return;
  }
  if (start_detached_thread(thread_main, &lane) != 0) fail_queued(lane);
}

// A thread could not be created (RLIMIT_NPROC, a cgroup's pids.max). The others go on; if there are
// none, nobody would ever run the queue, so its operations fail.
void BlockingPool::State::fail_queued(Lane& lane) {
  {
    const Lock lock(mutex);
    lane.starting_count--;
    lane.thread_count--;
  }
  for (;;) {
    Operation* operation = nullptr;
    PoolClient* client = nullptr;
    {
      const Lock lock(mutex);
      if (lane.thread_count > 0 || lane.queue.head == nullptr) return;
      operation = lane.queue.head;
      lane.queue.unlink(operation);
      client = PoolJob::of(*operation).client;
      PoolJob::of(*operation).state = PoolJob::State::kFinished;
      client->queued_count--;
      client->running_count[lane.index()]++;
    }
    operation->is_classified = false;
    operation->result = -EAGAIN;
    deliver(operation, client);
    std::shared_ptr<PoolClient> released;
    const Lock lock(mutex);
    client->running_count[lane.index()]--;
    released = release_if_idle(client);
  }
}

// Under the mutex. False: the thread has taken itself out of the lane and must end.
bool BlockingPool::State::sleep(Lane& lane) {
  lane.sleeping_count++;
  for (;;) {
    int error = 0;
    if (lane.thread_count <= kKeptThreads) {
      error = pthread_cond_wait(&lane.ready, &mutex);
    } else {
      timespec deadline{};
      clock_gettime(CLOCK_REALTIME, &deadline);
      deadline.tv_sec += kIdleSeconds;
      error = pthread_cond_timedwait(&lane.ready, &mutex, &deadline);
    }
    if (lane.woken_count > 0) {
      lane.woken_count--;
      return true;
    }
    if (error == ETIMEDOUT && lane.thread_count > kKeptThreads) {
      lane.sleeping_count--;
      lane.thread_count--;
      return false;
    }
  }
}

// False: its poller has closed meanwhile, nobody would take what it opens.
bool BlockingPool::State::move_to_may_wait(Operation* operation, PoolClient* client) {
  Lane& target = lane(PoolLane::kMayWait);
  Call call = Call::kNone;
  {
    const Lock lock(mutex);
    if (client->is_gone) return false;
    PoolJob& job = PoolJob::of(*operation);
    job.lane = PoolLane::kMayWait;
    job.state = PoolJob::State::kQueued;
    client->running_count[static_cast<std::size_t>(PoolLane::kFiles)]--;
    client->queued_count++;
    target.queue.append(operation);
    call = call_thread(target);
  }
  carry_out(call, target);
  return true;
}

// Under the mutex: a kMayWait call is over, its thread counts for the lane again.
void BlockingPool::State::leave_call(Lane& lane, Operation* operation, PoolClient* client) {
  PoolJob& job = PoolJob::of(*operation);
  job.state = PoolJob::State::kFinished;
  if (job.is_abandoned || client->is_gone) {
    lane.abandoned_count--;
  } else {
    client->occupied_count--;
  }
}

// False: the job was moved to the other lane.
bool BlockingPool::State::run(Lane& lane, Operation* operation, PoolClient* client) {
  const bool is_files = lane.name == PoolLane::kFiles;
  if (is_files && operation->opcode() == abi::Opcode::kOpen && !operation->is_classified &&
      open_may_wait(*operation)) {
    if (move_to_may_wait(operation, client)) return false;
    operation->result = -ECANCELED;
  } else {
    operation->is_classified = false;
    operation->result = run_blocking(*operation);
  }
  if (!is_files) {
    const Lock lock(mutex);
    leave_call(lane, operation, client);
  }
  deliver(operation, client);
  return true;
}

void BlockingPool::State::work(Lane& lane) {
  CHECK_EQ(pthread_mutex_lock(&mutex), 0);
  lane.starting_count--;
  for (;;) {
    while (lane.queue.head == nullptr && lane.thread_count <= lane.allowed_count()) {
      if (!sleep(lane)) {
        CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
        return;
      }
    }
    const bool is_surplus = lane.thread_count > lane.allowed_count();
    if (is_surplus) lane.thread_count--;
    Operation* const operation = is_surplus ? nullptr : lane.queue.head;
    PoolClient* client = nullptr;
    if (operation != nullptr) {
      lane.queue.unlink(operation);
      client = PoolJob::of(*operation).client;
      PoolJob::of(*operation).state = PoolJob::State::kRunning;
      client->queued_count--;
      client->running_count[lane.index()]++;
      if (lane.name == PoolLane::kMayWait) client->occupied_count++;
    }
    const Call call = call_thread(lane);
    CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
    carry_out(call, lane);
    if (is_surplus) return;
    const bool has_ended = run(lane, operation, client);
    CHECK_EQ(pthread_mutex_lock(&mutex), 0);
    if (!has_ended) continue;
    client->running_count[lane.index()]--;
    std::shared_ptr<PoolClient> released = release_if_idle(client);
    if (released == nullptr) continue;
    // May unmap a dead poller's memory: not under the mutex.
    CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
    released = nullptr;
    CHECK_EQ(pthread_mutex_lock(&mutex), 0);
  }
}

void* BlockingPool::State::thread_main(void* argument) {
  Lane& lane = *static_cast<Lane*>(argument);
  prctl(PR_SET_NAME, lane.name == PoolLane::kFiles ? "nephrite-files" : "nephrite-wait");
  lane.state->work(lane);
  return nullptr;
}

BlockingPool::BlockingPool() : state_(new State()) {}

BlockingPool& BlockingPool::shared() {
  static BlockingPool* const pool = [] {
    static BlockingPool instance;
    // Threads do not survive fork(2): a child starts with empty lanes of its own. What was queued
    // belongs to pollers that the child does not have.
    pthread_atfork(nullptr, nullptr, [] { instance.state_ = new State(); });
    return &instance;
  }();
  return *pool;
}

void BlockingPool::submit(PoolLane lane, Operation* operation,
                          const std::shared_ptr<PoolClient>& client) {
  operation->next = nullptr;
  submit_batch(lane, operation, client);
}

void BlockingPool::submit_batch(PoolLane name, Operation* list,
                                const std::shared_ptr<PoolClient>& client) {
  State::Lane& lane = state_->lane(name);
  State::Call call = State::Call::kNone;
  {
    const Lock lock(state_->mutex);
    if (client->self == nullptr) client->self = client;
    for (Operation* operation = list; operation != nullptr;) {
      Operation* const next = operation->next;
      PoolJob::create(*operation, name, client.get());
      lane.queue.append(operation);
      client->queued_count++;
      operation = next;
    }
    call = state_->call_thread(lane);
  }
  state_->carry_out(call, lane);
}

bool BlockingPool::cancel(Operation* operation) {
  std::shared_ptr<PoolClient> released;
  State::Call call = State::Call::kNone;
  State::Lane& may_wait = state_->lane(PoolLane::kMayWait);
  {
    const Lock lock(state_->mutex);
    PoolJob& job = PoolJob::of(*operation);
    if (job.state == PoolJob::State::kQueued) {
      state_->lane(job.lane).queue.unlink(operation);
      job.state = PoolJob::State::kFinished;
      operation->is_classified = false;
      job.client->queued_count--;
      released = release_if_idle(job.client);
      return true;
    }
    if (job.state == PoolJob::State::kRunning && job.lane == PoolLane::kMayWait &&
        !job.is_abandoned && !job.client->is_gone) {
      job.is_abandoned = true;
      job.client->occupied_count--;
      may_wait.abandoned_count++;
      call = state_->call_thread(may_wait);
    }
  }
  state_->carry_out(call, may_wait);
  return false;
}

Operation* BlockingPool::cancel_all(PoolClient& client) {
  std::shared_ptr<PoolClient> released;
  Operation* list = nullptr;
  State::Lane& may_wait = state_->lane(PoolLane::kMayWait);
  State::Call call = State::Call::kNone;
  {
    const Lock lock(state_->mutex);
    for (State::Lane& lane : state_->lanes) {
      for (Operation* operation = lane.queue.head; operation != nullptr;) {
        Operation* const next = operation->next;
        PoolJob& job = PoolJob::of(*operation);
        if (job.client == &client) {
          lane.queue.unlink(operation);
          job.state = PoolJob::State::kFinished;
          operation->is_classified = false;
          client.queued_count--;
          operation->next = list;
          list = operation;
        }
        operation = next;
      }
    }
    // Its threads that wait in a call may never come back: others must not go without.
    may_wait.abandoned_count += std::exchange(client.occupied_count, 0);
    client.is_gone = true;
    call = state_->call_thread(may_wait);
    released = release_if_idle(&client);
  }
  state_->carry_out(call, may_wait);
  return list;
}

std::uint32_t BlockingPool::running_count(const PoolClient& client, PoolLane lane) const {
  const Lock lock(state_->mutex);
  return client.running_count[static_cast<std::size_t>(lane)];
}

void BlockingPool::set_thread_limit(PoolLane name, std::uint32_t limit) {
  CHECK_LT(0u, limit);
  CHECK_LE(limit, kThreadLimitMax);
  State::Lane& lane = state_->lane(name);
  State::Call call = State::Call::kNone;
  {
    const Lock lock(state_->mutex);
    lane.limit = limit;
    call = state_->call_thread(lane);
  }
  state_->carry_out(call, lane);
}

std::uint32_t BlockingPool::thread_count(PoolLane name) const {
  const Lock lock(state_->mutex);
  return state_->lane(name).thread_count;
}

}  // namespace nephrite
