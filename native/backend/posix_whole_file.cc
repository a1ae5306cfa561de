// Whole files in one call on a pool thread. See posix_whole_file.h.
#include "backend/posix_whole_file.h"

#include <sys/uio.h>

#include "backend/posix_call.h"
#include "base/unique_fd.h"

namespace nephrite {

namespace {

constexpr std::int32_t kStepByStep = -EAGAIN;

// Failures that say nothing about the file: a filter that knows no statx, descriptors or memory
// that ran out, an interruption, somebody's lease.
bool is_undecided(std::int32_t error) {
  switch (error) {
    case -ENOSYS:
    case -EPERM:
    case -EOPNOTSUPP:
    case -EMFILE:
    case -ENFILE:
    case -ENOMEM:
    case -EINTR:
    case -EAGAIN:
      return true;
    default:
      return false;
  }
}

std::int32_t failure(std::int32_t error) {
  return is_undecided(error) ? kStepByStep : error;
}

bool is_small_file(const abi::StatRecord& record, const Operation& operation) {
  return posix::kind_of(record) == posix::kKindRegular && record.size > 0 &&
         record.size <= operation.entry.buffer_bytes;
}

}  // namespace

std::int32_t run_read_file(Operation& operation) {
  abi::StatRecord record{};
  // Looked at before it is opened: opening a FIFO or a device has effects.
  const std::int32_t error =
      posix::statx_raw(AT_FDCWD, operation.path, 0, posix::kTypeMask | posix::kSizeMask, &record);
  if (error < 0) return failure(error);
  if (!is_small_file(record, operation)) return kStepByStep;
  // O_NONBLOCK: should it be a FIFO by now, the open does not wait and the read comes up short.
  const std::int32_t fd = posix::retry_interrupted([&] {
    return ::openat(AT_FDCWD, operation.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  });
  if (fd < 0) return failure(fd);
  const UniqueFd file(fd);
  // Looked at again: the name may mean another, larger file by now, of which this would be a part.
  if (posix::look_at(fd, posix::kTypeMask | posix::kSizeMask, &record) < 0 ||
      !is_small_file(record, operation)) {
    return kStepByStep;
  }
  iovec buffer{operation.buffer, static_cast<std::size_t>(record.size)};
  const ssize_t bytes = ::preadv2(fd, &buffer, 1, 0, RWF_NOWAIT);
  // Short: not in the cache, or it has changed since. As Node, a file is read to the size it had.
  return bytes == static_cast<ssize_t>(record.size) ? static_cast<std::int32_t>(bytes)
                                                    : kStepByStep;
}

}  // namespace nephrite
