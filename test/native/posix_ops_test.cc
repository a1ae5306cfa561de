// Operations as POSIX calls: every opcode against real files, with the results that Node gives.
// What must not block is posix_inline_test.cc; order and waiting are the backends'.
// Method: each runs on the calling thread, in a temporary folder.
// Not here: the pool that runs them elsewhere (blocking_pool_test.cc).
#include "backend/posix_ops.h"

#include <sys/eventfd.h>
#include <sys/resource.h>

#include <cmath>
#include <thread>

#include "bare_operation.h"
#include "base/check.h"
#include "base/unique_fd.h"
#include "harness.h"
#include "temp_dir.h"

using nephrite::run_blocking;
using nephrite::UniqueFd;
using nephrite::abi::DirentRecord;
using nephrite::abi::kCompletionKindMask;
using nephrite::abi::Opcode;
using test::BareOperation;
using test::TempDir;

namespace {

std::int32_t run(BareOperation& bare) {
  return run_blocking(bare.operation);
}

UniqueFd open_file(const std::string& path, int flags) {
  return UniqueFd(::open(path.c_str(), flags | O_CLOEXEC, 0644));
}

std::uint64_t bits(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

struct stat status_of(const std::string& path) {
  struct stat status {};
  ::lstat(path.c_str(), &status);
  return status;
}

std::int32_t set_times(const std::string& path, double accessed, double modified) {
  BareOperation bare(Opcode::kUtimes);
  bare.with_path(path).with_value(bits(accessed));
  bare.with_offset(std::bit_cast<std::int64_t>(modified));
  return run(bare);
}

}  // namespace

TEST("posix: open gives a close-on-exec descriptor and the file's kind") {
  TempDir dir;
  const std::string path = dir.write("a", "text");
  BareOperation bare(Opcode::kOpen);
  const UniqueFd fd(run(bare.with_path(path).with_arguments(O_RDONLY)));
  REQUIRE_TRUE(fd.valid());
  EXPECT_TRUE((::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
  EXPECT_EQ(bare.operation.result_flags & kCompletionKindMask, S_IFREG >> 12);
  BareOperation folder(Opcode::kOpen);
  const UniqueFd folder_fd(run(folder.with_path(dir.path()).with_arguments(O_RDONLY)));
  EXPECT_EQ(folder.operation.result_flags & kCompletionKindMask, S_IFDIR >> 12);
}

TEST("posix: open creates with the mode and reports errors as they are") {
  TempDir dir;
  const mode_t before = ::umask(022);
  BareOperation bare(Opcode::kOpen);
  bare.with_path(dir.file("new")).with_arguments(O_WRONLY | O_CREAT | O_EXCL, 0640);
  const UniqueFd fd(run(bare));
  EXPECT_TRUE(fd.valid());
  ::umask(before);
  EXPECT_EQ(status_of(dir.file("new")).st_mode & 07777, 0640u);
  EXPECT_EQ(run(bare), -EEXIST);
  BareOperation missing(Opcode::kOpen);
  EXPECT_EQ(run(missing.with_path(dir.file("none")).with_arguments(O_RDONLY)), -ENOENT);
}

TEST("posix: open does not follow a final link when told so") {
  TempDir dir;
  dir.write("target", "x");
  REQUIRE_EQ(::symlink("target", dir.file("link").c_str()), 0);
  BareOperation bare(Opcode::kOpen);
  bare.with_path(dir.file("link")).with_arguments(O_RDONLY).no_follow();
  EXPECT_EQ(run(bare), -ELOOP);
}

TEST("posix: read at a position and at the file's own position") {
  TempDir dir;
  const UniqueFd fd = open_file(dir.write("a", "hello world"), O_RDONLY);
  BareOperation at(Opcode::kRead);
  REQUIRE_EQ(run(at.with_fd(fd.get()).with_buffer(5).with_offset(6)), 5);
  EXPECT_TRUE(at.text(5) == "world");
  BareOperation next(Opcode::kRead);
  REQUIRE_EQ(run(next.with_fd(fd.get()).with_buffer(5)), 5);
  EXPECT_TRUE(next.text(5) == "hello");
  REQUIRE_EQ(run(next), 5);
  EXPECT_TRUE(next.text(5) == " worl");
  EXPECT_EQ(run(at.with_offset(11)), 0);
}

TEST("posix: read errors") {
  TempDir dir;
  const UniqueFd folder = open_file(dir.path(), O_RDONLY | O_DIRECTORY);
  BareOperation bare(Opcode::kRead);
  EXPECT_EQ(run(bare.with_fd(folder.get()).with_buffer(16)), -EISDIR);
  EXPECT_EQ(run(bare.with_buffer(0)), -EISDIR);
  EXPECT_EQ(run(bare.with_fd(-1)), -EBADF);
  const UniqueFd fd = open_file(dir.write("a", "x"), O_RDONLY);
  EXPECT_EQ(run(bare.with_fd(fd.get()).with_offset(-2).with_buffer(16)), -EINVAL);
  EXPECT_EQ(run(bare.with_offset(0).with_buffer(0)), 0);
}

TEST("posix: write, append at the position, and a full device") {
  TempDir dir;
  const std::string path = dir.write("a", "");
  const UniqueFd fd = open_file(path, O_RDWR);
  BareOperation bare(Opcode::kWrite);
  EXPECT_EQ(run(bare.with_fd(fd.get()).with_text("abc")), 3);
  EXPECT_EQ(run(bare), 3);
  EXPECT_EQ(run(bare.with_offset(4).with_text("X")), 1);
  BareOperation read(Opcode::kRead);
  REQUIRE_EQ(run(read.with_fd(fd.get()).with_buffer(100).with_offset(0)), 6);
  EXPECT_TRUE(read.text(6) == "abcaXc");
  const UniqueFd full = open_file("/dev/full", O_WRONLY);
  BareOperation refused(Opcode::kWrite);
  EXPECT_EQ(run(refused.with_fd(full.get()).with_text("abc")), -ENOSPC);
}

TEST("posix: offsets beyond what a file can have give the kernel's errno") {
  TempDir dir;
  const UniqueFd fd = open_file(dir.write("a", "x"), O_RDWR);
  BareOperation far_write(Opcode::kWrite);
  far_write.with_fd(fd.get()).with_text("y").with_offset(INT64_MAX);
  const std::int32_t result = run(far_write);
  EXPECT_TRUE(result == -EFBIG || result == -EINVAL);
  BareOperation sparse(Opcode::kWrite);
  const std::int64_t offset = (std::int64_t{1} << 32) - 1;
  EXPECT_EQ(run(sparse.with_fd(fd.get()).with_text("z").with_offset(offset)), 1);
  BareOperation back(Opcode::kRead);
  EXPECT_EQ(run(back.with_fd(fd.get()).with_buffer(8).with_offset(offset)), 1);
  EXPECT_TRUE(back.text(1) == "z");
}

TEST("posix: sync, truncate, allocate") {
  TempDir dir;
  const std::string path = dir.write("a", "0123456789");
  const UniqueFd fd = open_file(path, O_RDWR);
  BareOperation sync(Opcode::kSync);
  EXPECT_EQ(run(sync.with_fd(fd.get())), 0);
  EXPECT_EQ(run(sync.with_arguments(1)), 0);
  EXPECT_EQ(run(sync.with_fd(-1)), -EBADF);
  BareOperation cut(Opcode::kTruncate);
  EXPECT_EQ(run(cut.with_fd(fd.get()).with_value(4)), 0);
  EXPECT_EQ(status_of(path).st_size, 4);
  EXPECT_EQ(run(cut.with_value(~std::uint64_t{0})), -EINVAL);
  BareOperation allocate(Opcode::kAllocate);
  allocate.with_fd(fd.get()).with_offset(0).with_value(8192);
  const std::int32_t result = run(allocate);
  EXPECT_TRUE(result == 0 || result == -EOPNOTSUPP);
  if (result == 0) EXPECT_EQ(status_of(path).st_size, 8192);
}

TEST("posix: stat by path, by link and by descriptor") {
  TempDir dir;
  const std::string path = dir.write("a", "12345");
  REQUIRE_EQ(::symlink("a", dir.file("link").c_str()), 0);
  BareOperation by_path(Opcode::kStat);
  REQUIRE_EQ(run(by_path.with_path(dir.file("link"))), 0);
  EXPECT_EQ(by_path.stat.size, 5);
  EXPECT_EQ(by_path.stat.ino, status_of(path).st_ino);
  EXPECT_EQ(by_path.stat.mtime.sec, status_of(path).st_mtim.tv_sec);
  EXPECT_EQ(by_path.stat.mtime.nsec, status_of(path).st_mtim.tv_nsec);
  EXPECT_EQ(by_path.stat.mode & S_IFMT, S_IFREG);
  REQUIRE_EQ(run(by_path.no_follow()), 0);
  EXPECT_EQ(by_path.stat.mode & S_IFMT, S_IFLNK);
  const UniqueFd fd = open_file(path, O_RDONLY);
  BareOperation by_fd(Opcode::kStat);
  REQUIRE_EQ(run(by_fd.with_fd(fd.get())), 0);
  EXPECT_EQ(by_fd.stat.size, 5);
  BareOperation bad(Opcode::kStat);
  EXPECT_EQ(run(bad.with_fd(AT_FDCWD)), -EBADF);
  EXPECT_EQ(run(bad.with_path(dir.file("none"))), -ENOENT);
}

TEST("posix: names: rename, link, symlink, readlink, unlink, mkdir, rmdir") {
  TempDir dir;
  dir.write("a", "x");
  BareOperation rename(Opcode::kRename);
  EXPECT_EQ(run(rename.with_path(dir.file("a")).with_path2(dir.file("b"))), 0);
  EXPECT_EQ(run(rename), -ENOENT);
  BareOperation link(Opcode::kLink);
  EXPECT_EQ(run(link.with_path(dir.file("b")).with_path2(dir.file("c"))), 0);
  EXPECT_EQ(status_of(dir.file("c")).st_nlink, 2u);
  BareOperation symlink(Opcode::kSymlink);
  EXPECT_EQ(run(symlink.with_path("no/such/target").with_path2(dir.file("s"))), 0);
  BareOperation readlink(Opcode::kReadlink);
  REQUIRE_EQ(run(readlink.with_path(dir.file("s")).with_buffer(4096)), 14);
  EXPECT_TRUE(readlink.text(14) == "no/such/target");
  EXPECT_EQ(run(readlink.with_buffer(14)), -ENAMETOOLONG);
  BareOperation mkdir(Opcode::kMkdir);
  EXPECT_EQ(run(mkdir.with_path(dir.file("d")).with_arguments(0, 0700)), 0);
  BareOperation unlink(Opcode::kUnlink);
  EXPECT_EQ(run(unlink.with_path(dir.file("d"))), -EISDIR);
  EXPECT_EQ(run(unlink.with_arguments(1)), 0);
  EXPECT_EQ(run(unlink.with_path(dir.file("b"))), -ENOTDIR);
  EXPECT_EQ(run(unlink.with_arguments(0)), 0);
}

TEST("posix: chmod, chown and access") {
  TempDir dir;
  const std::string path = dir.write("a", "x");
  const UniqueFd fd = open_file(path, O_RDONLY);
  BareOperation chmod(Opcode::kChmod);
  EXPECT_EQ(run(chmod.with_path(path).with_arguments(0, 0600)), 0);
  EXPECT_EQ(status_of(path).st_mode & 07777, 0600u);
  BareOperation by_fd(Opcode::kChmod);
  EXPECT_EQ(run(by_fd.with_fd(fd.get()).with_arguments(0, 0640)), 0);
  EXPECT_EQ(status_of(path).st_mode & 07777, 0640u);
  BareOperation chown(Opcode::kChown);
  EXPECT_EQ(run(chown.with_path(path).with_arguments(~0u, ~0u)), 0);
  BareOperation access(Opcode::kAccess);
  EXPECT_EQ(run(access.with_path(path).with_arguments(R_OK)), 0);
  EXPECT_EQ(run(access.with_path(dir.file("none"))), -ENOENT);
}

TEST("posix: utimes cuts to microseconds, keeps negative times and sees now and omit") {
  TempDir dir;
  const std::string path = dir.write("a", "x");
  // The values are those of node:fs (libuv 1.46) for the same arguments.
  REQUIRE_EQ(set_times(path, 1700000000.123, 1700000000.1234567), 0);
  EXPECT_EQ(status_of(path).st_atim.tv_nsec, 122999000);
  EXPECT_EQ(status_of(path).st_mtim.tv_nsec, 123456000);
  REQUIRE_EQ(set_times(path, -1.5, -1.999), 0);
  EXPECT_EQ(status_of(path).st_atim.tv_sec, -2);
  EXPECT_EQ(status_of(path).st_atim.tv_nsec, 500000000);
  EXPECT_EQ(status_of(path).st_mtim.tv_sec, -2);
  EXPECT_EQ(status_of(path).st_mtim.tv_nsec, 1000000);
  REQUIRE_EQ(set_times(path, NAN, INFINITY), 0);
  EXPECT_EQ(status_of(path).st_atim.tv_sec, -2);
  EXPECT_TRUE(status_of(path).st_mtim.tv_sec > 1700000000);
  EXPECT_EQ(set_times(path, 1e300, 0), -EINVAL);
}

TEST("posix: utimes of a link itself and of a descriptor") {
  TempDir dir;
  const std::string path = dir.write("a", "x");
  REQUIRE_EQ(::symlink("a", dir.file("link").c_str()), 0);
  BareOperation of_link(Opcode::kUtimes);
  of_link.with_path(dir.file("link")).with_value(bits(5)).no_follow();
  of_link.with_offset(std::bit_cast<std::int64_t>(6.0));
  REQUIRE_EQ(run(of_link), 0);
  EXPECT_EQ(status_of(dir.file("link")).st_mtim.tv_sec, 6);
  EXPECT_TRUE(status_of(path).st_mtim.tv_sec > 1700000000);
  const UniqueFd fd = open_file(path, O_RDONLY);
  BareOperation by_fd(Opcode::kUtimes);
  by_fd.with_fd(fd.get()).with_value(bits(7)).with_offset(std::bit_cast<std::int64_t>(8.0));
  REQUIRE_EQ(run(by_fd), 0);
  EXPECT_EQ(status_of(path).st_atim.tv_sec, 7);
  EXPECT_EQ(status_of(path).st_mtim.tv_sec, 8);
}

TEST("posix: readdir fills records and ends with 0") {
  TempDir dir;
  dir.write("one", "");
  REQUIRE_EQ(::mkdir(dir.file("two").c_str(), 0700), 0);
  const UniqueFd fd = open_file(dir.path(), O_RDONLY | O_DIRECTORY);
  BareOperation bare(Opcode::kReaddir);
  const std::int32_t bytes = run(bare.with_fd(fd.get()).with_buffer(8192));
  int file_count = 0;
  int folder_count = 0;
  for (std::int32_t at = 0; at < bytes;) {
    DirentRecord record{};
    std::memcpy(&record, bare.buffer.data() + at, nephrite::abi::kDirentNameOffset);
    const char* name =
        reinterpret_cast<const char*>(bare.buffer.data()) + at + nephrite::abi::kDirentNameOffset;
    if (std::string_view(name) == "one" && record.kind == 8) file_count++;
    if (std::string_view(name) == "two" && record.kind == 4) folder_count++;
    at += record.record_bytes;
  }
  EXPECT_EQ(file_count, 1);
  EXPECT_EQ(folder_count, 1);
  EXPECT_EQ(run(bare), 0);
}

TEST("posix: realpath resolves, fails as a missing file does, and never cuts") {
  TempDir dir;
  dir.write("a", "x");
  REQUIRE_EQ(::symlink("a", dir.file("link").c_str()), 0);
  char expected[4096];
  REQUIRE_TRUE(::realpath(dir.file("a").c_str(), expected) != nullptr);
  const std::string_view target(expected);
  BareOperation bare(Opcode::kRealpath);
  REQUIRE_EQ(run(bare.with_path(dir.file("link")).with_buffer(4096)), target.size());
  EXPECT_TRUE(bare.text(static_cast<std::int32_t>(target.size())) == target);
  EXPECT_EQ(run(bare.with_buffer(static_cast<std::uint32_t>(target.size() - 1))), -ENAMETOOLONG);
  EXPECT_EQ(run(bare.with_path(dir.file("none"))), -ENOENT);
}

TEST("posix: copy range copies, and refuses where 0 bytes would be a lie") {
  TempDir dir;
  const UniqueFd source = open_file(dir.write("a", "0123456789"), O_RDONLY);
  const UniqueFd target = open_file(dir.write("b", ""), O_RDWR);
  BareOperation bare(Opcode::kCopyRange);
  bare.with_fd(source.get()).with_arguments(static_cast<std::uint32_t>(target.get()));
  std::int32_t copied = run(bare.with_value(4));
  if (copied == -EXDEV || copied == -EOPNOTSUPP) SKIP("no copy_file_range on this file system");
  EXPECT_EQ(copied, 4);
  EXPECT_EQ(run(bare.with_value(~std::uint64_t{0})), 6);
  EXPECT_EQ(run(bare), 0);
  EXPECT_EQ(status_of(dir.file("b")).st_size, 10);
  // A size of 0 is what procfs says too, where older kernels copy nothing and report success.
  const UniqueFd empty = open_file(dir.write("empty", ""), O_RDONLY);
  EXPECT_EQ(run(bare.with_fd(empty.get())), -EOPNOTSUPP);
  const UniqueFd status = open_file("/proc/self/status", O_RDONLY);
  BareOperation special(Opcode::kCopyRange);
  special.with_fd(status.get()).with_arguments(static_cast<std::uint32_t>(target.get()));
  EXPECT_TRUE(run(special.with_value(100)) < 0);
}

TEST("posix: clone shares extents or says why not") {
  TempDir dir;
  const UniqueFd source = open_file(dir.write("a", "0123456789"), O_RDONLY);
  const UniqueFd target = open_file(dir.write("b", ""), O_RDWR);
  BareOperation bare(Opcode::kClone);
  bare.with_fd(source.get()).with_arguments(static_cast<std::uint32_t>(target.get()));
  const std::int32_t result = run(bare);
  EXPECT_TRUE(result == 0 || result == -EOPNOTSUPP || result == -ENOTTY || result == -EINVAL);
  EXPECT_EQ(status_of(dir.file("b")).st_size, result == 0 ? 10 : 0);
}

TEST("posix: a whole file is one file's whole content, while names move") {
  TempDir dir;
  const std::string path = dir.write("a", std::string(100, 'a'));
  const std::string other = dir.write("b", std::string(5000, 'b'));
  std::atomic<bool> is_done{false};
  std::thread mover([&] {
    while (!is_done) CHECK_EQ(::renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, other.c_str(), 2), 0);
  });
  int read_count = 0;
  int torn_count = 0;
  for (int round = 0; round < 20'000; round++) {
    BareOperation bare(Opcode::kReadFile);
    const std::int32_t bytes = run(bare.with_path(path).with_buffer(8192));
    if (bytes == -EAGAIN) continue;
    read_count++;
    const std::string_view text = bare.text(std::max(bytes, 0));
    torn_count += text == std::string(100, 'a') || text == std::string(5000, 'b') ? 0 : 1;
  }
  is_done = true;
  mover.join();
  EXPECT_TRUE(read_count > 0);
  EXPECT_EQ(torn_count, 0);
}

TEST("posix: close of a bad descriptor, nop, and what is not an operation") {
  BareOperation close(Opcode::kClose);
  EXPECT_EQ(run(close), -EBADF);
  BareOperation nop(Opcode::kNop);
  EXPECT_EQ(run(nop), 0);
  BareOperation none(Opcode::kCount);
  EXPECT_EQ(run(none), -EINVAL);
}
