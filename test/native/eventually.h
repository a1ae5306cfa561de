// eventually(): waits for a condition that another thread brings about and announces to nobody.
// False after a time that means never. Owner: none. Not for what has a descriptor to poll.
#pragma once

#include <thread>

#include "base/clock.h"

namespace test {

inline constexpr std::uint64_t kNeverNs = 20'000'000'000;

template <typename Condition>
bool eventually(Condition condition) {
  const std::uint64_t deadline_ns = nephrite::monotonic_now_ns() + kNeverNs;
  while (!condition()) {
    if (nephrite::monotonic_now_ns() > deadline_ns) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace test
