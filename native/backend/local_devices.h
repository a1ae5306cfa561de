// Local devices: which mounted file systems answer from memory of this kernel, so that a stat, an
// open or a close of a cached file cannot wait for a server (NFS, CIFS, FUSE; a FUSE daemon may
// live in this very process, and a poller's thread that waits for it would be a deadlock). Owner:
// one process-wide table of atomics. Pool threads learn (fstatfs may block), pollers look.
// Invariants: an unknown file system is never called local; a look makes no system call. A file
// system is named by its mount's unique id (kernel 6.8), else by its device number; anonymous
// device numbers (tmpfs, overlay, btrfs, but FUSE and NFS too) are reused after umount, so there
// what was learned holds for one second only. Not here: what is done with the answer
// (posix_inline.cc).
#pragma once

#include <cstdint>

#include "abi/layout.h"

namespace nephrite {

enum class Locality : std::uint8_t {
  kUnknown,  // ask a pool thread
  kRemote,   // may wait for a server
  kKernel,   // procfs, sysfs: attributes are local, but opening runs code that may wait
  kLocal,    // disks and memory
};

// `record` is an answer of statx with kMountIdUniqueMask (posix_call.h), synced or not.
Locality locality_of(const abi::StatRecord& record);
// Flags of a kOpen's completion. The size is told for regular files of local file systems only:
// elsewhere an answer that nobody was asked for may be stale, in procfs it is 0.
inline std::uint32_t open_flags_for(const abi::StatRecord& record, Locality locality) {
  constexpr std::uint32_t kRegular = 0100000;
  const bool has_size = locality == Locality::kLocal && (record.mode & 0170000u) == kRegular;
  return has_size ? abi::open_flags(record.mode, record.size) : record.mode >> 12;
}
// Asks the file system behind `fd` (an O_PATH descriptor will do) if `record` is not known yet.
void learn_locality(int fd, const abi::StatRecord& record);

}  // namespace nephrite
