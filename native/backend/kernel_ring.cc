// KernelRing: setup with fallbacks, mapping, enter and register. See kernel_ring.h.
#include "backend/kernel_ring.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace nephrite::uring {

namespace {

// Smallest rings worth having; below this the epoll backend is the better choice.
constexpr std::uint32_t kEntriesMin = 32;
constexpr std::uint64_t kNopUserData = ~std::uint64_t{0};

std::int32_t result_of(long value) {
  return value < 0 ? -errno : static_cast<std::int32_t>(value);
}

template <typename T>
T* at(void* base, std::uint32_t offset) {
  return reinterpret_cast<T*>(static_cast<std::byte*>(base) + offset);
}

}  // namespace

OpenResult KernelRing::open(const BackendOptions& options, int event_fd) {
  const std::uint32_t optional =
      (options.use_sqpoll ? kSetupSqpoll : 0) | (options.use_iopoll ? kSetupIopoll : 0);
  // Best first; the next set is tried where the kernel does not know a flag. DEFER_TASKRUN excludes
  // SQPOLL. TASKRUN_FLAG tells from user space whether an enter would find work; SUBMIT_ALL has a
  // bad entry cost itself only, not an enter of its own.
  const std::uint32_t flag_sets[] = {
      options.use_sqpoll
          ? kSetupSingleIssuer
          : kSetupSingleIssuer | kSetupDeferTaskrun | kSetupTaskrunFlag | kSetupSubmitAll,
      options.use_sqpoll ? 0 : kSetupCoopTaskrun | kSetupTaskrunFlag | kSetupSubmitAll,
      0,
  };
  std::int32_t error = -EINVAL;
  for (const std::uint32_t flags : flag_sets) {
    const std::uint32_t least = std::min(kEntriesMin, options.ring_entries);
    for (std::uint32_t entries = options.ring_entries; entries >= least; entries /= 2) {
      const std::uint32_t cq_entries =
          std::max({entries * 4, 1024u, std::min(options.slot_capacity, 32768u)});
      error = setup(entries, cq_entries, flags | optional | kSetupClamp);
      if (error != -ENOMEM) break;
    }
    if (error != -EINVAL) break;  // EINVAL: a flag this kernel does not know
  }
  if (error < 0) return {-error, "io_uring_setup"};
  error = map_rings();
  if (error < 0) return close(), OpenResult{-error, "mmap of the rings"};
  set_eventfd_enabled(false);
  error = register_op(kRegisterEventfd, &event_fd, 1);
  if (error < 0) return close(), OpenResult{-error, "IORING_REGISTER_EVENTFD"};
  probe_opcodes(options);
  error = send_nop();
  if (error < 0) return close(), OpenResult{-error, "a NOP through io_uring_enter"};
  std::uint32_t workers[2] = {options.io_workers_max, options.io_workers_max};
  // Before 5.15 there is no limit to set; the kernel's own bound applies.
  register_op(kRegisterIowqMaxWorkers, workers, 2);
  return {};
}

std::int32_t KernelRing::setup(std::uint32_t entries, std::uint32_t cq_entries,
                               std::uint32_t flags) {
  params_ = {};
  params_.flags = flags | kSetupCqsize;
  params_.cq_entries = cq_entries;
  syscall_count++;
  const std::int32_t fd = result_of(syscall(kSysSetup, entries, &params_));
  if (fd < 0) return fd;
  fd_.reset(fd);  // the kernel sets O_CLOEXEC on ring descriptors
  setup_flags_ = flags;
  features_ = params_.features;
  // Without these a completion could be dropped, or offset -1 would not mean the position. Before
  // 5.8 there is no flag that silences the eventfd: its offset is 0, where another field lies.
  const std::uint32_t needed = kFeatureNodrop | kFeatureRwCurPos;
  if ((features_ & needed) != needed || params_.cq_off.flags == 0) {
    fd_.reset();
    return -ENOSYS;
  }
  return 0;
}

std::int32_t KernelRing::map_rings() {
  std::size_t sq_bytes = params_.sq_off.array + params_.sq_entries * sizeof(std::uint32_t);
  std::size_t cq_bytes = params_.cq_off.cqes + params_.cq_entries * sizeof(Cqe);
  const bool is_single = (features_ & kFeatureSingleMmap) != 0;
  if (is_single) sq_bytes = cq_bytes = std::max(sq_bytes, cq_bytes);
  const auto map = [this](std::size_t bytes, std::uint64_t what) {
    return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd_.get(),
                static_cast<off_t>(what));
  };
  void* ring = map(sq_bytes, kMapSqRing);
  if (ring == MAP_FAILED) return -errno;
  ring_map_ = ring;
  ring_map_bytes_ = sq_bytes;
  void* completions = ring;
  if (!is_single) {
    completions = map(cq_bytes, kMapCqRing);
    if (completions == MAP_FAILED) return -errno;
    cq_map_ = completions;
    cq_map_bytes_ = cq_bytes;
  }
  const std::size_t sqes_bytes = params_.sq_entries * sizeof(Sqe);
  void* sqes = map(sqes_bytes, kMapSqes);
  if (sqes == MAP_FAILED) return -errno;
  sqes_ = static_cast<Sqe*>(sqes);
  sqes_bytes_ = sqes_bytes;

  sq_head_ = at<std::uint32_t>(ring, params_.sq_off.head);
  sq_tail_ = at<std::uint32_t>(ring, params_.sq_off.tail);
  sq_flags_ = at<std::uint32_t>(ring, params_.sq_off.flags);
  sq_array_ = at<std::uint32_t>(ring, params_.sq_off.array);
  sq_entries_ = params_.sq_entries;
  sq_mask_ = params_.sq_entries - 1;
  cq_head_ = at<std::uint32_t>(completions, params_.cq_off.head);
  cq_tail_ = at<std::uint32_t>(completions, params_.cq_off.tail);
  cq_flags_ = at<std::uint32_t>(completions, params_.cq_off.flags);
  cqes_ = at<const Cqe>(completions, params_.cq_off.cqes);
  cq_mask_ = params_.cq_entries - 1;
  sqe_tail_ = submitted_tail_ = load_relaxed(sq_tail_);
  cq_head_local_ = load_relaxed(cq_head_);
  // Entry n always sits at index n: the indirection is filled once.
  for (std::uint32_t index = 0; index < sq_entries_; index++) sq_array_[index] = index;
  return 0;
}

void KernelRing::probe_opcodes(const BackendOptions& options) {
  Probe probe{};
  opcodes_ = 0;
  if (register_op(kRegisterProbe, &probe, 64) < 0) return;
  for (unsigned index = 0; index < probe.ops_len && index < 64; index++) {
    if ((probe.ops[index].flags & 1) != 0) opcodes_ |= std::uint64_t{1} << probe.ops[index].op;
  }
  const std::uint64_t denied =
      std::uint64_t{options.denied_opcodes_high} << 32 | options.denied_opcodes_low;
  opcodes_ &= ~denied;
}

// The probe that counts: seccomp may allow setup and refuse enter (seen in containers).
std::int32_t KernelRing::send_nop() {
  // An IOPOLL ring takes no NOP before 6.x; its setup alone has to do.
  if ((setup_flags_ & kSetupIopoll) != 0) return 0;
  Sqe* sqe = push();
  CHECK(sqe != nullptr);
  sqe->opcode = static_cast<std::uint8_t>(Op::kNop);
  sqe->user_data = kNopUserData;
  for (int round = 0; round < 100; round++) {
    const std::int32_t error = enter(10'000'000);
    if (error < 0 && error != -EINTR && error != -EAGAIN && error != -ETIME) return error;
    const Cqe* cqe = peek();
    if (cqe == nullptr) continue;
    const std::int32_t result = cqe->user_data == kNopUserData ? cqe->res : -EPROTO;
    pop();
    return result;
  }
  return -ETIMEDOUT;
}

Sqe* KernelRing::push() {
  if (is_full()) return nullptr;
  Sqe* sqe = &sqes_[sqe_tail_++ & sq_mask_];
  std::memset(sqe, 0, sizeof(*sqe));
  return sqe;
}

std::int32_t KernelRing::enter(std::int64_t timeout_ns) {
  // Pairs with the kernel's acquire of the tail: the entries are complete before it moves.
  store_release(sq_tail_, sqe_tail_);
  std::uint32_t flags = kEnterGetevents;
  const bool is_sqpoll = (setup_flags_ & kSetupSqpoll) != 0;
  if (is_sqpoll) {
    full_fence();  // the tail must be visible before the flag is read, or the thread sleeps on
    if ((load_relaxed(sq_flags_) & kSqNeedWakeup) != 0) flags |= kEnterSqWakeup;
  }
  const std::uint32_t to_submit = sqe_tail_ - submitted_tail_;
  KernelTimespec timespec{timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
  GeteventsArg argument{};
  argument.ts = reinterpret_cast<std::uint64_t>(&timespec);
  const bool is_timed = timeout_ns > 0 && (features_ & kFeatureExtArg) != 0;
  if (is_timed) flags |= kEnterExtArg;
  syscall_count++;
  const std::int32_t result = result_of(
      syscall(kSysEnter, fd_.get(), to_submit, is_timed ? 1u : 0u, flags,
              is_timed ? static_cast<void*>(&argument) : nullptr, is_timed ? sizeof(argument) : 0));
  // What the kernel has consumed is read from its head: on a timed wait that fails with ETIME or
  // EINTR the entries were taken all the same.
  submitted_tail_ = is_sqpoll ? sqe_tail_ : load_acquire(sq_head_);
  return result < 0 ? result : 0;
}

void KernelRing::set_eventfd_enabled(bool is_enabled) {
  store_relaxed(cq_flags_, is_enabled ? 0 : kCqEventfdDisabled);
}

std::int32_t KernelRing::register_op(unsigned opcode, void* argument, unsigned count) {
  syscall_count++;
  return result_of(syscall(kSysRegister, fd_.get(), opcode, argument, count));
}

void KernelRing::close() {
  if (sqes_ != nullptr) munmap(sqes_, sqes_bytes_);
  if (cq_map_ != nullptr) munmap(cq_map_, cq_map_bytes_);
  if (ring_map_ != nullptr) munmap(ring_map_, ring_map_bytes_);
  sqes_ = nullptr;
  cq_map_ = ring_map_ = nullptr;
  fd_.reset();
}

}  // namespace nephrite::uring
