// The table from GetLastError() to errno: the choices that Node makes, and that no code slips
// through as a result that is not an error.
#include "backend/windows_errors.h"

#include <windows.h>

#include <cerrno>

#include "harness.h"

using nephrite::windows::last_error;
using nephrite::windows::negative_errno;

TEST("windows errors: the codes that Node's fs gives") {
  EXPECT_EQ(negative_errno(ERROR_FILE_NOT_FOUND), -ENOENT);
  EXPECT_EQ(negative_errno(ERROR_PATH_NOT_FOUND), -ENOENT);
  EXPECT_EQ(negative_errno(ERROR_INVALID_NAME), -ENOENT);
  EXPECT_EQ(negative_errno(ERROR_ACCESS_DENIED), -EPERM);
  EXPECT_EQ(negative_errno(ERROR_SHARING_VIOLATION), -EBUSY);
  EXPECT_EQ(negative_errno(ERROR_OPERATION_ABORTED), -ECANCELED);
  EXPECT_EQ(negative_errno(ERROR_FILE_EXISTS), -EEXIST);
  EXPECT_EQ(negative_errno(ERROR_DISK_FULL), -ENOSPC);
  EXPECT_EQ(negative_errno(ERROR_TOO_MANY_OPEN_FILES), -EMFILE);
  EXPECT_EQ(negative_errno(ERROR_NOT_SAME_DEVICE), -EXDEV);
}

TEST("windows errors: what has no entry is EIO, and nothing is ever a success") {
  EXPECT_EQ(negative_errno(ERROR_SUCCESS), -EIO);
  EXPECT_EQ(negative_errno(~0ul), -EIO);
  int successes = 0;
  for (unsigned long error = 0; error < 20'000; error++) successes += negative_errno(error) >= 0;
  EXPECT_EQ(successes, 0);
}

TEST("windows errors: the last error is the calling thread's") {
  SetLastError(ERROR_DIR_NOT_EMPTY);
  EXPECT_EQ(last_error(), -ENOTEMPTY);
}
