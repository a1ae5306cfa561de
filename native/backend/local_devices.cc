// Local devices: the table and the list of file systems. See local_devices.h.
#include "backend/local_devices.h"

#include <sys/vfs.h>

#include <atomic>
#include <mutex>

#include "backend/posix_call.h"
#include "base/clock.h"

namespace nephrite {

namespace {

constexpr std::uint32_t kSlotCount = 64;  // power of two; two mounts in one slot take turns
constexpr std::uint64_t kAnonymousNs = 1'000'000'000;
constexpr std::uint64_t kForEver = ~std::uint64_t{0} >> 2;

// Written under the mutex: key 0, value, key. A reader that finds the same key before and after
// the value has read a value of that key.
struct Slot {
  std::atomic<std::uint64_t> key{0};
  std::atomic<std::uint64_t> value{0};  // expiry in ns << 2 | Locality
};

Slot table[kSlotCount];
std::mutex table_mutex;

std::uint64_t key_of(const abi::StatRecord& record) {
  constexpr std::uint64_t kIsMountId = std::uint64_t{1} << 63;
  constexpr std::uint64_t kIsDevice = std::uint64_t{1} << 62;  // a key is never 0
  if ((record.mask & posix::kMountIdUniqueMask) != 0) return kIsMountId | record.mount_id;
  return kIsDevice | static_cast<std::uint64_t>(record.dev_major) << 20 | record.dev_minor;
}

bool is_reusable(const abi::StatRecord& record) {
  return (record.mask & posix::kMountIdUniqueMask) == 0 && record.dev_major == 0;
}

Slot& slot_of(std::uint64_t key) {
  return table[(key * 0x9e3779b97f4a7c15ull) >> 58 & (kSlotCount - 1)];
}

// Magic numbers as statfs(2) lists them. Whatever is not named is remote: a new network file system
// must not become local by omission. overlayfs hands AT_STATX_DONT_SYNC and RWF_NOWAIT down to its
// layers, so it cannot wait for one that is remote; its layers may not change under it anyway.
Locality classify(std::uint64_t magic) {
  switch (magic) {
    case 0xef53:      // ext2, ext3, ext4
    case 0x58465342:  // xfs
    case 0x9123683e:  // btrfs
    case 0xf2f52010:  // f2fs
    case 0xca451a4e:  // bcachefs
    case 0x2fc12fc1:  // zfs
    case 0x01021994:  // tmpfs, devtmpfs
    case 0x858458f6:  // ramfs
    case 0x794c7630:  // overlayfs
    case 0x73717368:  // squashfs
    case 0xe0f5e1e2:  // erofs
    case 0x9660:      // iso9660
    case 0x4d44:      // vfat
    case 0x2011bab0:  // exfat
      return Locality::kLocal;
    case 0x9fa0:      // procfs
    case 0x62656572:  // sysfs
    case 0x27e0eb:    // cgroup
    case 0x63677270:  // cgroup2
    case 0x1cd1:      // devpts
      return Locality::kKernel;
    default:
      return Locality::kRemote;
  }
}

}  // namespace

Locality locality_of(const abi::StatRecord& record) {
  const std::uint64_t key = key_of(record);
  const Slot& slot = slot_of(key);
  if (slot.key.load(std::memory_order_acquire) != key) return Locality::kUnknown;
  const std::uint64_t value = slot.value.load(std::memory_order_acquire);
  if (slot.key.load(std::memory_order_relaxed) != key) return Locality::kUnknown;
  const std::uint64_t expiry_ns = value >> 2;
  if (expiry_ns != kForEver && monotonic_now_ns() > expiry_ns) return Locality::kUnknown;
  return static_cast<Locality>(value & 3);
}

void learn_locality(int fd, const abi::StatRecord& record) {
  if (locality_of(record) != Locality::kUnknown) return;
  struct statfs status {};
  if (posix::retry_interrupted([&] { return ::fstatfs(fd, &status); }) < 0) return;
  const std::uint64_t expiry_ns =
      is_reusable(record) ? monotonic_now_ns() + kAnonymousNs : kForEver;
  const std::uint64_t value =
      expiry_ns << 2 |
      static_cast<std::uint64_t>(classify(static_cast<std::uint32_t>(status.f_type)));
  const std::uint64_t key = key_of(record);
  Slot& slot = slot_of(key);
  const std::lock_guard<std::mutex> lock(table_mutex);
  slot.key.store(0, std::memory_order_relaxed);
  slot.value.store(value, std::memory_order_release);
  slot.key.store(key, std::memory_order_release);
}

}  // namespace nephrite
