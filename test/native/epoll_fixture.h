// What the epoll tests work on: pipes, pseudo-terminals, and a driver with its counters.
// Owner: the test. Not here: how a driver waits (poller_driver.h).
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "base/unique_fd.h"
#include "poller_driver.h"

namespace test {

using nephrite::UniqueFd;

struct Pipe {
  UniqueFd in;
  UniqueFd out;
  explicit Pipe(int flags = 0) {
    int ends[2];
    CHECK_EQ(::pipe2(ends, O_CLOEXEC | flags), 0);
    in.reset(ends[0]);
    out.reset(ends[1]);
  }
  void put(std::string_view text) const {
    CHECK_EQ(::write(out.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
};

// Both sides of a pseudo-terminal; the near one is what a program has as its input.
struct Terminal {
  UniqueFd far;
  UniqueFd near;
  Terminal() : far(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    char name[64];
    if (!far.valid() || ::grantpt(far.get()) != 0 || ::unlockpt(far.get()) != 0) return;
    if (::ptsname_r(far.get(), name, sizeof name) != 0) return;
    near.reset(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  }
};

struct Epoll : PollerDriver {
  explicit Epoll(std::uint32_t slot_count = 64) : PollerDriver("epoll", slot_count) {
    CHECK_EQ(opened.error, 0);
  }
  std::uint64_t syscalls() const { return poller->backend().counters().syscall_count; }
  std::uint64_t pooled() const { return poller->backend().counters().pooled_count; }
};

}  // namespace test
