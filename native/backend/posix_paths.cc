// Path operations as blocking POSIX calls, with the results that Node's own fs gives. See
// posix_paths.h.
#include "backend/posix_paths.h"

#include <sys/sysmacros.h>

#include <bit>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "backend/local_devices.h"
#include "backend/posix_call.h"
#include "backend/posix_ops.h"
#include "base/unique_fd.h"

namespace nephrite {

namespace posix {

namespace {

int open_flags_of(const Operation& operation) {
  return static_cast<int>(operation.entry.argument0) | O_CLOEXEC |
         (operation.no_follow() ? O_NOFOLLOW : 0);
}

int follow_flags_of(const Operation& operation) {
  return operation.no_follow() ? AT_SYMLINK_NOFOLLOW : 0;
}

// The answer of stat(2), for kernels and sandboxes without statx. As libuv does, the time of birth
// is the time of change there, and the mask says that it is not known.
std::int32_t stat_without_statx(int fd, const char* path, int flags, abi::StatRecord* record) {
  struct stat status {};
  const std::int32_t error =
      retry_interrupted([&] { return syscall(SYS_newfstatat, fd, path, &status, flags); });
  if (error < 0) return error;
  const auto to_time = [](const timespec& time) {
    return abi::StatRecord::Time{time.tv_sec, static_cast<std::uint32_t>(time.tv_nsec), 0};
  };
  *record = {};
  record->mask = kStatMask & ~0x800u;
  record->blksize = static_cast<std::uint32_t>(status.st_blksize);
  record->nlink = static_cast<std::uint32_t>(status.st_nlink);
  record->uid = status.st_uid;
  record->gid = status.st_gid;
  record->mode = static_cast<std::uint16_t>(status.st_mode);
  record->ino = status.st_ino;
  record->size = static_cast<std::uint64_t>(status.st_size);
  record->blocks = static_cast<std::uint64_t>(status.st_blocks);
  record->atime = to_time(status.st_atim);
  record->mtime = to_time(status.st_mtim);
  record->ctime = record->btime = to_time(status.st_ctim);
  record->rdev_major = major(status.st_rdev);
  record->rdev_minor = minor(status.st_rdev);
  record->dev_major = major(status.st_dev);
  record->dev_minor = minor(status.st_dev);
  return 0;
}

// Seconds to timespec as libuv 1.x does it, so that a file stamped through us and one stamped
// through node:fs compare equal: cut to microseconds towards zero, infinity = now, NaN = keep.
bool to_timespec(double seconds, timespec* time) {
  constexpr double kSecondsMax = 9.2e18;
  *time = {};
  if (std::isnan(seconds)) {
    time->tv_nsec = UTIME_OMIT;
    return true;
  }
  if (std::isinf(seconds)) {
    time->tv_nsec = UTIME_NOW;
    return true;
  }
  if (seconds >= kSecondsMax || seconds <= -kSecondsMax) return false;
  time->tv_sec = static_cast<time_t>(seconds);
  time->tv_nsec = static_cast<long>((seconds - static_cast<double>(time->tv_sec)) * 1e9);
  time->tv_nsec -= time->tv_nsec % 1000;
  if (time->tv_nsec < 0) {
    time->tv_nsec += 1'000'000'000;
    time->tv_sec -= 1;
  }
  return true;
}

}  // namespace

std::int32_t look_at(int fd, std::uint32_t mask, abi::StatRecord* record) {
  const std::int32_t result =
      statx_raw(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, mask | kMountIdUniqueMask, record);
  return is_statx_absent(result) ? stat_without_statx(fd, "", AT_EMPTY_PATH, record) : result;
}

std::int32_t run_open(Operation& operation) {
  operation.result_flags = 0;
  const int flags = open_flags_of(operation);
  const std::int32_t fd = retry_interrupted(
      [&] { return ::openat(AT_FDCWD, operation.path, flags, operation.entry.argument1); });
  if (fd < 0) return fd;
  abi::StatRecord record{};
  if (look_at(fd, kTypeMask | kSizeMask, &record) == 0) {
    learn_locality(fd, record);
    operation.result_flags = open_flags_for(record, locality_of(record));
  }
  return fd;
}

std::int32_t run_stat(Operation& operation) {
  const bool has_path = operation.path != nullptr;
  if (!has_path && operation.entry.fd < 0) return -EBADF;  // AT_FDCWD is negative
  const int fd = has_path ? AT_FDCWD : operation.entry.fd;
  const char* const path = has_path ? operation.path : "";
  const int flags = has_path ? follow_flags_of(operation) : AT_EMPTY_PATH;
  const std::uint32_t mask = kStatMask | kMountIdUniqueMask | (has_path ? 0 : kDirectAlignMask);
  const std::int32_t result = statx_raw(fd, path, flags, mask, operation.stat);
  if (is_statx_absent(result)) {
    return stat_without_statx(fd, path, flags, operation.stat);
  }
  if (result < 0) return result;
  if (!has_path) {
    learn_locality(fd, *operation.stat);
  } else if (locality_of(*operation.stat) == Locality::kUnknown) {
    const UniqueFd handle(
        ::open(path, O_PATH | O_CLOEXEC | (operation.no_follow() ? O_NOFOLLOW : 0)));
    abi::StatRecord opened{};
    if (handle.valid() && statx_raw(handle.get(), "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
                                    kTypeMask | kMountIdUniqueMask, &opened) == 0) {
      learn_locality(handle.get(), opened);
    }
  }
  return 0;
}

std::int32_t run_utimes(const Operation& operation) {
  timespec times[2];
  const double accessed = std::bit_cast<double>(operation.entry.value0);
  const double modified = std::bit_cast<double>(operation.entry.offset);
  if (!to_timespec(accessed, &times[0]) || !to_timespec(modified, &times[1])) return -EINVAL;
  return retry_interrupted([&] {
    return operation.path != nullptr
               ? ::utimensat(AT_FDCWD, operation.path, times, follow_flags_of(operation))
               : ::futimens(operation.entry.fd, times);
  });
}

std::int32_t run_chmod(const Operation& operation) {
  const mode_t mode = operation.entry.argument1;
  return retry_interrupted([&] {
    return operation.path != nullptr
               ? ::fchmodat(AT_FDCWD, operation.path, mode, follow_flags_of(operation))
               : ::fchmod(operation.entry.fd, mode);
  });
}

std::int32_t run_chown(const Operation& operation) {
  const uid_t uid = operation.entry.argument0;
  const gid_t gid = operation.entry.argument1;
  return retry_interrupted([&] {
    return operation.path != nullptr
               ? ::fchownat(AT_FDCWD, operation.path, uid, gid, follow_flags_of(operation))
               : ::fchown(operation.entry.fd, uid, gid);
  });
}

std::int32_t run_readlink(const Operation& operation) {
  const std::uint32_t bytes = operation.entry.buffer_bytes;
  const std::int32_t result = retry_interrupted(
      [&] { return ::readlink(operation.path, reinterpret_cast<char*>(operation.buffer), bytes); });
  // A full buffer may hold a cut target, and there is no way to tell.
  return result >= 0 && static_cast<std::uint32_t>(result) == bytes ? -ENAMETOOLONG : result;
}

std::int32_t run_realpath(const Operation& operation) {
  // A private copy: realpath(3) scans the path in this process, and its bytes lie in memory that
  // JavaScript can still write.
  char path[PATH_MAX];
  char resolved[PATH_MAX];
  const std::size_t length = operation.entry.path_bytes;
  if (length >= sizeof path) return -ENAMETOOLONG;
  std::memcpy(path, operation.path, length);
  path[length] = '\0';
  const std::int32_t error =
      retry_interrupted([&] { return ::realpath(path, resolved) != nullptr ? 0 : -1; });
  if (error < 0) return error;
  const std::size_t bytes = std::strlen(resolved);
  if (bytes > operation.entry.buffer_bytes) return -ENAMETOOLONG;
  std::memcpy(operation.buffer, resolved, bytes);
  return static_cast<std::int32_t>(bytes);
}

}  // namespace posix

bool open_may_wait(const Operation& operation) {
  const int flags = posix::open_flags_of(operation);
  const UniqueFd handle(posix::retry_interrupted([&] {
    return ::openat(AT_FDCWD, operation.path, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW));
  }));
  if (!handle.valid()) return false;  // the real open says why, or creates it
  abi::StatRecord record{};
  if (posix::look_at(handle.get(), posix::kTypeMask, &record) < 0) return false;
  return posix::kind_may_wait(record, operation.entry.argument0);
}

}  // namespace nephrite
