// What programs of this folder share: saying results, counting descriptors and threads, FIFOs.
// Owner: none. Invariants: say() writes at once and whole, also just before the process ends.
import { execFileSync } from 'node:child_process';
import { constants, openSync, readdirSync, writeSync } from 'node:fs';

/** Prints one line of JSON. */
export function say(value: object): void {
  writeSync(1, `${JSON.stringify(value)}\n`);
}

/** Open descriptors of this process, those of its event loops included. */
export function descriptorCount(): number {
  return readdirSync('/proc/self/fd').length;
}

/** Threads of this process, the kernel's io-wq workers included. */
export function threadCount(): number {
  return readdirSync('/proc/self/task').length;
}

/** Makes a FIFO in the current folder. */
export function makeFifo(name: string): string {
  execFileSync('mkfifo', ['-m', '666', name]);
  return name;
}

/** Until `isTrue` holds: polls, for what only the system can tell. */
export async function until(isTrue: () => boolean, timeoutMs = 5000): Promise<boolean> {
  const endMs = performance.now() + timeoutMs;
  while (!isTrue()) {
    if (performance.now() > endMs) return false;
    await pause(5);
  }
  return true;
}

/** The writing end of a FIFO that somebody opens for reading: an open that waits may not yet. */
export async function openWriter(fifo: string): Promise<number> {
  const endMs = performance.now() + 5000;
  for (;;) {
    try {
      return openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENXIO' || performance.now() > endMs) throw error;
    }
    await pause(5);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** What a waitable came to: `value`, or the failure's code, else its name. */
export function outcome(waitable: PromiseLike<unknown>): Promise<string> {
  return Promise.resolve(waitable).then(
    () => 'value',
    (error: NodeJS.ErrnoException) => error.code ?? error.name,
  );
}

/** Runs the command that the first argument names. */
export async function runCommand(commands: Readonly<Record<string, () => unknown>>): Promise<void> {
  const name = process.argv[2] ?? '';
  const command = commands[name];
  if (command === undefined) throw new Error(`no command '${name}'`);
  await command();
}
