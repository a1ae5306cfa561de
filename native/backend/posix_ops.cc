// Blocking POSIX calls for every opcode: dispatch and descriptor operations. See posix_ops.h.
#include "backend/posix_ops.h"

#include <linux/fs.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cstdio>

#include "backend/posix_call.h"
#include "backend/posix_paths.h"
#include "backend/posix_whole_file.h"

namespace nephrite {

namespace {

using posix::retry_interrupted;

// The kernel moves at most this much per call; more would not fit a result either.
constexpr std::uint64_t kTransferBytesMax = 0x7ffff000;

std::int32_t run_read(const Operation& operation) {
  const abi::SubmissionEntry& entry = operation.entry;
  return retry_interrupted([&] {
    return entry.offset == abi::kOffsetPosition
               ? ::read(entry.fd, operation.buffer, entry.buffer_bytes)
               : ::pread(entry.fd, operation.buffer, entry.buffer_bytes, entry.offset);
  });
}

std::int32_t run_write(const Operation& operation) {
  const abi::SubmissionEntry& entry = operation.entry;
  return retry_interrupted([&] {
    return entry.offset == abi::kOffsetPosition
               ? ::write(entry.fd, operation.buffer, entry.buffer_bytes)
               : ::pwrite(entry.fd, operation.buffer, entry.buffer_bytes, entry.offset);
  });
}

std::int32_t run_sync(const Operation& operation) {
  return retry_interrupted([&] {
    return operation.entry.argument0 == 1 ? ::fdatasync(operation.entry.fd)
                                          : ::fsync(operation.entry.fd);
  });
}

// Never retried: on Linux the descriptor is gone also after EINTR, and its number may already
// belong to somebody else. Such a close has succeeded.
std::int32_t run_close(const Operation& operation) {
  if (::close(operation.entry.fd) == 0 || errno == EINTR || errno == EINPROGRESS) return 0;
  return -errno;
}

std::int32_t run_readdir(const Operation& operation) {
  return retry_interrupted([&] {
    return syscall(SYS_getdents64, operation.entry.fd, operation.buffer,
                   operation.entry.buffer_bytes);
  });
}

// copy_file_range(2) answers 0 not only at the end of the source: files whose size the kernel does
// not know (procfs, sysfs before 5.19) copy as empty. True when 0 can be believed.
bool is_at_end(int fd) {
  abi::StatRecord record{};
  if (posix::statx_raw(fd, "", AT_EMPTY_PATH, posix::kStatMask, &record) < 0) return false;
  if (posix::kind_of(record) != posix::kKindRegular || record.size == 0) return false;
  const off_t position = ::lseek(fd, 0, SEEK_CUR);
  return position >= 0 && static_cast<std::uint64_t>(position) >= record.size;
}

std::int32_t run_copy_range(const Operation& operation) {
  const int source = operation.entry.fd;
  const int target = static_cast<int>(operation.entry.argument0);
  const auto bytes = static_cast<std::size_t>(std::min(operation.entry.value0, kTransferBytesMax));
  const std::int32_t result = retry_interrupted(
      [&] { return ::copy_file_range(source, nullptr, target, nullptr, bytes, 0); });
  // The caller copies by read and write when it sees an error of this family.
  return result == 0 && bytes > 0 && !is_at_end(source) ? -EOPNOTSUPP : result;
}

std::int32_t run_clone(const Operation& operation) {
  return retry_interrupted([&] {
    return ::ioctl(static_cast<int>(operation.entry.argument0), FICLONE, operation.entry.fd);
  });
}

std::int32_t run_allocate(const Operation& operation) {
  const abi::SubmissionEntry& entry = operation.entry;
  return retry_interrupted([&] {
    return ::fallocate(entry.fd, static_cast<int>(entry.argument0), entry.offset,
                       static_cast<off_t>(entry.value0));
  });
}

std::int32_t run_truncate(const Operation& operation) {
  return retry_interrupted(
      [&] { return ::ftruncate(operation.entry.fd, static_cast<off_t>(operation.entry.value0)); });
}

std::int32_t run_unlink(const Operation& operation) {
  const int flags = operation.entry.argument0 == 1 ? AT_REMOVEDIR : 0;
  return retry_interrupted([&] { return ::unlinkat(AT_FDCWD, operation.path, flags); });
}

}  // namespace

std::int32_t run_blocking(Operation& operation) {
  const abi::SubmissionEntry& entry = operation.entry;
  const char* const path = operation.path;
  const char* const path2 = operation.path2;
  switch (operation.opcode()) {
    case abi::Opcode::kNop:
      return 0;
    case abi::Opcode::kRead:
      return run_read(operation);
    case abi::Opcode::kWrite:
      return run_write(operation);
    case abi::Opcode::kSync:
      return run_sync(operation);
    case abi::Opcode::kOpen:
      return posix::run_open(operation);
    case abi::Opcode::kClose:
      return run_close(operation);
    case abi::Opcode::kStat:
      return posix::run_stat(operation);
    case abi::Opcode::kRename:
      return retry_interrupted([&] { return ::rename(path, path2); });
    case abi::Opcode::kUnlink:
      return run_unlink(operation);
    case abi::Opcode::kMkdir:
      return retry_interrupted([&] { return ::mkdir(path, entry.argument1); });
    case abi::Opcode::kLink:
      return retry_interrupted([&] { return ::link(path, path2); });
    case abi::Opcode::kSymlink:
      return retry_interrupted([&] { return ::symlink(path, path2); });
    case abi::Opcode::kReadlink:
      return posix::run_readlink(operation);
    case abi::Opcode::kTruncate:
      return run_truncate(operation);
    case abi::Opcode::kUtimes:
      return posix::run_utimes(operation);
    case abi::Opcode::kChmod:
      return posix::run_chmod(operation);
    case abi::Opcode::kChown:
      return posix::run_chown(operation);
    case abi::Opcode::kAccess:
      return retry_interrupted([&] { return ::access(path, static_cast<int>(entry.argument0)); });
    case abi::Opcode::kReaddir:
      return run_readdir(operation);
    case abi::Opcode::kRealpath:
      return posix::run_realpath(operation);
    case abi::Opcode::kCopyRange:
      return run_copy_range(operation);
    case abi::Opcode::kClone:
      return run_clone(operation);
    case abi::Opcode::kReadFile:
      return run_read_file(operation);
    case abi::Opcode::kAllocate:
      return run_allocate(operation);
    case abi::Opcode::kCancel:  // the poller's own
    case abi::Opcode::kCount:
      break;
  }
  return -EINVAL;
}

}  // namespace nephrite
