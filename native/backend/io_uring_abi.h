// The io_uring kernel interface that we use, by our own constants: a build against old kernel
// headers (glibc 2.28 era has none) must still use what the running kernel offers.
// Owner: the kernel (uapi/linux/io_uring.h); numbers never change once released. The version beside
// a name is the first kernel that has it. Not here: behaviour (kernel_ring.cc, io_uring.cc).
#pragma once

#include <cstddef>
#include <cstdint>

namespace nephrite::uring {

inline constexpr long kSysSetup = 425;
inline constexpr long kSysEnter = 426;
inline constexpr long kSysRegister = 427;

// io_uring_setup flags
inline constexpr std::uint32_t kSetupIopoll = 1u << 0;
inline constexpr std::uint32_t kSetupSqpoll = 1u << 1;
inline constexpr std::uint32_t kSetupCqsize = 1u << 3;         // 5.5
inline constexpr std::uint32_t kSetupClamp = 1u << 4;          // 5.6
inline constexpr std::uint32_t kSetupSubmitAll = 1u << 7;      // 5.18
inline constexpr std::uint32_t kSetupCoopTaskrun = 1u << 8;    // 5.19
inline constexpr std::uint32_t kSetupTaskrunFlag = 1u << 9;    // 5.19
inline constexpr std::uint32_t kSetupSingleIssuer = 1u << 12;  // 6.0
inline constexpr std::uint32_t kSetupDeferTaskrun = 1u << 13;  // 6.1

inline constexpr std::uint32_t kFeatureSingleMmap = 1u << 0;  // 5.4
inline constexpr std::uint32_t kFeatureNodrop = 1u << 1;      // 5.5
inline constexpr std::uint32_t kFeatureRwCurPos = 1u << 3;    // 5.6: offset -1 = file position
inline constexpr std::uint32_t kFeatureExtArg = 1u << 8;      // 5.11

inline constexpr std::uint32_t kEnterGetevents = 1u << 0;
inline constexpr std::uint32_t kEnterSqWakeup = 1u << 1;
inline constexpr std::uint32_t kEnterExtArg = 1u << 3;  // 5.11

inline constexpr std::uint32_t kSqNeedWakeup = 1u << 0;
inline constexpr std::uint32_t kSqCqOverflow = 1u << 1;
inline constexpr std::uint32_t kSqTaskrun = 1u << 2;
inline constexpr std::uint32_t kCqEventfdDisabled = 1u << 0;

inline constexpr unsigned kRegisterEventfd = 4;
inline constexpr unsigned kRegisterProbe = 8;            // 5.6
inline constexpr unsigned kRegisterIowqMaxWorkers = 19;  // 5.15

inline constexpr std::uint64_t kMapSqRing = 0;
inline constexpr std::uint64_t kMapCqRing = 0x8000000;
inline constexpr std::uint64_t kMapSqes = 0x10000000;

enum class Op : std::uint8_t {
  kNop = 0,
  kFsync = 3,
  kPollAdd = 6,
  kAsyncCancel = 14,  // 5.5
  kFallocate = 17,    // 5.6
  kOpenat = 18,       // 5.6
  kClose = 19,        // 5.6
  kStatx = 21,        // 5.6
  kRead = 22,         // 5.6
  kWrite = 23,        // 5.6
  kRenameat = 35,     // 5.11
  kUnlinkat = 36,     // 5.11
  kMkdirat = 37,      // 5.15
  kSymlinkat = 38,    // 5.15
  kLinkat = 39,       // 5.15
  kFtruncate = 55,    // 6.9
};

inline constexpr std::uint32_t kFsyncDatasync = 1;

struct Sqe {
  std::uint8_t opcode;
  std::uint8_t flags;
  std::uint16_t ioprio;
  std::int32_t fd;
  std::uint64_t off;  // also addr2
  std::uint64_t addr;
  std::uint32_t len;
  std::uint32_t op_flags;
  std::uint64_t user_data;
  std::uint16_t buf_index;
  std::uint16_t personality;
  std::int32_t file_index;
  std::uint64_t addr3;
  std::uint64_t pad;
};

struct Cqe {
  std::uint64_t user_data;
  std::int32_t res;
  std::uint32_t flags;
};

struct SqOffsets {
  std::uint32_t head, tail, ring_mask, ring_entries, flags, dropped, array, resv1;
  std::uint64_t user_addr;
};

struct CqOffsets {
  std::uint32_t head, tail, ring_mask, ring_entries, overflow, cqes, flags, resv1;
  std::uint64_t user_addr;
};

struct Params {
  std::uint32_t sq_entries, cq_entries, flags, sq_thread_cpu, sq_thread_idle, features, wq_fd;
  std::uint32_t resv[3];
  SqOffsets sq_off;
  CqOffsets cq_off;
};

struct ProbeOp {
  std::uint8_t op, resv;
  std::uint16_t flags;  // bit 0: supported
  std::uint32_t resv2;
};

struct Probe {
  std::uint8_t last_op, ops_len;
  std::uint16_t resv;
  std::uint32_t resv2[3];
  ProbeOp ops[64];
};

struct KernelTimespec {
  std::int64_t sec, nsec;
};

struct GeteventsArg {
  std::uint64_t sigmask;
  std::uint32_t sigmask_sz, min_wait_usec;
  std::uint64_t ts;
};

struct SyncCancelReg {
  std::uint64_t addr;
  std::int32_t fd;
  std::uint32_t flags;
  KernelTimespec timeout;
  std::uint8_t opcode;
  std::uint8_t pad[7];
  std::uint64_t pad2[3];
};

static_assert(sizeof(Sqe) == 64);
static_assert(offsetof(Sqe, user_data) == 32);
static_assert(sizeof(Cqe) == 16);
static_assert(sizeof(SqOffsets) == 40 && sizeof(CqOffsets) == 40);
static_assert(sizeof(Params) == 120);
static_assert(offsetof(Params, sq_off) == 40);
static_assert(sizeof(ProbeOp) == 8 && offsetof(Probe, ops) == 16);
static_assert(sizeof(GeteventsArg) == 24);
static_assert(sizeof(SyncCancelReg) == 64);

}  // namespace nephrite::uring
