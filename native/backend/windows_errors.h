// Windows errors: the one table from GetLastError() to an errno, with the choices that Node's fs
// makes (ERROR_ACCESS_DENIED is EPERM, ERROR_SHARING_VIOLATION is EBUSY).
// Owner: stateless. Invariant: every result is negative. The numbers are the C runtime's, as in all
// native code; what has no entry is EIO.
// Not here: errors that are results (the end of a file), see iocp.cc.
#pragma once

#include <cstdint>

namespace nephrite::windows {

// `error` is a Win32 error code, not an NTSTATUS. 0 (a call that failed without a reason) is -EIO.
std::int32_t negative_errno(unsigned long error);
// The same of GetLastError().
std::int32_t last_error();

}  // namespace nephrite::windows
