// What may be done on the poller's own thread, because it cannot block: cached reads, opens and
// stats whose directory entries are cached, closes that neither flush nor delete. See posix_ops.h.
// Owner: process-wide flags of what this kernel (or its seccomp filter) lacks, learned by trying.
// Invariants: whatever is not known to be harmless goes to a pool thread; a wrong guess costs time,
// never a different result. Not here: which file systems are local (local_devices.h).
#include <linux/openat2.h>
#include <sys/uio.h>
#include <sys/utsname.h>

#include <atomic>
#include <cstdio>

#include "backend/local_devices.h"
#include "backend/posix_call.h"
#include "backend/posix_ops.h"
#include "base/unique_fd.h"

namespace nephrite {

namespace {

using posix::retry_interrupted;

constexpr std::uint64_t kResolveCached = 0x20;  // RESOLVE_CACHED, kernel 5.12
constexpr long kOpenat2 = 437;                  // SYS_openat2, the same on every architecture

// Answers of a system call that mean "ask a pool thread", whose own call then decides.
bool is_undecided(std::int32_t error) {
  return error == -EAGAIN || error == -EINTR || error == -EMFILE || error == -ENFILE ||
         error == -ENOMEM;
}

std::int32_t open_cached(const char* path, std::uint64_t flags, std::uint64_t* syscall_count) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = kResolveCached;
  ++*syscall_count;
  const long fd = syscall(kOpenat2, AT_FDCWD, path, &how, sizeof how);
  return fd >= 0 ? static_cast<std::int32_t>(fd) : -errno;
}

// Probed once, with a path that always resolves: afterwards ENOSYS (before 5.6), EINVAL (before
// 5.12) and the EPERM or EACCES of a seccomp filter cannot be mistaken for an answer about a file.
bool has_cached_open() {
  enum : int { kUntried, kAbsent, kPresent };
  static std::atomic<int> state{kUntried};
  int known = state.load(std::memory_order_relaxed);
  if (known == kUntried) {
    std::uint64_t ignored = 0;
    const std::int32_t fd = open_cached("/", O_PATH, &ignored);
    if (fd >= 0) UniqueFd{fd};
    known = fd >= 0 || fd == -EAGAIN ? kPresent : kAbsent;
    // A lack of descriptors or memory says nothing; the next call tries again.
    if (fd >= 0 || !is_undecided(fd)) state.store(known, std::memory_order_relaxed);
  }
  return known == kPresent;
}

// Linux 5.9 and 5.10 answer 0 instead of EAGAIN now and then (preadv2(2), BUGS): there a 0 is
// confirmed by a pool thread.
bool has_false_end() {
  static const bool answer = [] {
    utsname name{};
    unsigned major_version = 0;
    unsigned minor_version = 0;
    if (uname(&name) < 0) return false;
    if (std::sscanf(name.release, "%u.%u", &major_version, &minor_version) != 2) return false;
    return major_version == 5 && (minor_version == 9 || minor_version == 10);
  }();
  return answer;
}

InlineOutcome done(Operation& operation, std::int32_t result) {
  operation.result = result;
  return InlineOutcome::kDone;
}

InlineOutcome try_read(Operation& operation, std::uint64_t* syscall_count) {
  static std::atomic<bool> is_absent{false};
  const abi::SubmissionEntry& entry = operation.entry;
  // preadv2 of nothing gives 0 also for a directory, where read(2) gives EISDIR.
  if (entry.buffer_bytes == 0 || is_absent.load(std::memory_order_relaxed)) {
    return InlineOutcome::kUnknown;
  }
  // -1 is the file's position for preadv2 too; lower ones are an error for pread(2), so not here.
  if (entry.offset < abi::kOffsetPosition) return InlineOutcome::kUnknown;
  iovec buffer{operation.buffer, entry.buffer_bytes};
  ++*syscall_count;
  const ssize_t result = ::preadv2(entry.fd, &buffer, 1, entry.offset, RWF_NOWAIT);
  if (result > 0 || (result == 0 && !has_false_end())) {
    return done(operation, static_cast<std::int32_t>(result));
  }
  if (result == 0) return InlineOutcome::kUnknown;
  switch (errno) {
    case EAGAIN:
    case EINTR:
    case EOPNOTSUPP:  // this file system, or a directory
    case EINVAL:      // possibly O_DIRECT's alignment: read(2) says it
      return InlineOutcome::kUnknown;
    case ENOSYS:
    case EPERM:  // seccomp; no read gives it
      is_absent.store(true, std::memory_order_relaxed);
      return InlineOutcome::kUnknown;
    default:
      return done(operation, -errno);
  }
}

// Attributes without asking a server; only a local file system's are then also current.
std::int32_t peek(int fd, std::uint32_t mask, abi::StatRecord* record,
                  std::uint64_t* syscall_count) {
  ++*syscall_count;
  return posix::statx_raw(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
                          mask | posix::kMountIdUniqueMask, record);
}

std::uint64_t no_follow_flag(const Operation& operation) {
  return operation.no_follow() ? O_NOFOLLOW : 0;
}

// Opens for good what was found to be a file or a directory of a local file system. O_NONBLOCK
// keeps a lease of somebody else (F_SETLEASE, up to 45 s) from blocking this thread; on success it
// is taken off again, since io_uring and others look at it.
InlineOutcome open_local(Operation& operation, std::uint64_t flags, std::uint64_t* syscall_count) {
  const std::int32_t opened = open_cached(operation.path, flags | O_NONBLOCK, syscall_count);
  // Flags that open(2) ignores and openat2(2) does not; replaced by a FIFO since it was looked at.
  if (opened == -EINVAL || opened == -ENXIO) return InlineOutcome::kUnknown;
  if (is_undecided(opened)) return InlineOutcome::kWillNotWait;
  operation.result_flags = 0;
  if (opened < 0) return done(operation, opened);
  UniqueFd fd(opened);
  // Looked at again: the name may mean another file by now, and its size is what will be read.
  abi::StatRecord record{};
  if (peek(fd.get(), posix::kTypeMask | posix::kSizeMask, &record, syscall_count) < 0 ||
      posix::kind_may_wait(record, operation.entry.argument0)) {
    return InlineOutcome::kUnknown;
  }
  if ((flags & (O_NONBLOCK | O_PATH)) == 0) {
    ++*syscall_count;
    const auto status = static_cast<int>(flags & ~std::uint64_t{O_ACCMODE | O_CLOEXEC});
    if (::fcntl(fd.get(), F_SETFL, status) < 0) return InlineOutcome::kWillNotWait;
  }
  operation.result_flags = open_flags_for(record, locality_of(record));
  return done(operation, fd.release());
}

InlineOutcome try_open(Operation& operation, std::uint64_t* syscall_count) {
  operation.is_classified = false;
  if (!has_cached_open()) return InlineOutcome::kUnknown;
  const std::uint64_t flags = operation.entry.argument0 | no_follow_flag(operation);
  const bool may_create = (flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) != 0;
  const bool may_change = may_create || (flags & O_TRUNC) != 0;
  // Looking is done on an O_PATH descriptor: opening a device or a FIFO has effects, this has none.
  const std::int32_t found =
      open_cached(operation.path, O_PATH | (flags & O_NOFOLLOW), syscall_count);
  if (found < 0) {
    if (is_undecided(found)) return InlineOutcome::kUnknown;
    if (!may_create) {
      operation.result_flags = 0;
      return done(operation, found);
    }
    operation.is_classified = true;  // will be created or refused, neither waits
    return InlineOutcome::kWillNotWait;
  }
  const UniqueFd handle(found);
  abi::StatRecord record{};
  const std::int32_t error = peek(found, posix::kTypeMask, &record, syscall_count);
  ++*syscall_count;  // the handle's close
  if (error < 0) return InlineOutcome::kUnknown;
  if (posix::kind_may_wait(record, operation.entry.argument0)) return InlineOutcome::kMayWait;
  const Locality locality = locality_of(record);
  // A device not met before: the pool thread that opens it learns what it is, once.
  if (locality == Locality::kUnknown) return InlineOutcome::kUnknown;
  operation.is_classified = true;
  if (may_change || locality != Locality::kLocal) return InlineOutcome::kWillNotWait;
  const InlineOutcome outcome = open_local(operation, flags, syscall_count);
  if (outcome == InlineOutcome::kUnknown) operation.is_classified = false;
  return outcome;
}

InlineOutcome try_stat(Operation& operation, std::uint64_t* syscall_count) {
  std::int32_t fd = operation.entry.fd;
  UniqueFd handle;
  if (operation.path == nullptr && fd < 0) return done(operation, -EBADF);  // AT_FDCWD is negative
  if (operation.path != nullptr) {
    if (!has_cached_open()) return InlineOutcome::kUnknown;
    fd = open_cached(operation.path, O_PATH | no_follow_flag(operation), syscall_count);
    if (fd < 0) {
      return is_undecided(fd) ? InlineOutcome::kUnknown : done(operation, fd);
    }
    handle.reset(fd);
    ++*syscall_count;
  }
  const std::uint32_t mask =
      posix::kStatMask | (operation.path == nullptr ? posix::kDirectAlignMask : 0);
  const std::int32_t error = peek(fd, mask, operation.stat, syscall_count);
  if (error == -EBADF) return done(operation, error);
  if (error < 0) return InlineOutcome::kUnknown;
  switch (locality_of(*operation.stat)) {
    case Locality::kLocal:
    case Locality::kKernel:
      return done(operation, 0);
    default:
      return InlineOutcome::kUnknown;
  }
}

// close(2) may write back (NFS, FUSE, CIFS), may delete (last descriptor of an unlinked file: the
// extents of a large one take long), may linger (sockets). What is left is closed here: pipes, and
// files and directories of local file systems that still have a name and were not written through
// this descriptor.
InlineOutcome try_close(Operation& operation, std::uint64_t* syscall_count) {
  const int fd = operation.entry.fd;
  abi::StatRecord record{};
  if (peek(fd, posix::kTypeMask | posix::kLinkCountMask, &record, syscall_count) < 0) {
    return InlineOutcome::kUnknown;
  }
  const std::uint32_t kind = posix::kind_of(record);
  if (kind == posix::kKindRegular || kind == posix::kKindDirectory) {
    if (record.nlink == 0 || locality_of(record) != Locality::kLocal) {
      return InlineOutcome::kUnknown;
    }
    ++*syscall_count;
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) != O_RDONLY) return InlineOutcome::kUnknown;
  } else if (kind != posix::kKindFifo) {
    return InlineOutcome::kUnknown;
  }
  ++*syscall_count;
  return done(operation, run_blocking(operation));
}

}  // namespace

InlineOutcome try_without_blocking(Operation& operation, std::uint64_t* syscall_count) {
  switch (operation.opcode()) {
    case abi::Opcode::kRead:
      return try_read(operation, syscall_count);
    case abi::Opcode::kOpen:
      return try_open(operation, syscall_count);
    case abi::Opcode::kStat:
      return try_stat(operation, syscall_count);
    case abi::Opcode::kClose:
      return try_close(operation, syscall_count);
    default:
      return InlineOutcome::kUnknown;
  }
}

}  // namespace nephrite
