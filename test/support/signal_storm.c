// Preloaded into a process: interrupts its system calls a thousand times a second, by real time and
// by processor time, with handlers that do not ask for a restart (SA_RESTART), as samplers and old
// libraries do. Not here: what is expected of the process (trouble_process.test.ts).
#include <signal.h>
#include <string.h>
#include <sys/time.h>

static volatile sig_atomic_t signal_count;

static void count_signal(int number) {
  (void)number;
  signal_count++;
}

__attribute__((constructor)) static void start_storm(void) {
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_handler = count_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGALRM, &action, NULL);
  sigaction(SIGPROF, &action, NULL);
  const struct itimerval every_ms = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &every_ms, NULL);
  setitimer(ITIMER_PROF, &every_ms, NULL);
}
