// c:pread, the blocking reference: one thread, one system call per operation, no queue. The depth
// of a request means nothing here; it is the floor of what one core pays the kernel for the same
// work.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "peer.h"

static int transfer_blocks(struct run* run, uint32_t* words) {
  const struct request* request = &run->request;
  int writing = request->workload == WORKLOAD_WRITE;
  int fd = open(request->path, (writing ? O_WRONLY : O_RDONLY) | (request->direct ? O_DIRECT : 0));
  if (fd < 0) return -errno;
  if (writing) write_fill(run, words);
  int result = 0;
  run_begin(run);
  for (uint32_t i = 0; i < request->ops && result == 0; i++) {
    uint32_t block = run->sequence[i];
    off_t offset = (off_t)block * request->block_bytes;
    int timed = i % request->stride == 0;
    uint64_t started = timed ? now_ns() : 0;
    if (writing) write_stamp(run, words, block);
    ssize_t done = writing ? pwrite(fd, words, request->block_bytes, offset)
                           : pread(fd, words, request->block_bytes, offset);
    if (done != (ssize_t)request->block_bytes)
      result = done < 0 ? -errno : -EIO;
    else if (!writing)
      run_add_read(run, words);
    if (timed) run_add_sample(run, started);
  }
  run_end(run);
  close(fd);
  return result;
}

static int read_small_file(struct run* run, const char* path, uint32_t* words) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  ssize_t done = pread(fd, words, run->request.block_bytes, 0);
  int result = done == (ssize_t)run->request.block_bytes ? 0 : done < 0 ? -errno : -EIO;
  if (close(fd) != 0 && result == 0) result = -errno;
  if (result == 0) run_add_read(run, words);
  return result;
}

static int stat_small_file(struct run* run, const char* path) {
  struct stat stat_buffer;
  if (stat(path, &stat_buffer) != 0) return -errno;
  run_add_stat(run, (uint64_t)stat_buffer.st_size, stat_buffer.st_mtim.tv_sec);
  return 0;
}

static int visit_small_files(struct run* run, uint32_t* words) {
  const struct request* request = &run->request;
  char path[PEER_PATH_BYTES];
  int result = 0;
  run_begin(run);
  for (uint32_t i = 0; i < request->ops && result == 0; i++) {
    int timed = i % request->stride == 0;
    uint64_t started = timed ? now_ns() : 0;
    small_file_path(run, run->sequence[i], path);
    result = request->workload == WORKLOAD_STAT ? stat_small_file(run, path)
                                                : read_small_file(run, path, words);
    if (timed) run_add_sample(run, started);
  }
  run_end(run);
  return result;
}

static int work(struct run* run) {
  uint32_t* words = alloc_aligned(run->request.block_bytes);
  int blocks = run->request.workload == WORKLOAD_READ || run->request.workload == WORKLOAD_WRITE;
  int result = blocks ? transfer_blocks(run, words) : visit_small_files(run, words);
  free(words);
  return result;
}

static int ready(void) {
  return 0;
}

int main(void) {
  return peer_main("c:pread", ready, work);
}
