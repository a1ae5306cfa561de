// Runs a command under a filter that makes system calls fail, as container profiles do.
//   seccomp_launcher ERRNO [SYSCALL...] -- COMMAND [ARGUMENT...]
// ERRNO is a name (EPERM, ENOSYS, EOPNOTSUPP, EACCES), SYSCALL a name of the table below; none
// means the three of io_uring. Exit code 125: wrong usage, 126: the filter or the exec failed. Not
// here: what is expected of the command (trouble_refused.test.ts).
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#else
#error "the launcher knows x86_64 and arm64"
#endif

// Numbers of calls since Linux 5.1 are the same on every architecture; old headers lack them.
static const struct {
  const char* name;
  unsigned number;
} kCalls[] = {
    {"io_uring_setup", 425},    {"io_uring_enter", 426},      {"io_uring_register", 427},
    {"openat2", 437},           {"statx", SYS_statx},         {"preadv2", SYS_preadv2},
    {"pwritev2", SYS_pwritev2}, {"renameat2", SYS_renameat2},
};
static const struct {
  const char* name;
  int number;
} kErrors[] = {
    {"EPERM", EPERM}, {"ENOSYS", ENOSYS}, {"EOPNOTSUPP", EOPNOTSUPP}, {"EACCES", EACCES}};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define CALLS_MAX 16

static int find_error(const char* name) {
  for (size_t i = 0; i < COUNT(kErrors); i++) {
    if (strcmp(kErrors[i].name, name) == 0) return kErrors[i].number;
  }
  return -1;
}

static int find_call(const char* name) {
  for (size_t i = 0; i < COUNT(kCalls); i++) {
    if (strcmp(kCalls[i].name, name) == 0) return (int)kCalls[i].number;
  }
  return -1;
}

static int install(const unsigned* calls, unsigned count, int error) {
  struct sock_filter code[2 * CALLS_MAX + 5];
  unsigned short length = 0;
  const struct sock_filter load_arch =
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
  const struct sock_filter is_ours = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCH, 1, 0);
  const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_filter load_number =
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  const struct sock_filter refuse =
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ((unsigned)error & SECCOMP_RET_DATA));
  code[length++] = load_arch;
  code[length++] = is_ours;
  code[length++] = allow;
  code[length++] = load_number;
  for (unsigned i = 0; i < count; i++) {
    const struct sock_filter match = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1);
    code[length++] = match;
    code[length++] = refuse;
  }
  code[length++] = allow;
  const struct sock_fprog program = {length, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char** argv) {
  unsigned calls[CALLS_MAX] = {425, 426, 427};
  unsigned count = 0;
  int at = 2;
  const int error = argc > 1 ? find_error(argv[1]) : -1;
  for (; at < argc && strcmp(argv[at], "--") != 0 && count < CALLS_MAX; at++) {
    const int call = find_call(argv[at]);
    if (call < 0) break;
    calls[count++] = (unsigned)call;
  }
  if (error < 0 || at + 1 >= argc || strcmp(argv[at], "--") != 0) {
    fprintf(stderr, "usage: seccomp_launcher ERRNO [SYSCALL...] -- COMMAND [ARGUMENT...]\n");
    return 125;
  }
  if (install(calls, count == 0 ? 3 : count, error) != 0) {
    perror("seccomp");
    return 126;
  }
  execvp(argv[at + 1], argv + at + 1);
  perror(argv[at + 1]);
  return 126;
}
