// Names of io_uring's setup flags, features and operations, to show what a kernel offers.
// Source: the kernel's public header (include/uapi/linux/io_uring.h); position is bit or number.
// Owner: these tables. Invariants: a bit without a name is shown by its number.
// Not here: which operations the library needs (NEEDED below names those of files).

export const SETUP_FLAGS = (
  'IOPOLL SQPOLL SQ_AFF CQSIZE CLAMP ATTACH_WQ R_DISABLED SUBMIT_ALL COOP_TASKRUN TASKRUN_FLAG ' +
  'SQE128 CQE32 SINGLE_ISSUER DEFER_TASKRUN NO_MMAP REGISTERED_FD_ONLY NO_SQARRAY HYBRID_IOPOLL'
).split(' ');

export const FEATURES = (
  'SINGLE_MMAP NODROP SUBMIT_STABLE RW_CUR_POS CUR_PERSONALITY FAST_POLL POLL_32BITS ' +
  'SQPOLL_NONFIXED EXT_ARG NATIVE_WORKERS RSRC_TAGS CQE_SKIP LINKED_FILE REG_REG_RING ' +
  'RECVSEND_BUNDLE MIN_TIMEOUT RW_ATTR NO_IOWAIT'
).split(' ');

export const OPCODES = (
  'NOP READV WRITEV FSYNC READ_FIXED WRITE_FIXED POLL_ADD POLL_REMOVE SYNC_FILE_RANGE SENDMSG ' +
  'RECVMSG TIMEOUT TIMEOUT_REMOVE ACCEPT ASYNC_CANCEL LINK_TIMEOUT CONNECT FALLOCATE OPENAT ' +
  'CLOSE FILES_UPDATE STATX READ WRITE FADVISE MADVISE SEND RECV OPENAT2 EPOLL_CTL SPLICE ' +
  'PROVIDE_BUFFERS REMOVE_BUFFERS TEE SHUTDOWN RENAMEAT UNLINKAT MKDIRAT SYMLINKAT LINKAT ' +
  'MSG_RING FSETXATTR SETXATTR FGETXATTR GETXATTR SOCKET URING_CMD SEND_ZC SENDMSG_ZC ' +
  'READ_MULTISHOT WAITID FUTEX_WAIT FUTEX_WAKE FUTEX_WAITV FIXED_FD_INSTALL FTRUNCATE BIND ' +
  'LISTEN RECV_ZC EPOLL_WAIT READV_FIXED WRITEV_FIXED PIPE'
).split(' ');

/** Operations that files go through; a missing one is carried out by the blocking pool. */
export const FILE_OPCODES: readonly string[] = [
  'READ',
  'WRITE',
  'FSYNC',
  'FALLOCATE',
  'FTRUNCATE',
  'OPENAT',
  'CLOSE',
  'STATX',
  'RENAMEAT',
  'UNLINKAT',
  'MKDIRAT',
  'SYMLINKAT',
  'LINKAT',
  'ASYNC_CANCEL',
];

/** Names of the set bits of a mask of up to 32 bits; `first` is the number of its lowest bit. */
export function namesOfBits(mask: number, names: readonly string[], first = 0): string[] {
  const found: string[] = [];
  for (let bit = 0; bit < 32; bit++) {
    if (((mask >>> bit) & 1) === 1) found.push(names[first + bit] ?? `#${first + bit}`);
  }
  return found;
}
