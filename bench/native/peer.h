// What both C reference programs share: the line protocol, the seeded sequence, checksums, aligned
// buffers and latency samples. The programs exist to show what the machine can do without
// JavaScript, in the same interleaved rounds and on the same input.
//
// Protocol: one request line `run key=value ...` on stdin (values percent-encoded), one reply line
// `ok key=value ...` or `error message=...` on stdout. End of input ends the program.
// The arithmetic (xorshift32, mix32, FNV-1a over 32-bit words) must equal bench/harness/work.ts:
// the harness compares every checksum with its own.
#ifndef NEPHRITE_BENCH_PEER_H
#define NEPHRITE_BENCH_PEER_H

#include <stddef.h>
#include <stdint.h>

#define PEER_FOLDER_BYTES 4000
#define PEER_PATH_BYTES 4096
#define PEER_SAMPLES_MAX 4096
#define PEER_OPS_MAX (1u << 26)
#define PEER_DEPTH_MAX 4096u

enum workload { WORKLOAD_READ, WORKLOAD_WRITE, WORKLOAD_SMALL_FILES, WORKLOAD_STAT };

struct request {
  enum workload workload;
  char path[PEER_FOLDER_BYTES];  // the data file, or the folder of small files
  uint32_t ops;
  uint32_t depth;
  uint32_t block_bytes;
  uint32_t blocks;    // blocks in the data file, or files in the folder
  uint32_t seed;      // of the block sequence
  uint32_t run_seed;  // stamps what this run writes
  uint32_t stride;    // every stride-th operation is timed
  int sequential;
  int direct;  // O_DIRECT
  int verify;  // hash every byte instead of the first and last word
};

// The work of one run; `sequence` is made before the clock starts, as in the JavaScript subjects.
struct run {
  struct request request;
  uint32_t* sequence;
  uint64_t began_ns;
  uint64_t elapsed_ns;
  uint64_t cpu_ns;    // of all threads of the process, the kernel's workers included
  uint32_t checksum;  // sums modulo 2^32, so the order of completion does not matter
  uint32_t sample_count;
  uint32_t samples_ns[PEER_SAMPLES_MAX];
};

// Runs `run->request.ops` operations between run_begin and run_end; 0, or a negative errno.
// Opening the data file and making buffers is not timed, here as in the JavaScript subjects.
typedef int (*workload_fn)(struct run* run);

uint64_t now_ns(void);
void* alloc_aligned(size_t bytes);  // 4096-aligned, zeroed; ends the program if there is none

void run_begin(struct run* run);
void run_end(struct run* run);

// Adds one finished read of `block_bytes` at `words` to the checksum.
void run_add_read(struct run* run, const uint32_t* words);
// Adds one stat result.
void run_add_stat(struct run* run, uint64_t size_bytes, int64_t mtime_seconds);
void run_add_sample(struct run* run, uint64_t started_ns);

// Fills a write buffer with this run's pattern; write_stamp marks it with the block's number.
void write_fill(const struct run* run, uint32_t* words);
void write_stamp(const struct run* run, uint32_t* words, uint32_t block);

void small_file_path(const struct run* run, uint32_t index, char* out);

// Whether the machine has what the program needs: 0, or a negative errno.
typedef int (*ready_fn)(void);

// Serves requests from stdin until its end. Returns the exit code.
int peer_main(const char* subject, ready_fn ready, workload_fn work);

#endif
