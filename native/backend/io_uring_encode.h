// Encoding of operations as io_uring entries. Owner: stateless.
// Invariant: every address put into an entry lives until the operation's completion.
// Not here: which operations go to the kernel at all (io_uring.cc).
#pragma once

#include "backend/io_uring_abi.h"
#include "backend/operation.h"

namespace nephrite::uring {

// The kernel opcode that carries this operation out, or kNop when there is none (a pool does it).
Op opcode_for(const Operation& operation);

// Fills a zeroed entry. SAFETY: addresses point into memory that lives until the completion.
void encode(const Operation& operation, Sqe& sqe);

// Waits until the operation's descriptor is ready (O_NONBLOCK descriptors answer -EAGAIN).
void encode_wait_ready(const Operation& operation, Sqe& sqe);

}  // namespace nephrite::uring
