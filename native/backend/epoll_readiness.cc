// Epoll backend, the part that waits: one attempt without blocking, epoll registrations, and
// serving what is ready in order. See epoll.h; who is routed here is decided in epoll.cc.
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "backend/epoll.h"
#include "backend/posix_call.h"
#include "backend/posix_ops.h"

namespace nephrite {

namespace {

constexpr int kEventCount = 128;  // per epoll_wait; what is left is reported by the next one
// Ready but empty again (another reader was faster): so many waits before a pool thread decides.
constexpr std::uint8_t kReadyCountMax = 200;

}  // namespace

// One attempt that cannot block. kMayBlock: the descriptor is a blocking one and its driver knows
// no RWF_NOWAIT (terminals, pipes before 6.4), so only a pool thread may try, once it is ready.
EpollBackend::Transfer EpollBackend::transfer(Operation& operation, std::int32_t* result) {
  const abi::SubmissionEntry& entry = operation.entry;
  const bool is_write = operation.opcode() == abi::Opcode::kWrite;
  iovec buffer{operation.buffer, entry.buffer_bytes};
  counters_.syscall_count++;
  std::int32_t outcome = posix::retry_interrupted([&] {
    return is_write ? ::pwritev2(entry.fd, &buffer, 1, entry.offset, RWF_NOWAIT)
                    : ::preadv2(entry.fd, &buffer, 1, entry.offset, RWF_NOWAIT);
  });
  if (outcome == -EOPNOTSUPP || outcome == -ENOSYS || outcome == -EPERM) {
    counters_.syscall_count++;
    const int flags = ::fcntl(entry.fd, F_GETFL);
    if (flags >= 0 && (flags & O_NONBLOCK) == 0) {
      // A writable pipe takes so much without waiting; with more the thread would sit in write(2)
      // until somebody reads, and neither a cancel nor a close could end it.
      if (is_write) {
        operation.entry.buffer_bytes = std::min<std::uint32_t>(entry.buffer_bytes, PIPE_BUF);
      }
      return Transfer::kMayBlock;
    }
    counters_.syscall_count++;
    outcome = run_blocking(operation);
  }
  if (outcome == -EAGAIN) return Transfer::kNotReady;
  *result = outcome;
  return Transfer::kDone;
}

void EpollBackend::wait(Operation& operation) {
  const std::int32_t fd = operation.entry.fd;
  waits_.add(operation, direction_of(operation));
  operation.stage = kWaiting;
  arm_or_give_up(fd);
}

void EpollBackend::stop_waiting(Operation& operation) {
  waits_.remove(operation, direction_of(operation));
  operation.stage = kStarted;
}

// One-shot: a descriptor that nobody waits on any more cannot wake the loop again and again. The
// registration stays, disarmed, until the descriptor is closed.
bool EpollBackend::arm(WaitTable::Watch& watch, std::int32_t* error) {
  const bool wants_in = watch.has(Direction::kIn) && !watch.is_lent(Direction::kIn);
  const bool wants_out = watch.has(Direction::kOut) && !watch.is_lent(Direction::kOut);
  if (!wants_in && !wants_out) return true;
  epoll_event event{};
  event.events = EPOLLONESHOT;
  if (wants_in) event.events |= EPOLLIN | EPOLLRDHUP;
  if (wants_out) event.events |= EPOLLOUT;
  event.data.u64 =
      static_cast<std::uint64_t>(watch.generation) << 32 | static_cast<std::uint32_t>(watch.fd);
  int action = watch.is_registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  for (int attempt = 0; attempt < 3; attempt++) {
    counters_.syscall_count++;
    if (::epoll_ctl(epoll_fd_.get(), action, watch.fd, &event) == 0) {
      watch.is_registered = true;
      return true;
    }
    *error = -errno;
    // Registered by an earlier watch; or closed and opened anew by somebody else meanwhile.
    if (errno == EEXIST) {
      action = EPOLL_CTL_MOD;
    } else if (errno == ENOENT) {
      action = EPOLL_CTL_ADD;
    } else {
      break;
    }
  }
  return false;
}

// Arms the watch of `fd`. Where that is impossible pool threads do the waiting, one a direction.
void EpollBackend::arm_or_give_up(std::int32_t fd) {
  WaitTable::Watch* watch = waits_.find(fd);
  std::int32_t error = 0;
  if (watch == nullptr || arm(*watch, &error)) return;
  if (error != -EBADF) {
    // EPERM: a device without poll, ready at any time. ENOSPC, ENOMEM: epoll's own limits.
    for (const Direction direction : {Direction::kIn, Direction::kOut}) {
      if (watch->has(direction) && !watch->is_lent(direction)) lend(*watch, direction);
    }
    return;
  }
  for (const Direction direction : {Direction::kIn, Direction::kOut}) {
    while ((watch = waits_.find(fd)) != nullptr && watch->has(direction)) {
      Operation& operation = *watch->first(direction);
      stop_waiting(operation);
      finish(operation, error);
    }
  }
}

void EpollBackend::lend(WaitTable::Watch& watch, Direction direction) {
  submit_waiting_call(waits_.lend(watch, direction), kLent);
}

void EpollBackend::take_back(Operation& operation) {
  waits_.take_back(operation, direction_of(operation));
  operation.stage = kStarted;
}

// `fd` was reported ready: goes through those that wait, in order, until it is not any more.
void EpollBackend::serve(std::int32_t fd, Direction direction) {
  for (;;) {
    // Looked up anew: a completion may have ended the watch.
    WaitTable::Watch* watch = waits_.find(fd);
    if (watch == nullptr || !watch->has(direction) || watch->is_lent(direction)) return;
    Operation& operation = *watch->first(direction);
    std::int32_t result = 0;
    switch (transfer(operation, &result)) {
      case Transfer::kDone:
        stop_waiting(operation);
        finish(operation, result);
        continue;
      case Transfer::kMayBlock:
        lend(*watch, direction);
        return;
      case Transfer::kNotReady:
        if (++operation.retry_count >= kReadyCountMax) lend(*watch, direction);
        return;
    }
  }
}

void EpollBackend::poll_ready(std::int64_t timeout_ns) {
  if (timeout_ns > 0) {
    pollfd ready{epoll_fd_.get(), POLLIN, 0};
    const timespec limit{timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
    counters_.syscall_count++;
    ::ppoll(&ready, 1, &limit, nullptr);  // whatever ends it, epoll_wait says what there is
  }
  epoll_event events[kEventCount];
  counters_.syscall_count++;
  const int count = ::epoll_wait(epoll_fd_.get(), events, kEventCount, 0);
  must_poll_ = count == kEventCount;
  for (int index = 0; index < count; index++) {
    const epoll_event& event = events[index];
    if (event.data.u64 == kInboxEvent) continue;
    const auto fd = static_cast<std::int32_t>(event.data.u64 & 0xffffffff);
    const WaitTable::Watch* watch = waits_.find(fd);
    if (watch == nullptr || watch->generation != event.data.u64 >> 32) continue;
    const bool is_broken = (event.events & (EPOLLERR | EPOLLHUP)) != 0;
    if (is_broken || (event.events & (EPOLLIN | EPOLLRDHUP)) != 0) serve(fd, Direction::kIn);
    if (is_broken || (event.events & EPOLLOUT) != 0) serve(fd, Direction::kOut);
    arm_or_give_up(fd);
  }
}

}  // namespace nephrite
