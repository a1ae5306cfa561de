// Pool job: what a blocking pool notes about one operation, inside the operation's own storage.
// Owner: blocking_pool.cc, under the pool's mutex, from submit until the operation is drained.
// Invariant: it uses the last words of Operation::storage; the first ones stay the backend's.
#pragma once

#include <new>

#include "backend/blocking_pool.h"

namespace nephrite {

struct PoolJob {
  enum class State : std::uint8_t { kQueued, kRunning, kFinished };
  PoolClient* client;
  PoolLane lane;
  State state;
  bool is_abandoned;

  static constexpr std::size_t kStorageIndex = 4;
  static PoolJob& of(Operation& operation) {
    return *std::launder(reinterpret_cast<PoolJob*>(&operation.storage[kStorageIndex]));
  }
  static void create(Operation& operation, PoolLane lane, PoolClient* client) {
    new (&operation.storage[kStorageIndex]) PoolJob{client, lane, State::kQueued, false};
  }
};
static_assert(sizeof(PoolJob) <= sizeof(Operation::storage) - PoolJob::kStorageIndex * 8);

}  // namespace nephrite
