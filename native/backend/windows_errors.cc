// Windows errors: the table. See windows_errors.h.
#include "backend/windows_errors.h"

#include <windows.h>

#include <cerrno>

namespace nephrite::windows {

namespace {

struct Mapping {
  DWORD error;
  int code;
};

// By errno, so that one sees what a code can come from.
constexpr Mapping kMappings[] = {
    {ERROR_CANT_ACCESS_FILE, EACCES},
    {ERROR_NOACCESS, EACCES},
    {ERROR_INVALID_HANDLE, EBADF},
    {ERROR_LOCK_VIOLATION, EBUSY},
    {ERROR_PIPE_BUSY, EBUSY},
    {ERROR_SHARING_VIOLATION, EBUSY},
    {ERROR_OPERATION_ABORTED, ECANCELED},
    {ERROR_NETNAME_DELETED, ECONNRESET},
    {ERROR_ALREADY_EXISTS, EEXIST},
    {ERROR_FILE_EXISTS, EEXIST},
    {ERROR_NO_UNICODE_TRANSLATION, EILSEQ},
    {ERROR_INVALID_DATA, EINVAL},
    {ERROR_INVALID_PARAMETER, EINVAL},
    {ERROR_NEGATIVE_SEEK, EINVAL},
    {ERROR_INVALID_FUNCTION, EISDIR},  // a read or write of a directory
    {ERROR_CANT_RESOLVE_FILENAME, ELOOP},
    {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
    {ERROR_BUFFER_OVERFLOW, ENAMETOOLONG},
    {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
    {ERROR_BAD_NETPATH, ENOENT},
    {ERROR_BAD_PATHNAME, ENOENT},
    {ERROR_DIRECTORY, ENOENT},
    {ERROR_FILE_NOT_FOUND, ENOENT},
    {ERROR_INVALID_DRIVE, ENOENT},
    {ERROR_INVALID_NAME, ENOENT},
    {ERROR_PATH_NOT_FOUND, ENOENT},
    {ERROR_COMMITMENT_LIMIT, ENOMEM},
    {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
    {ERROR_NOT_ENOUGH_QUOTA, ENOMEM},
    {ERROR_NO_SYSTEM_RESOURCES, ENOMEM},
    {ERROR_OUTOFMEMORY, ENOMEM},
    {ERROR_WORKING_SET_QUOTA, ENOMEM},
    {ERROR_DISK_FULL, ENOSPC},
    {ERROR_HANDLE_DISK_FULL, ENOSPC},
    {ERROR_CALL_NOT_IMPLEMENTED, ENOSYS},
    {ERROR_DIR_NOT_EMPTY, ENOTEMPTY},
    {ERROR_NOT_SUPPORTED, ENOTSUP},
    {ERROR_ACCESS_DENIED, EPERM},
    {ERROR_PRIVILEGE_NOT_HELD, EPERM},
    {ERROR_BAD_PIPE, EPIPE},
    {ERROR_BROKEN_PIPE, EPIPE},
    {ERROR_NO_DATA, EPIPE},
    {ERROR_PIPE_NOT_CONNECTED, EPIPE},
    {ERROR_WRITE_PROTECT, EROFS},
    {ERROR_SEM_TIMEOUT, ETIMEDOUT},
    {WAIT_TIMEOUT, ETIMEDOUT},
    {ERROR_NOT_SAME_DEVICE, EXDEV},
};

}  // namespace

std::int32_t negative_errno(unsigned long error) {
  for (const Mapping& mapping : kMappings) {
    if (mapping.error == error) return -mapping.code;
  }
  return -EIO;
}

std::int32_t last_error() {
  return negative_errno(GetLastError());
}

}  // namespace nephrite::windows
