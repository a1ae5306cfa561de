// The shared half of the C reference programs; see peer.h for the contract.
// Everything here is outside the timed part except run_add_* and write_stamp, which do the same
// arithmetic as the JavaScript subjects do per operation.
#include "peer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES 16384

uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void* alloc_aligned(size_t bytes) {
  void* memory = NULL;
  if (posix_memalign(&memory, 4096, bytes) != 0) {
    fprintf(stderr, "no memory for %zu bytes\n", bytes);
    exit(1);
  }
  memset(memory, 0, bytes);
  return memory;
}

static uint64_t cpu_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void run_begin(struct run* run) {
  run->cpu_ns = cpu_now_ns();
  run->began_ns = now_ns();
}

void run_end(struct run* run) {
  run->elapsed_ns = now_ns() - run->began_ns;
  run->cpu_ns = cpu_now_ns() - run->cpu_ns;
}

static uint32_t mix32(uint32_t x) {
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  x ^= x >> 13;
  x *= 0xc2b2ae35u;
  x ^= x >> 16;
  return x;
}

static uint32_t hash_words(const uint32_t* words, uint32_t count) {
  uint32_t hash = 0x811c9dc5u;
  for (uint32_t i = 0; i < count; i++) hash = (hash ^ words[i]) * 0x01000193u;
  return hash;
}

void run_add_read(struct run* run, const uint32_t* words) {
  uint32_t count = run->request.block_bytes / 4;
  run->checksum += run->request.verify ? hash_words(words, count) : words[0] + words[count - 1];
}

void run_add_stat(struct run* run, uint64_t size_bytes, int64_t mtime_seconds) {
  run->checksum += (uint32_t)size_bytes + (uint32_t)mtime_seconds;
}

void run_add_sample(struct run* run, uint64_t started_ns) {
  if (run->sample_count == PEER_SAMPLES_MAX) return;
  uint64_t elapsed = now_ns() - started_ns;
  run->samples_ns[run->sample_count++] = elapsed > UINT32_MAX ? UINT32_MAX : (uint32_t)elapsed;
}

void write_fill(const struct run* run, uint32_t* words) {
  uint32_t count = run->request.block_bytes / 4;
  for (uint32_t i = 0; i < count; i++) words[i] = mix32(run->request.run_seed + i * 0x85ebca6bu);
}

void write_stamp(const struct run* run, uint32_t* words, uint32_t block) {
  uint32_t stamp = mix32(run->request.run_seed + block * 0x9e3779b1u);
  words[0] = stamp;
  words[run->request.block_bytes / 4 - 1] = stamp;
}

void small_file_path(const struct run* run, uint32_t index, char* out) {
  snprintf(out, PEER_PATH_BYTES, "%s/f%05u", run->request.path, index);
}

static void make_sequence(struct run* run) {
  const struct request* request = &run->request;
  run->sequence = malloc((size_t)request->ops * sizeof(uint32_t));
  if (run->sequence == NULL) {
    fprintf(stderr, "no memory for %u operations\n", request->ops);
    exit(1);
  }
  uint32_t x = request->seed;
  for (uint32_t i = 0; i < request->ops; i++) {
    if (request->sequential) {
      run->sequence[i] = i % request->blocks;
      continue;
    }
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    run->sequence[i] = x % request->blocks;
  }
}

static void percent_decode(char* text) {
  char* out = text;
  for (; *text != '\0'; text++) {
    if (text[0] == '%' && text[1] != '\0' && text[2] != '\0') {
      char hex[3] = {text[1], text[2], '\0'};
      *out++ = (char)strtol(hex, NULL, 16);
      text += 2;
    } else {
      *out++ = *text;
    }
  }
  *out = '\0';
}

static int parse_workload(const char* name, enum workload* out) {
  static const char* const names[] = {"read", "write", "smallFiles", "stat"};
  for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(name, names[i]) == 0) {
      *out = (enum workload)i;
      return 0;
    }
  }
  return -1;
}

// Unknown keys are ignored: the harness sends one request to all subjects.
static int parse_request(char* line, struct request* request) {
  memset(request, 0, sizeof *request);
  int has_workload = 0;
  for (char* token = strtok(line, " \n"); token != NULL; token = strtok(NULL, " \n")) {
    char* value = strchr(token, '=');
    if (value == NULL) continue;
    *value++ = '\0';
    percent_decode(value);
    uint32_t number = (uint32_t)strtoul(value, NULL, 10);
    if (strcmp(token, "workload") == 0)
      has_workload = parse_workload(value, &request->workload) == 0;
    if (strcmp(token, "path") == 0) snprintf(request->path, sizeof request->path, "%s", value);
    if (strcmp(token, "ops") == 0) request->ops = number;
    if (strcmp(token, "depth") == 0) request->depth = number;
    if (strcmp(token, "blockBytes") == 0) request->block_bytes = number;
    if (strcmp(token, "blocks") == 0) request->blocks = number;
    if (strcmp(token, "seed") == 0) request->seed = number;
    if (strcmp(token, "runSeed") == 0) request->run_seed = number;
    if (strcmp(token, "stride") == 0) request->stride = number;
    if (strcmp(token, "sequential") == 0) request->sequential = number != 0;
    if (strcmp(token, "direct") == 0) request->direct = number != 0;
    if (strcmp(token, "verify") == 0) request->verify = number != 0;
  }
  return has_workload && request->ops > 0 && request->ops <= PEER_OPS_MAX && request->depth > 0 &&
                 request->depth <= PEER_DEPTH_MAX && request->block_bytes >= 8 &&
                 request->block_bytes % 4 == 0 && request->blocks > 0 && request->seed != 0 &&
                 request->stride > 0
             ? 0
             : -EINVAL;
}

// VmHWM and not getrusage: ru_maxrss survives exec and would be the parent's.
static long peak_rss_kib(void) {
  FILE* status = fopen("/proc/self/status", "r");
  if (status == NULL) return 0;
  char line[256];
  long kib = 0;
  while (fgets(line, sizeof line, status) != NULL) {
    if (sscanf(line, "VmHWM: %ld", &kib) == 1) break;
  }
  fclose(status);
  return kib;
}

static void reply(const struct run* run) {
  printf("ok ops=%u elapsedNs=%llu cpuNs=%llu checksum=%u peakRssKiB=%ld samples=",
         run->request.ops, (unsigned long long)run->elapsed_ns, (unsigned long long)run->cpu_ns,
         run->checksum, peak_rss_kib());
  for (uint32_t i = 0; i < run->sample_count; i++) printf("%s%u", i ? "," : "", run->samples_ns[i]);
  printf("\n");
}

static void reply_error(int error, int unavailable) {
  printf("error unavailable=%d message=", unavailable);
  for (const char* c = strerror(error); *c != '\0'; c++) {
    if (*c == ' ')
      printf("%%20");
    else
      putchar(*c);
  }
  printf("\n");
}

static void answer_run(struct run* run, char* line, workload_fn work) {
  memset(run, 0, sizeof *run);
  int error = parse_request(line, &run->request);
  if (error == 0) {
    make_sequence(run);
    error = work(run);
  }
  if (error == 0)
    reply(run);
  else
    reply_error(-error, 0);
  free(run->sequence);
  run->sequence = NULL;
}

int peer_main(const char* subject, ready_fn ready, workload_fn work) {
  static char line[LINE_BYTES];
  static struct run run;
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (strncmp(line, "hello", 5) == 0) {
      int error = ready();
      if (error == 0)
        printf("ok subject=%s backend=native\n", subject);
      else
        reply_error(-error, 1);
    } else {
      answer_run(&run, line, work);
    }
    fflush(stdout);
  }
  return 0;
}
