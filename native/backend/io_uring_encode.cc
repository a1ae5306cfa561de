// Encoding of operations as io_uring entries. See io_uring_encode.h.
#include "backend/io_uring_encode.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include "base/check.h"

namespace nephrite::uring {

namespace {

std::uint64_t address(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

// Alignment of O_DIRECT; newer than some C libraries' headers. Kernels before 6.1 ignore it.
constexpr std::uint32_t kStatxDioAlign = 0x2000;

void encode_stat(const Operation& operation, Sqe& sqe) {
  sqe.fd = operation.path != nullptr ? AT_FDCWD : operation.entry.fd;
  sqe.addr = address(operation.path != nullptr ? operation.path : "");
  sqe.len = STATX_BASIC_STATS | STATX_BTIME | (operation.path == nullptr ? kStatxDioAlign : 0);
  sqe.off = address(operation.stat);
  sqe.op_flags = operation.path == nullptr ? AT_EMPTY_PATH
                 : operation.no_follow()   ? AT_SYMLINK_NOFOLLOW
                                           : 0;
}

// Two paths relative to the working directory.
void encode_two_paths(const Operation& operation, Sqe& sqe) {
  sqe.fd = AT_FDCWD;
  sqe.addr = address(operation.path);
  sqe.off = address(operation.path2);
  sqe.len = static_cast<std::uint32_t>(AT_FDCWD);
}

}  // namespace

Op opcode_for(const Operation& operation) {
  switch (operation.opcode()) {
    case abi::Opcode::kRead:
      return Op::kRead;
    case abi::Opcode::kWrite:
      return Op::kWrite;
    case abi::Opcode::kSync:
      return Op::kFsync;
    case abi::Opcode::kOpen:
      return Op::kOpenat;
    case abi::Opcode::kClose:
      return Op::kClose;
    case abi::Opcode::kStat:
      return Op::kStatx;
    case abi::Opcode::kRename:
      return Op::kRenameat;
    case abi::Opcode::kUnlink:
      return Op::kUnlinkat;
    case abi::Opcode::kMkdir:
      return Op::kMkdirat;
    case abi::Opcode::kLink:
      return Op::kLinkat;
    case abi::Opcode::kSymlink:
      return Op::kSymlinkat;
    case abi::Opcode::kTruncate:
      return Op::kFtruncate;
    case abi::Opcode::kAllocate:
      return Op::kFallocate;
    default:
      return Op::kNop;
  }
}

void encode(const Operation& operation, Sqe& sqe) {
  const abi::SubmissionEntry& entry = operation.entry;
  sqe.opcode = static_cast<std::uint8_t>(opcode_for(operation));
  sqe.user_data = operation.user_data();
  sqe.fd = entry.fd;
  switch (operation.opcode()) {
    case abi::Opcode::kRead:
    case abi::Opcode::kWrite:
      sqe.addr = address(operation.buffer);
      sqe.len = entry.buffer_bytes;
      sqe.off = static_cast<std::uint64_t>(entry.offset);  // -1: the file position (RW_CUR_POS)
      return;
    case abi::Opcode::kSync:
      sqe.op_flags = entry.argument0 == 1 ? kFsyncDatasync : 0;
      return;
    case abi::Opcode::kOpen:
      sqe.fd = AT_FDCWD;
      sqe.addr = address(operation.path);
      sqe.len = entry.argument1;
      sqe.op_flags = entry.argument0 | O_CLOEXEC | (operation.no_follow() ? O_NOFOLLOW : 0u);
      return;
    case abi::Opcode::kClose:
      return;
    case abi::Opcode::kStat:
      return encode_stat(operation, sqe);
    case abi::Opcode::kRename:
      return encode_two_paths(operation, sqe);
    case abi::Opcode::kUnlink:
      sqe.fd = AT_FDCWD;
      sqe.addr = address(operation.path);
      sqe.op_flags = entry.argument0 == 1 ? AT_REMOVEDIR : 0;
      return;
    case abi::Opcode::kMkdir:
      sqe.fd = AT_FDCWD;
      sqe.addr = address(operation.path);
      sqe.len = entry.argument1;
      return;
    case abi::Opcode::kLink:
      return encode_two_paths(operation, sqe);
    case abi::Opcode::kSymlink:  // symlinkat(target, dirfd, link): the link's name is the second
      sqe.fd = AT_FDCWD;
      sqe.addr = address(operation.path);
      sqe.off = address(operation.path2);
      return;
    case abi::Opcode::kTruncate:
      sqe.off = entry.value0;
      return;
    case abi::Opcode::kAllocate:
      sqe.off = static_cast<std::uint64_t>(entry.offset);
      sqe.addr = entry.value0;
      sqe.len = entry.argument0;
      return;
    default:
      CHECK(false);
  }
}

void encode_wait_ready(const Operation& operation, Sqe& sqe) {
  sqe.opcode = static_cast<std::uint8_t>(Op::kPollAdd);
  sqe.user_data = operation.user_data();
  sqe.fd = operation.entry.fd;
  sqe.op_flags = operation.opcode() == abi::Opcode::kWrite ? POLLOUT : POLLIN;
}

}  // namespace nephrite::uring
