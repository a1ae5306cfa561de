// Ctrl-C and SIGTERM: the first one stops the run and lets it report, the second ends at once.
// Owner: the run, for as long as it lasts. Invariants: handlers are removed at the end, so that
// Ctrl-C is the system's again; ending at once still runs exit handlers, which remove files.
// Not here: removing files (temp_folder.ts), what stopping means (load/stop_control.ts).
import { EXIT } from '../exit_codes.ts';
import type { StopControl } from '../load/stop_control.ts';

/**
 * npm passes Ctrl-C on to a script that the terminal has already sent it to: two signals for one
 * key press. Within this time a signal is taken for the echo of the one before.
 */
const ECHO_MS = 250;

/** Listens to signals; returns the function that stops listening. */
export function listenToSignals(stop: StopControl, onFirst: (signal: string) => void): () => void {
  let firstMs: number | null = null;
  const handle = (signal: 'SIGINT' | 'SIGTERM'): void => {
    const nowMs = performance.now();
    if (firstMs !== null && nowMs - firstMs < ECHO_MS) return;
    if (firstMs !== null) process.exit(signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated);
    firstMs = nowMs;
    onFirst(signal);
    stop.request(signal);
  };
  const onInterrupt = (): void => handle('SIGINT');
  const onTerminate = (): void => handle('SIGTERM');
  process.on('SIGINT', onInterrupt);
  process.on('SIGTERM', onTerminate);
  return () => {
    process.off('SIGINT', onInterrupt);
    process.off('SIGTERM', onTerminate);
  };
}
