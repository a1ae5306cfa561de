// Whole files in one call on a pool thread. Owner: stateless.
// Invariant: -EAGAIN means that nothing was done and the caller goes step by step, where every
// error gets its own name and a read that must wait for the disk does so in the kernel's queue.
// Not here: everything but small, cached, regular files.
#pragma once

#include <cstdint>

#include "backend/operation.h"

namespace nephrite {

// kReadFile: open, read, close. The number of bytes, the open's error, or -EAGAIN.
std::int32_t run_read_file(Operation& operation);

}  // namespace nephrite
