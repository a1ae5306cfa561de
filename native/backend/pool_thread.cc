// Pool thread: attributes and signal mask. See pool_thread.h.
#include "backend/pool_thread.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>

#include "base/check.h"

namespace nephrite {

namespace {

// The deepest user is realpath(3) with two paths of 4 KiB. The C library also takes the static TLS
// of the whole process from this.
constexpr std::size_t kStackBytes = 256 * 1024;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kIsSmallStackEnough = false;
#else
constexpr bool kIsSmallStackEnough = true;
#endif

int create(void* (*body)(void*), void* argument, bool is_small) {
  pthread_attr_t attributes;
  CHECK_EQ(pthread_attr_init(&attributes), 0);
  CHECK_EQ(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED), 0);
  if (is_small) CHECK_EQ(pthread_attr_setstacksize(&attributes, kStackBytes), 0);
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, body, argument);
  pthread_attr_destroy(&attributes);
  return error;
}

}  // namespace

int start_detached_thread(void* (*body)(void*), void* argument) {
  // A new thread inherits the mask of its creator.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  int error = create(body, argument, kIsSmallStackEnough);
  // This process's static TLS does not fit the small stack.
  if (error == EINVAL) error = create(body, argument, false);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return error;
}

std::uint32_t usable_core_count() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) {
    return static_cast<std::uint32_t>(CPU_COUNT(&cores));
  }
  return static_cast<std::uint32_t>(std::max(1l, sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace nephrite
