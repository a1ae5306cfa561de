// Opening a file for overlapped I/O. See windows_open.h.
#include "backend/windows_open.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "backend/windows_errors.h"

namespace nephrite::windows {

namespace {

// Bits of fs.constants on Windows that the C runtime has no name for; libuv chose the numbers.
constexpr std::uint32_t kOpenDirect = 0x02000000;
constexpr std::uint32_t kOpenDataSync = 0x04000000;
constexpr std::uint32_t kOpenSync = 0x08000000;

constexpr std::uint32_t kAccessMask = O_RDONLY | O_WRONLY | O_RDWR;
constexpr std::uint32_t kKnownFlags = kAccessMask | O_APPEND | O_CREAT | O_EXCL | O_TRUNC |
                                      O_RANDOM | O_SEQUENTIAL | _O_SHORT_LIVED | O_TEMPORARY |
                                      kOpenDirect | kOpenDataSync | kOpenSync;

constexpr std::uint64_t kSizeUnknown = abi::kCompletionSizeMax + 1;

// 0 when the flags name no access.
DWORD access_of(std::uint32_t flags) {
  DWORD access = 0;
  switch (flags & kAccessMask) {
    case O_RDONLY:
      access = FILE_GENERIC_READ;
      break;
    case O_WRONLY:
      access = FILE_GENERIC_WRITE;
      break;
    case O_RDWR:
      access = FILE_GENERIC_READ | FILE_GENERIC_WRITE;
      break;
    default:
      return 0;
  }
  // Without FILE_WRITE_DATA every write goes to the end, atomically, whatever its offset says.
  if ((flags & O_APPEND) != 0) access = (access & ~FILE_WRITE_DATA) | FILE_APPEND_DATA;
  if ((flags & O_TEMPORARY) != 0) access |= DELETE;
  return access;
}

DWORD disposition_of(std::uint32_t flags) {
  const bool truncates = (flags & O_TRUNC) != 0;
  if ((flags & O_CREAT) == 0) return truncates ? TRUNCATE_EXISTING : OPEN_EXISTING;
  if ((flags & O_EXCL) != 0) return CREATE_NEW;
  return truncates ? CREATE_ALWAYS : OPEN_ALWAYS;
}

DWORD attributes_of(std::uint32_t flags, std::uint32_t mode) {
  // Directories open with backup semantics only; files ignore it.
  DWORD attributes = FILE_FLAG_OVERLAPPED | FILE_FLAG_BACKUP_SEMANTICS;
  const bool is_read_only = (flags & O_CREAT) != 0 && (mode & S_IWRITE) == 0;
  attributes |= is_read_only ? FILE_ATTRIBUTE_READONLY : FILE_ATTRIBUTE_NORMAL;
  if ((flags & O_RANDOM) != 0) attributes |= FILE_FLAG_RANDOM_ACCESS;
  if ((flags & O_SEQUENTIAL) != 0) attributes |= FILE_FLAG_SEQUENTIAL_SCAN;
  if ((flags & _O_SHORT_LIVED) != 0) attributes |= FILE_ATTRIBUTE_TEMPORARY;
  if ((flags & O_TEMPORARY) != 0) attributes |= FILE_FLAG_DELETE_ON_CLOSE;
  if ((flags & kOpenDirect) != 0) attributes |= FILE_FLAG_NO_BUFFERING;
  if ((flags & (kOpenSync | kOpenDataSync)) != 0) attributes |= FILE_FLAG_WRITE_THROUGH;
  return attributes;
}

}  // namespace

std::int32_t open_file(const Operation& operation, HANDLE* handle) {
  const std::uint32_t flags = operation.entry.argument0;
  const DWORD access = access_of(flags);
  if (access == 0 || (flags & ~kKnownFlags) != 0) return -EINVAL;
  wchar_t path[abi::kPathBytesMax];  // UTF-16 never has more units than UTF-8 has bytes
  if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, operation.path, -1, path,
                          abi::kPathBytesMax) == 0) {
    return last_error();
  }
  *handle =
      CreateFileW(path, access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                  disposition_of(flags), attributes_of(flags, operation.entry.argument1), nullptr);
  if (*handle != INVALID_HANDLE_VALUE) return 0;
  const DWORD error = GetLastError();
  // Creating where a directory is: open(2) and Node say what is there, not that it exists.
  const bool is_exclusive = (flags & O_CREAT) != 0 && (flags & O_EXCL) != 0;
  if (error == ERROR_FILE_EXISTS && !is_exclusive) return -EISDIR;
  return negative_errno(error);
}

std::uint32_t describe_file(HANDLE handle) {
  switch (GetFileType(handle)) {
    case FILE_TYPE_PIPE:
      return abi::open_flags(S_IFIFO, kSizeUnknown);
    case FILE_TYPE_CHAR:
      return abi::open_flags(S_IFCHR, kSizeUnknown);
    case FILE_TYPE_DISK:
      break;
    default:
      return 0;
  }
  FILE_STANDARD_INFO info{};
  if (GetFileInformationByHandleEx(handle, FileStandardInfo, &info, sizeof info) == 0) return 0;
  if (info.Directory != 0) return abi::open_flags(S_IFDIR, kSizeUnknown);
  return abi::open_flags(S_IFREG, static_cast<std::uint64_t>(info.EndOfFile.QuadPart));
}

}  // namespace nephrite::windows
