// System calls as this folder makes them: a result >= 0 or a negative errno, EINTR retried.
// Owner: none, stateless. Linux only; fills abi::StatRecord, which is the kernel's struct statx.
// Not here: what an operation does with them (posix_ops.cc, posix_paths.cc, posix_inline.cc).
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "abi/layout.h"

namespace nephrite::posix {

// What a stat asks for (libuv asks for the same).
inline constexpr std::uint32_t kStatMask = 0xfff;  // STATX_BASIC_STATS | STATX_BTIME
// Alignment of O_DIRECT, for stats of descriptors only: who gets EINVAL asks (transfer.ts). Kernel
// 6.1; ignored before.
inline constexpr std::uint32_t kDirectAlignMask = 0x2000;  // STATX_DIOALIGN
inline constexpr std::uint32_t kTypeMask = 0x1;            // STATX_TYPE
inline constexpr std::uint32_t kSizeMask = 0x200;          // STATX_SIZE
inline constexpr std::uint32_t kLinkCountMask = 0x4;       // STATX_NLINK
// Names a mount for ever, where mount ids and anonymous device numbers are reused. Kernel 6.8;
// older ones leave the bit out of the answer's mask.
inline constexpr std::uint32_t kMountIdUniqueMask = 0x4000;

template <typename Call>
std::int32_t retry_interrupted(Call call) {
  for (;;) {
    const auto result = call();
    if (result >= 0) return static_cast<std::int32_t>(result);
    if (errno != EINTR) return -errno;
  }
}

// statx(2) itself, without the C library's emulation: the caller sees ENOSYS.
inline std::int32_t statx_raw(int fd, const char* path, int flags, std::uint32_t mask,
                              abi::StatRecord* record) {
  return retry_interrupted([&] { return syscall(SYS_statx, fd, path, flags, mask, record); });
}

// True for answers that mean "no such system call here": before 4.11, or a sandbox that predates
// it. stat(2) itself gives none of them.
inline bool is_statx_absent(std::int32_t error) {
  return error == -ENOSYS || error == -EPERM || error == -EOPNOTSUPP;
}

// Type and device numbers of an open file, without asking a server if that can be had.
std::int32_t look_at(int fd, std::uint32_t mask, abi::StatRecord* record);

inline std::uint32_t kind_of(const abi::StatRecord& record) {
  return record.mode >> 12;
}
inline constexpr std::uint32_t kKindFifo = S_IFIFO >> 12;
inline constexpr std::uint32_t kKindCharacter = S_IFCHR >> 12;
inline constexpr std::uint32_t kKindDirectory = S_IFDIR >> 12;
inline constexpr std::uint32_t kKindBlock = S_IFBLK >> 12;
inline constexpr std::uint32_t kKindRegular = S_IFREG >> 12;
inline constexpr std::uint32_t kKindLink = S_IFLNK >> 12;
inline constexpr std::uint32_t kKindSocket = S_IFSOCK >> 12;

// True when open(2) of such a file may wait for another process. O_RDWR on a FIFO does not wait on
// Linux, neither does O_NONBLOCK; of the devices only those of memory (null, zero, full, random,
// urandom: major 1) are known not to.
inline bool kind_may_wait(const abi::StatRecord& record, std::uint32_t open_flags) {
  constexpr std::uint32_t kMemoryDevices = 1;
  if ((open_flags & O_PATH) != 0) return false;
  switch (kind_of(record)) {
    case kKindFifo:
      return (open_flags & O_NONBLOCK) == 0 && (open_flags & O_ACCMODE) != O_RDWR;
    case kKindCharacter:
      return record.rdev_major != kMemoryDevices;
    case kKindBlock:
      return true;
    default:
      return false;
  }
}

}  // namespace nephrite::posix
