// Prints lib/abi/layout.ts from the compiled truth: sizeof, offsetof and the constants of layout.h.
// Owner: the build; run by scripts/generate_layout.js, never at run time.
// Not here: any number written by hand; each value below is taken from the header.
#include <cstdio>

#include "abi/layout.h"

using namespace nephrite::abi;

namespace {

void constant(const char* name, unsigned long long value) {
  std::printf("export const %s = %llu\n", name, value);
}

void field(const char* name, std::size_t offset, std::size_t bytes) {
  std::printf("export const %s_OFFSET = %zu\n", name, offset);
  std::printf("export const %s_INDEX = %zu // in %zu-byte elements\n", name, offset / bytes, bytes);
}

#define FIELD(prefix, type, member) \
  field(prefix, offsetof(type, member), sizeof(static_cast<type*>(nullptr)->member))

void opcodes() {
  static const struct {
    const char* name;
    Opcode value;
  } kOpcodes[] = {
      {"NOP", Opcode::kNop},
      {"READ", Opcode::kRead},
      {"WRITE", Opcode::kWrite},
      {"SYNC", Opcode::kSync},
      {"OPEN", Opcode::kOpen},
      {"CLOSE", Opcode::kClose},
      {"STAT", Opcode::kStat},
      {"RENAME", Opcode::kRename},
      {"UNLINK", Opcode::kUnlink},
      {"MKDIR", Opcode::kMkdir},
      {"LINK", Opcode::kLink},
      {"SYMLINK", Opcode::kSymlink},
      {"READLINK", Opcode::kReadlink},
      {"TRUNCATE", Opcode::kTruncate},
      {"UTIMES", Opcode::kUtimes},
      {"CHMOD", Opcode::kChmod},
      {"CHOWN", Opcode::kChown},
      {"ACCESS", Opcode::kAccess},
      {"READDIR", Opcode::kReaddir},
      {"REALPATH", Opcode::kRealpath},
      {"COPY_RANGE", Opcode::kCopyRange},
      {"CLONE", Opcode::kClone},
      {"ALLOCATE", Opcode::kAllocate},
      {"CANCEL", Opcode::kCancel},
      {"READ_FILE", Opcode::kReadFile},
  };
  static_assert(sizeof(kOpcodes) / sizeof(kOpcodes[0]) == static_cast<int>(Opcode::kCount));
  for (const auto& opcode : kOpcodes) {
    std::printf("export const OP_%s = %u\n", opcode.name, static_cast<unsigned>(opcode.value));
  }
  constant("OP_COUNT", static_cast<unsigned>(Opcode::kCount));
}

void constants() {
  constant("MAGIC", kMagic);
  constant("ABI_VERSION", kAbiVersion);
  constant("ENTRY_NO_FOLLOW", kEntryNoFollow);
  constant("ENTRY_HAS_PATH", kEntryHasPath);
  constant("ENTRY_HAS_BUFFER", kEntryHasBuffer);
  constant("COMPLETION_KIND_MASK", kCompletionKindMask);
  constant("COMPLETION_SIZE_SHIFT", kCompletionSizeShift);
  constant("ENTER_SUBMIT", kEnterSubmit);
  constant("ENTER_COLLECT", kEnterCollect);
  constant("STATUS_MORE", kStatusMore);
  constant("STATUS_CORRUPT", kStatusCorrupt);
  constant("SCRATCH_BYTES", kScratchBytes);
  constant("SCRATCH_PATH_OFFSET", kScratchPathOffset);
  constant("SCRATCH_PATH_BYTES", kScratchPathBytes);
  constant("PATH_BYTES_MAX", kPathBytesMax);
  constant("CHUNK_BYTES_MAX", kChunkBytesMax);
  constant("SLOT_CAPACITY_MAX", kSlotCapacityMax);
  constant("ARENA_COUNT_MAX", kArenaCountMax);
  constant("DIRENT_NAME_OFFSET", kDirentNameOffset);
}

void submission() {
  constant("SUBMISSION_BYTES", sizeof(SubmissionEntry));
  FIELD("SUBMISSION_OPCODE", SubmissionEntry, opcode);
  FIELD("SUBMISSION_FLAGS", SubmissionEntry, flags);
  FIELD("SUBMISSION_ARENA", SubmissionEntry, arena);
  FIELD("SUBMISSION_SLOT", SubmissionEntry, slot);
  FIELD("SUBMISSION_GENERATION", SubmissionEntry, generation);
  FIELD("SUBMISSION_FD", SubmissionEntry, fd);
  FIELD("SUBMISSION_POSITION", SubmissionEntry, offset);
  FIELD("SUBMISSION_BUFFER_OFFSET", SubmissionEntry, buffer_offset);
  FIELD("SUBMISSION_BUFFER_BYTES", SubmissionEntry, buffer_bytes);
  FIELD("SUBMISSION_PATH_OFFSET", SubmissionEntry, path_offset);
  FIELD("SUBMISSION_PATH_BYTES", SubmissionEntry, path_bytes);
  FIELD("SUBMISSION_PATH2_BYTES", SubmissionEntry, path2_bytes);
  FIELD("SUBMISSION_PATH_ARENA", SubmissionEntry, path_arena);
  FIELD("SUBMISSION_ARGUMENT0", SubmissionEntry, argument0);
  FIELD("SUBMISSION_ARGUMENT1", SubmissionEntry, argument1);
  FIELD("SUBMISSION_VALUE0", SubmissionEntry, value0);
}

void header_and_completion() {
  constant("COMPLETION_BYTES", sizeof(CompletionEntry));
  FIELD("COMPLETION_SLOT", CompletionEntry, slot);
  FIELD("COMPLETION_GENERATION", CompletionEntry, generation);
  FIELD("COMPLETION_RESULT", CompletionEntry, result);
  FIELD("COMPLETION_FLAGS", CompletionEntry, flags);
  constant("HEADER_BYTES", sizeof(Header));
  FIELD("HEADER_MAGIC", Header, magic);
  FIELD("HEADER_ABI_VERSION", Header, abi_version);
  FIELD("HEADER_SUBMISSION_CAPACITY", Header, submission_capacity);
  FIELD("HEADER_COMPLETION_CAPACITY", Header, completion_capacity);
  FIELD("HEADER_SLOT_CAPACITY", Header, slot_capacity);
  FIELD("HEADER_SUBMISSION", Header, submission_offset);
  FIELD("HEADER_COMPLETION", Header, completion_offset);
  FIELD("HEADER_SCRATCH", Header, scratch_offset);
  FIELD("HEADER_SUBMISSION_TAIL", Header, submission_tail);
  FIELD("HEADER_COMPLETION_HEAD", Header, completion_head);
  FIELD("HEADER_UNREFERENCED_COUNT", Header, unreferenced_count);
  FIELD("HEADER_SUBMISSION_HEAD", Header, submission_head);
  FIELD("HEADER_COMPLETION_TAIL", Header, completion_tail);
  FIELD("HEADER_STATUS", Header, status);
  FIELD("HEADER_IN_FLIGHT", Header, in_flight);
  FIELD("HEADER_ENTER_COUNT", Header, enter_count);
  FIELD("HEADER_SYSCALL_COUNT", Header, syscall_count);
  FIELD("HEADER_SUBMISSION_COUNT", Header, submission_count);
  FIELD("HEADER_COMPLETION_COUNT", Header, completion_count);
  FIELD("HEADER_REJECTED_COUNT", Header, rejected_count);
  FIELD("HEADER_INLINE_COUNT", Header, inline_count);
  FIELD("HEADER_POOLED_COUNT", Header, pooled_count);
  FIELD("HEADER_PARK_COUNT", Header, park_count);
}

void stat_and_dirent() {
  constant("STAT_BYTES", sizeof(StatRecord));
  FIELD("STAT_MASK", StatRecord, mask);
  FIELD("STAT_BLKSIZE", StatRecord, blksize);
  FIELD("STAT_NLINK", StatRecord, nlink);
  FIELD("STAT_UID", StatRecord, uid);
  FIELD("STAT_GID", StatRecord, gid);
  FIELD("STAT_MODE", StatRecord, mode);
  FIELD("STAT_INO", StatRecord, ino);
  FIELD("STAT_SIZE", StatRecord, size);
  FIELD("STAT_BLOCKS", StatRecord, blocks);
  FIELD("STAT_ATIME_SEC", StatRecord, atime.sec);
  FIELD("STAT_ATIME_NSEC", StatRecord, atime.nsec);
  FIELD("STAT_BTIME_SEC", StatRecord, btime.sec);
  FIELD("STAT_BTIME_NSEC", StatRecord, btime.nsec);
  FIELD("STAT_CTIME_SEC", StatRecord, ctime.sec);
  FIELD("STAT_CTIME_NSEC", StatRecord, ctime.nsec);
  FIELD("STAT_MTIME_SEC", StatRecord, mtime.sec);
  FIELD("STAT_MTIME_NSEC", StatRecord, mtime.nsec);
  FIELD("STAT_RDEV_MAJOR", StatRecord, rdev_major);
  FIELD("STAT_RDEV_MINOR", StatRecord, rdev_minor);
  FIELD("STAT_DEV_MAJOR", StatRecord, dev_major);
  FIELD("STAT_DEV_MINOR", StatRecord, dev_minor);
  FIELD("STAT_DIO_MEMORY_ALIGN", StatRecord, dio_memory_align);
  FIELD("STAT_DIO_OFFSET_ALIGN", StatRecord, dio_offset_align);
  FIELD("DIRENT_RECORD_BYTES", DirentRecord, record_bytes);
  FIELD("DIRENT_KIND", DirentRecord, kind);
}

}  // namespace

int main() {
  std::puts("// Generated from native/abi/layout.h by native/abi/dump_layout.cc. Do not edit.");
  std::puts(
      "// Regenerate: npm run generate:layout. A test compares this file with the compiled "
      "truth.\n");
  opcodes();
  constants();
  header_and_completion();
  submission();
  stat_and_dirent();
  return 0;
}
