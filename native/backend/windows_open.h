// Opening a file for overlapped I/O: open(2) flags and an UTF-8 path as one CreateFileW call.
// Owner: stateless; the caller owns the handle. Invariants: the handle is overlapped, is not
// inherited by child processes and does not lock others out (as on POSIX: they may read, write,
// rename and delete the file).
// Not here: descriptors and the completion port (iocp.cc).
#pragma once

#include <windows.h>

#include <cstdint>

#include "backend/operation.h"

namespace nephrite::windows {

// A kOpen. 0 and *handle, or a negative errno. Blocks: CreateFileW has no overlapped form.
std::int32_t open_file(const Operation& operation, HANDLE* handle);

// What a completed open tells about `handle` in its flags (abi::open_flags).
std::uint32_t describe_file(HANDLE handle);

}  // namespace nephrite::windows
