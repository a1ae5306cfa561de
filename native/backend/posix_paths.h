// Path operations as blocking POSIX calls: the half of run_blocking (posix_ops.h) that names files.
// Owner: none, stateless. Invariant: operation.path (and path2 where the opcode has one) is set.
// Not here: descriptors (posix_ops.cc), anything that must not block (posix_inline.cc).
#pragma once

#include <cstdint>

#include "backend/operation.h"

namespace nephrite::posix {

std::int32_t run_open(Operation& operation);
std::int32_t run_stat(Operation& operation);
std::int32_t run_utimes(const Operation& operation);
std::int32_t run_chmod(const Operation& operation);
std::int32_t run_chown(const Operation& operation);
std::int32_t run_readlink(const Operation& operation);
std::int32_t run_realpath(const Operation& operation);

}  // namespace nephrite::posix
