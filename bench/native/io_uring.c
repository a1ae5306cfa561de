// c:io_uring, the asynchronous reference: one thread, one ring over raw system calls, aligned
// buffers, `depth` operations in flight. One io_uring_enter submits every free slot and takes what
// is done, so the number of system calls per operation is 1/depth for work that completes inline.
//
// The ring lives for the whole process; one run owns all of its slots. No registered buffers or
// files: the reference does what the runtime does through the same operations, without JavaScript.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/stat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "peer.h"

struct ring {
  int fd;
  uint32_t entries;
  char* base;
  size_t base_bytes;
  uint32_t *sq_tail, *sq_mask;
  uint32_t *cq_head, *cq_tail, *cq_mask;
  uint32_t tail;  // local copy of the submission tail
  uint32_t unsubmitted;
  struct io_uring_sqe* sqes;
  struct io_uring_cqe* cqes;
};

enum stage { STAGE_TRANSFER, STAGE_OPEN, STAGE_READ, STAGE_CLOSE, STAGE_STAT };

struct slot {
  enum stage stage;
  int fd;
  int timed;
  uint64_t started_ns;
  uint32_t* words;
  char path[PEER_PATH_BYTES];
  struct statx statx;
};

static struct ring ring = {.fd = -1};

static void* map_ring(size_t bytes, off_t offset) {
  return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd, offset);
}

static void ring_close(void) {
  if (ring.fd < 0) return;
  munmap(ring.base, ring.base_bytes);
  munmap(ring.sqes, ring.entries * sizeof(struct io_uring_sqe));
  close(ring.fd);
  ring.fd = -1;
}

static int ring_open(uint32_t depth) {
  if (ring.fd >= 0 && ring.entries >= depth) return 0;
  ring_close();
  struct io_uring_params params = {.flags =
                                       IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN};
  ring.fd = (int)syscall(__NR_io_uring_setup, depth, &params);
  if (ring.fd < 0) {
    memset(&params, 0, sizeof params);  // kernels before 6.1
    ring.fd = (int)syscall(__NR_io_uring_setup, depth, &params);
  }
  if (ring.fd < 0) return -errno;
  size_t sq_bytes = params.sq_off.array + params.sq_entries * sizeof(uint32_t);
  size_t cq_bytes = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
  size_t ring_bytes = sq_bytes > cq_bytes ? sq_bytes : cq_bytes;  // one mapping, since 5.4
  char* base = map_ring(ring_bytes, IORING_OFF_SQ_RING);
  void* sqes = map_ring(params.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
  if (base == MAP_FAILED || sqes == MAP_FAILED) return -errno;
  ring.entries = params.sq_entries;
  ring.base = base;
  ring.base_bytes = ring_bytes;
  ring.sq_tail = (uint32_t*)(base + params.sq_off.tail);
  ring.sq_mask = (uint32_t*)(base + params.sq_off.ring_mask);
  ring.cq_head = (uint32_t*)(base + params.cq_off.head);
  ring.cq_tail = (uint32_t*)(base + params.cq_off.tail);
  ring.cq_mask = (uint32_t*)(base + params.cq_off.ring_mask);
  ring.cqes = (struct io_uring_cqe*)(base + params.cq_off.cqes);
  ring.sqes = sqes;
  ring.tail = *ring.sq_tail;
  ring.unsubmitted = 0;
  uint32_t* array = (uint32_t*)(base + params.sq_off.array);
  for (uint32_t i = 0; i < params.sq_entries; i++) array[i] = i;
  return 0;
}

// A slot has at most one entry in flight and there are never more slots than entries.
static struct io_uring_sqe* next_entry(uint8_t opcode, uint32_t slot_index) {
  struct io_uring_sqe* sqe = &ring.sqes[ring.tail++ & *ring.sq_mask];
  ring.unsubmitted++;
  memset(sqe, 0, sizeof *sqe);
  sqe->opcode = opcode;
  sqe->user_data = slot_index;
  return sqe;
}

static int submit_and_wait(void) {
  __atomic_store_n(ring.sq_tail, ring.tail, __ATOMIC_RELEASE);
  for (;;) {
    long done =
        syscall(__NR_io_uring_enter, ring.fd, ring.unsubmitted, 1, IORING_ENTER_GETEVENTS, NULL, 0);
    if (done >= 0) {
      ring.unsubmitted -= (uint32_t)done;
      return 0;
    }
    if (errno != EINTR) return -errno;
  }
}

static void transfer_entry(const struct run* run, struct slot* slot, uint32_t slot_index, int fd,
                           uint32_t block) {
  int writing = run->request.workload == WORKLOAD_WRITE;
  struct io_uring_sqe* sqe = next_entry(writing ? IORING_OP_WRITE : IORING_OP_READ, slot_index);
  if (writing) write_stamp(run, slot->words, block);
  sqe->fd = fd;
  sqe->addr = (uint64_t)(uintptr_t)slot->words;
  sqe->len = run->request.block_bytes;
  sqe->off = (uint64_t)block * run->request.block_bytes;
  slot->stage = STAGE_TRANSFER;
}

static void stat_entry(struct slot* slot, uint32_t slot_index) {
  struct io_uring_sqe* sqe = next_entry(IORING_OP_STATX, slot_index);
  sqe->fd = AT_FDCWD;
  sqe->addr = (uint64_t)(uintptr_t)slot->path;
  sqe->len = STATX_BASIC_STATS;
  sqe->off = (uint64_t)(uintptr_t)&slot->statx;
  slot->stage = STAGE_STAT;
}

static void open_entry(struct slot* slot, uint32_t slot_index) {
  struct io_uring_sqe* sqe = next_entry(IORING_OP_OPENAT, slot_index);
  sqe->fd = AT_FDCWD;
  sqe->addr = (uint64_t)(uintptr_t)slot->path;
  sqe->open_flags = O_RDONLY | O_CLOEXEC;
  slot->stage = STAGE_OPEN;
}

static void start_operation(struct run* run, struct slot* slots, uint32_t slot_index, int fd,
                            uint32_t op_index) {
  struct slot* slot = &slots[slot_index];
  slot->timed = op_index % run->request.stride == 0;
  if (slot->timed) slot->started_ns = now_ns();
  uint32_t block = run->sequence[op_index];
  if (run->request.workload == WORKLOAD_READ || run->request.workload == WORKLOAD_WRITE) {
    transfer_entry(run, slot, slot_index, fd, block);
    return;
  }
  small_file_path(run, block, slot->path);
  if (run->request.workload == WORKLOAD_STAT)
    stat_entry(slot, slot_index);
  else
    open_entry(slot, slot_index);
}

// Takes one result. Returns 1 when the slot's operation is over, 0 when its next stage was queued,
// or a negative errno.
static int advance(struct run* run, struct slot* slot, uint32_t slot_index, int32_t result) {
  if (result < 0) return result;
  switch (slot->stage) {
    case STAGE_OPEN: {
      slot->fd = result;
      struct io_uring_sqe* sqe = next_entry(IORING_OP_READ, slot_index);
      sqe->fd = slot->fd;
      sqe->addr = (uint64_t)(uintptr_t)slot->words;
      sqe->len = run->request.block_bytes;
      slot->stage = STAGE_READ;
      return 0;
    }
    case STAGE_READ:
      if ((uint32_t)result != run->request.block_bytes) return -EIO;
      run_add_read(run, slot->words);
      next_entry(IORING_OP_CLOSE, slot_index)->fd = slot->fd;
      slot->stage = STAGE_CLOSE;
      return 0;
    case STAGE_TRANSFER:
      if ((uint32_t)result != run->request.block_bytes) return -EIO;
      if (run->request.workload == WORKLOAD_READ) run_add_read(run, slot->words);
      return 1;
    case STAGE_STAT:
      run_add_stat(run, slot->statx.stx_size, slot->statx.stx_mtime.tv_sec);
      return 1;
    case STAGE_CLOSE:
      return 1;
  }
  return -EINVAL;
}

// Keeps every slot busy until all operations are done; stops starting new ones after an error and
// drains what is in flight, so that no completion is left for the next run.
static int drive(struct run* run, struct slot* slots, int fd) {
  const struct request* request = &run->request;
  uint32_t started = 0, in_flight = 0;
  int error = 0;
  for (; in_flight < request->depth && started < request->ops; started++)
    start_operation(run, slots, in_flight++, fd, started);
  while (in_flight > 0) {
    int entered = submit_and_wait();
    if (entered < 0) return entered;
    uint32_t head = *ring.cq_head;
    uint32_t tail = __atomic_load_n(ring.cq_tail, __ATOMIC_ACQUIRE);
    for (; head != tail; head++) {
      const struct io_uring_cqe* cqe = &ring.cqes[head & *ring.cq_mask];
      uint32_t slot_index = (uint32_t)cqe->user_data;
      int over = advance(run, &slots[slot_index], slot_index, cqe->res);
      if (over == 0) continue;
      if (over < 0 && error == 0) error = over;
      if (over > 0 && slots[slot_index].timed) run_add_sample(run, slots[slot_index].started_ns);
      if (error == 0 && started < request->ops) {
        start_operation(run, slots, slot_index, fd, started++);
      } else {
        in_flight--;
      }
    }
    __atomic_store_n(ring.cq_head, head, __ATOMIC_RELEASE);
  }
  return error;
}

static int work(struct run* run) {
  const struct request* request = &run->request;
  int error = ring_open(request->depth);
  if (error < 0) return error;
  int blocks = request->workload == WORKLOAD_READ || request->workload == WORKLOAD_WRITE;
  int writing = request->workload == WORKLOAD_WRITE;
  int fd = -1;
  if (blocks) {
    fd = open(request->path, (writing ? O_WRONLY : O_RDONLY) | (request->direct ? O_DIRECT : 0));
    if (fd < 0) return -errno;
  }
  struct slot* slots = alloc_aligned(request->depth * sizeof(struct slot));
  char* memory = alloc_aligned((size_t)request->depth * request->block_bytes);
  for (uint32_t i = 0; i < request->depth; i++) {
    slots[i].words = (uint32_t*)(memory + (size_t)i * request->block_bytes);
    if (writing) write_fill(run, slots[i].words);
  }
  run_begin(run);
  error = drive(run, slots, fd);
  run_end(run);
  free(memory);
  free(slots);
  if (fd >= 0) close(fd);
  return error;
}

static int ready(void) {
  return ring_open(1);
}

int main(void) {
  return peer_main("c:io_uring", ready, work);
}
