// Shared layout: the one source of every byte that TypeScript and C++ both touch.
// lib/abi/layout.ts is generated from this header by dump_layout.cc; a test compares the two.
// Owner: nobody at run time; the memory belongs to the poller (native/backend/memory.h).
// Invariants: sizes and offsets are pinned below; any change raises kAbiVersion.
// Not here: behaviour (ring/, poller/) and kernel structures (backend/).
#pragma once

#include <cstddef>
#include <cstdint>

namespace nephrite::abi {

inline constexpr std::uint32_t kMagic = 0x4e455048;  // "NEPH"
inline constexpr std::uint32_t kAbiVersion = 2;

// Every operation a submission entry can name. Numbers are part of the ABI: append, never reorder.
enum class Opcode : std::uint8_t {
  kNop = 0,
  kRead = 1,        // fd, offset, buffer -> bytes read
  kWrite = 2,       // fd, offset, buffer -> bytes written
  kSync = 3,        // fd, argument0: 1 = data only
  kOpen = 4,        // path, argument0 = open(2) flags, argument1 = mode -> fd (flags: file kind)
  kClose = 5,       // fd, argument0: 1 = cancel what is pending on it first, 0 = wait for it
  kStat = 6,        // path or fd -> StatRecord at the start of the slot's scratch
  kRename = 7,      // path, path2
  kUnlink = 8,      // path, argument0: 1 = directory
  kMkdir = 9,       // path, argument1 = mode
  kLink = 10,       // path, path2
  kSymlink = 11,    // path = target, path2 = new link
  kReadlink = 12,   // path, buffer -> bytes
  kTruncate = 13,   // fd, value0 = length
  kUtimes = 14,     // path or fd, value0/value1 = atime/mtime, seconds as binary64
  kChmod = 15,      // path or fd, argument1 = mode
  kChown = 16,      // path or fd, argument0 = uid, argument1 = gid
  kAccess = 17,     // path, argument0 = mode
  kReaddir = 18,    // fd, buffer -> bytes of DirentRecord; 0 = end
  kRealpath = 19,   // path, buffer -> bytes
  kCopyRange = 20,  // fd -> argument0 (fd), value0 = bytes, both at their file positions -> bytes
  kClone = 21,      // fd -> argument0 (fd): share extents (FICLONE)
  kAllocate = 22,   // fd, offset, value0 = bytes, argument0 = fallocate(2) mode
  kCancel = 23,     // value0 = slot | generation << 32; result 0, -ENOENT or -EALREADY
  kReadFile = 24,   // path, buffer -> content of a small cached regular file, else -EAGAIN
  kCount = 25,
};

// SubmissionEntry.flags
inline constexpr std::uint8_t kEntryNoFollow = 1;   // do not follow a final symbolic link
inline constexpr std::uint8_t kEntryHasPath = 2;    // path names the object, else fd does
inline constexpr std::uint8_t kEntryHasBuffer = 4;  // arena/buffer_offset/buffer_bytes are set

// CompletionEntry.flags of a successful kOpen, as far as the backend came to know it:
// bits 0-3 the file's kind (S_IFMT >> 12), 0 = not known;
// bits 4-31 its size in bytes + 1 when that fits, 0 = not known
inline constexpr std::uint32_t kCompletionKindMask = 0xf;
inline constexpr std::uint32_t kCompletionSizeShift = 4;
inline constexpr std::uint64_t kCompletionSizeMax = (std::uint64_t{1} << 28) - 2;
constexpr std::uint32_t open_flags(std::uint32_t mode, std::uint64_t size_bytes) {
  const std::uint32_t size =
      size_bytes <= kCompletionSizeMax ? static_cast<std::uint32_t>(size_bytes) + 1 : 0;
  return (mode >> 12 & kCompletionKindMask) | size << kCompletionSizeShift;
}

// enter() flags
inline constexpr std::uint32_t kEnterSubmit = 1;   // consume the submission ring
inline constexpr std::uint32_t kEnterCollect = 2;  // collect what has completed (native: always)
// Header.status bits, written by enter()
inline constexpr std::uint32_t kStatusMore = 1;     // left early, a budget was spent: enter again
inline constexpr std::uint32_t kStatusCorrupt = 2;  // cursors out of range, nothing was consumed

// File position instead of an explicit offset, as pread64(2) would not take it.
inline constexpr std::int64_t kOffsetPosition = -1;

struct SubmissionEntry {
  std::uint8_t opcode;
  std::uint8_t flags;
  std::uint16_t arena;  // 0 = the ring memory's scratch, else an arena id
  std::uint32_t slot;
  std::uint32_t generation;
  std::int32_t fd;
  std::int64_t offset;
  std::uint32_t buffer_offset;  // bytes, within the arena
  std::uint32_t buffer_bytes;
  std::uint32_t path_offset;  // bytes, within path_arena; NUL-terminated
  std::uint16_t path_bytes;   // without the NUL
  std::uint16_t path2_bytes;  // the second path follows the first one's NUL
  std::uint16_t path_arena;
  std::uint16_t reserved;
  std::uint32_t argument0;
  std::uint32_t argument1;
  std::uint32_t reserved2;
  std::uint64_t value0;
};
// utimes needs two 64-bit values and no offset: the second one lives in `offset`.

struct CompletionEntry {
  std::uint32_t slot;
  std::uint32_t generation;
  std::int32_t result;  // >= 0 a value, < 0 a negative errno
  std::uint32_t flags;
};

// Cursors are free-running u32, masked at access. One cache line each, by writer.
struct Header {
  std::uint32_t magic;
  std::uint32_t abi_version;
  std::uint32_t submission_capacity;  // power of two
  std::uint32_t completion_capacity;  // power of two, >= slot_capacity: cannot overflow
  std::uint32_t slot_capacity;
  std::uint32_t submission_offset;  // bytes from the start of the ring memory
  std::uint32_t completion_offset;
  std::uint32_t scratch_offset;
  std::uint32_t reserved[8];

  std::uint32_t submission_tail;  // written by TypeScript
  std::uint32_t completion_head;
  std::uint32_t unreferenced_count;  // operations in flight that do not keep the process alive
  std::uint32_t reserved_js[13];

  std::uint32_t submission_head;  // written by the poller
  std::uint32_t completion_tail;
  std::uint32_t status;
  std::uint32_t in_flight;
  std::uint32_t reserved_native[12];

  // Counters, binary64 so that TypeScript reads them without BigInt. Only ever grow.
  double enter_count;
  double syscall_count;     // made by the poller's own thread; a blocking pool's are not counted
  double submission_count;  // entries consumed
  double completion_count;  // entries published
  double rejected_count;    // entries refused by validation
  double inline_count;      // operations done without the ring or the pool
  double pooled_count;      // operations handed to a blocking pool
  double park_count;        // times the poller announced that it waits
};

// The kernel's struct statx, field for field (uapi/linux/stat.h); every backend fills it.
struct StatRecord {
  std::uint32_t mask;
  std::uint32_t blksize;
  std::uint64_t attributes;
  std::uint32_t nlink;
  std::uint32_t uid;
  std::uint32_t gid;
  std::uint16_t mode;
  std::uint16_t spare0;
  std::uint64_t ino;
  std::uint64_t size;
  std::uint64_t blocks;
  std::uint64_t attributes_mask;
  struct Time {
    std::int64_t sec;
    std::uint32_t nsec;
    std::int32_t spare;
  } atime, btime, ctime, mtime;
  std::uint32_t rdev_major;
  std::uint32_t rdev_minor;
  std::uint32_t dev_major;
  std::uint32_t dev_minor;
  std::uint64_t mount_id;
  std::uint32_t dio_memory_align;
  std::uint32_t dio_offset_align;
  std::uint64_t spare3[12];
};

// One directory entry as getdents64(2) writes it; the name follows, NUL-terminated.
struct DirentRecord {
  std::uint64_t ino;
  std::int64_t next;
  std::uint16_t record_bytes;
  std::uint8_t kind;  // DT_*
};
inline constexpr std::uint32_t kDirentNameOffset = 19;

// Scratch of one slot: the stat record first, then room for a path.
inline constexpr std::uint32_t kScratchBytes = 1024;
inline constexpr std::uint32_t kScratchPathOffset = 256;
inline constexpr std::uint32_t kScratchPathBytes = kScratchBytes - kScratchPathOffset;
// PATH_MAX with its NUL; longer paths are refused with ENAMETOOLONG before any system call.
inline constexpr std::uint32_t kPathBytesMax = 4096;
// Largest buffer of one entry: bounce chunks are at most this long (DESIGN 5).
inline constexpr std::uint32_t kChunkBytesMax = 256 * 1024;
inline constexpr std::uint32_t kSlotCapacityMax = 65536;
inline constexpr std::uint32_t kArenaCountMax = 65535;

static_assert(sizeof(SubmissionEntry) == 64);
static_assert(offsetof(SubmissionEntry, offset) == 16);
static_assert(offsetof(SubmissionEntry, path_offset) == 32);
static_assert(offsetof(SubmissionEntry, argument0) == 44);
static_assert(offsetof(SubmissionEntry, value0) == 56);
static_assert(sizeof(CompletionEntry) == 16);
static_assert(offsetof(Header, submission_tail) == 64);
static_assert(offsetof(Header, submission_head) == 128);
static_assert(offsetof(Header, enter_count) == 192);
static_assert(sizeof(Header) == 256);
static_assert(sizeof(StatRecord) == 256);
static_assert(offsetof(StatRecord, dev_major) == 136);
static_assert(offsetof(DirentRecord, kind) == 18);
static_assert(kScratchPathOffset >= sizeof(StatRecord));

}  // namespace nephrite::abi
