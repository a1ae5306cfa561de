// What is left where a sandbox refuses the newer calls with EPERM (statx, openat2, preadv2,
// pwritev2, copy_file_range: container run-times before 2019): the same results, by slower ways.
// Method: the first test installs a seccomp filter for the whole process; nothing takes it off.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cstddef>

#include "backend/posix_ops.h"
#include "bare_operation.h"
#include "epoll_fixture.h"
#include "harness.h"
#include "temp_dir.h"

using nephrite::UniqueFd;
using test::BareOperation;
using test::Epoll;
using test::Opcode;
using test::Pipe;
using test::SubmissionEntry;
using test::TempDir;

namespace {

bool install_filter() {
  constexpr long kOpenat2 = 437;
  const long refused[] = {kOpenat2, SYS_statx, SYS_preadv2, SYS_pwritev2, SYS_copy_file_range};
  std::vector<sock_filter> program;
  program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
  for (const long number : refused) {
    program.push_back(
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// Before any pool thread exists: they inherit it.
bool is_filtered() {
  static const bool answer = install_filter();
  return answer;
}

}  // namespace

TEST("refused: open tells the kind, stat and fstat tell all but the time of birth") {
  if (!is_filtered()) SKIP("no seccomp filters here");
  TempDir dir;
  const std::string path = dir.write("a", "12345");
  BareOperation open(Opcode::kOpen);
  const UniqueFd fd(
      nephrite::run_blocking(open.with_path(path).with_arguments(O_RDONLY).operation));
  REQUIRE_TRUE(fd.valid());
  EXPECT_EQ(open.operation.result_flags & nephrite::abi::kCompletionKindMask, S_IFREG >> 12);
  struct stat expected {};
  REQUIRE_EQ(::stat(path.c_str(), &expected), 0);
  BareOperation by_path(Opcode::kStat);
  BareOperation by_fd(Opcode::kStat);
  REQUIRE_EQ(nephrite::run_blocking(by_path.with_path(path).operation), 0);
  REQUIRE_EQ(nephrite::run_blocking(by_fd.with_fd(fd.get()).operation), 0);
  for (const BareOperation* bare : {&by_path, &by_fd}) {
    EXPECT_EQ(bare->stat.size, 5);
    EXPECT_EQ(bare->stat.ino, expected.st_ino);
    EXPECT_EQ(bare->stat.mode, expected.st_mode);
    EXPECT_EQ(bare->stat.mtime.nsec, expected.st_mtim.tv_nsec);
    EXPECT_EQ(bare->stat.mask & 0x800, 0);
  }
  BareOperation missing(Opcode::kStat);
  EXPECT_EQ(nephrite::run_blocking(missing.with_path(dir.file("none")).operation), -ENOENT);
}

TEST("refused: reads of files go through the pool, with the same bytes") {
  if (!is_filtered()) SKIP("no seccomp filters here");
  TempDir dir;
  Epoll epoll;
  SubmissionEntry open = epoll.with_path(Opcode::kOpen, dir.write("a", "hello"));
  const std::int32_t fd = epoll.run(open);
  REQUIRE_TRUE(fd >= 0);
  SubmissionEntry read = epoll.with_buffer(Opcode::kRead, fd, 100);
  read.offset = 1;
  EXPECT_EQ(epoll.run(read), 4);
  EXPECT_TRUE(std::string_view(epoll.buffer_of(read), 4) == "ello");
  EXPECT_TRUE(epoll.pooled() > 0);
}

TEST("refused: an O_NONBLOCK pipe without data still waits, in epoll") {
  if (!is_filtered()) SKIP("no seccomp filters here");
  Epoll epoll;
  const Pipe pipe(O_NONBLOCK);
  const SubmissionEntry first = epoll.with_buffer(Opcode::kRead, pipe.in.get(), 3);
  const SubmissionEntry second = epoll.with_buffer(Opcode::kRead, pipe.in.get(), 3);
  epoll.submit(first);
  epoll.submit(second);
  epoll.enter();
  EXPECT_TRUE(!epoll.peek(first).has_value());
  pipe.put("abcde");
  EXPECT_EQ(epoll.result_of(first), 3);
  EXPECT_EQ(epoll.result_of(second), 2);
  const SubmissionEntry third = epoll.with_buffer(Opcode::kRead, pipe.in.get(), 3);
  epoll.submit(third);
  epoll.enter();
  EXPECT_EQ(epoll.cancel(third), 0);
  EXPECT_EQ(epoll.result_of(third), -ECANCELED);
  EXPECT_EQ(epoll.pooled(), 0u);
}

TEST("refused: a blocking pipe without data holds up no thread and can be cancelled") {
  if (!is_filtered()) SKIP("no seccomp filters here");
  Epoll epoll;
  const Pipe pipe;
  std::vector<SubmissionEntry> reads;
  for (int index = 0; index < 20; index++) {
    reads.push_back(epoll.with_buffer(Opcode::kRead, pipe.in.get(), 3));
    epoll.submit(reads.back());
  }
  EXPECT_EQ(epoll.run(epoll.with_path(Opcode::kStat, "/")), 0);
  EXPECT_EQ(epoll.cancel(reads.back()), 0);
  EXPECT_EQ(epoll.result_of(reads.back()), -ECANCELED);
  pipe.put("abcdefghi");
  for (int index = 0; index < 3; index++) {
    const SubmissionEntry& read = reads[static_cast<std::size_t>(index)];
    REQUIRE_EQ(epoll.result_of(read), 3);
    EXPECT_EQ(epoll.buffer_of(read)[0] - 'a', index * 3);
  }
  for (std::size_t index = 3; index < 19; index++) EXPECT_EQ(epoll.cancel(reads[index]), 0);
}

TEST("refused: FIFO opens are told apart by the pool's thread") {
  if (!is_filtered()) SKIP("no seccomp filters here");
  TempDir dir;
  Epoll epoll;
  std::vector<SubmissionEntry> opens;
  for (int index = 0; index < 8; index++) {
    opens.push_back(epoll.with_path(Opcode::kOpen, dir.fifo("f" + std::to_string(index))));
    epoll.submit(opens.back());
  }
  EXPECT_EQ(epoll.run(epoll.with_path(Opcode::kStat, "/")), 0);
  std::vector<UniqueFd> writers;
  for (int index = 0; index < 8; index++) {
    writers.emplace_back(
        ::open(dir.file("f" + std::to_string(index)).c_str(), O_WRONLY | O_CLOEXEC));
  }
  for (const SubmissionEntry& open : opens) EXPECT_TRUE(epoll.result_of(open) >= 0);
}
