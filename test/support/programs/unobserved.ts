// Failures that nobody observes, or too late: what Node reports. The second argument says whose
// open() fails: ours, or node:fs/promises' as the oracle. `counted` runs all cases that a program
// survives when it listens, one after the other, and prints what was reported in each.
import { writeSync } from 'node:fs';
import { open as nodeOpen } from 'node:fs/promises';
import { open as ourOpen } from '../../../lib/fs.ts';

const [command = '', whose = ''] = process.argv.slice(2);
const open = (path: string): Promise<{ close(): Promise<void> }> =>
  whose === 'node' ? nodeOpen(path) : ourOpen(path);
const failing = (): Promise<unknown> => open('/gone/with/the/wind');
const nothing = (): void => {};
// What was started before has settled and been reported: many calls of both kinds, those that fail
// and those that succeed (a backend may do them in different places), have come back one after the
// other since, and the event loop has turned.
const turn = async (): Promise<void> => {
  for (let count = 0; count < 60; count++) {
    await failing().catch(nothing);
    await (await open('.')).close();
  }
  for (let count = 0; count < 3; count++) await new Promise((resolve) => setImmediate(resolve));
};

/** Set by a case that is not over when turn() is. */
let over: Promise<void> | undefined;

const COUNTED: Readonly<Record<string, () => unknown>> = {
  nobody: failing,
  'only then': () => failing().then(nothing),
  'two thens': () => {
    const operation = failing();
    operation.then(nothing);
    operation.then(nothing);
  },
  'only finally': () => failing().finally(nothing),
  caught: () => failing().catch(nothing),
  'both handlers': () => failing().then(nothing, nothing),
  awaited: async () => {
    try {
      await failing();
    } catch {}
  },
  'awaited later in the turn': async () => {
    const operation = failing();
    await null;
    await operation.catch(nothing);
  },
  'all of them settled': () => Promise.allSettled([failing(), failing()]),
  'all of them, two fail': () => Promise.all([failing(), failing()]),
  'caught late': () => {
    const operation = failing();
    over = turn().then(async () => void (await operation.catch(nothing)));
  },
  'one handler of many throws': () => {
    const others = Array.from({ length: 50 }, () => open('.'));
    void others[20]?.then(() => {
      throw new Error('one handler');
    });
    // Many at once may take longer than any number of single calls: the case says when it is over.
    over = Promise.all(others).then(async (handles) => {
      for (const handle of handles) await handle.close();
    });
  },
};

const DEADLY: Readonly<Record<string, () => unknown>> = {
  nobody: failing,
  'throw in then': () =>
    open('.').then(() => {
      throw new Error('thrown in then');
    }),
  'throw after await': async () => {
    await open('.');
    throw new Error('thrown after await');
  },
};

async function runCounted(): Promise<void> {
  let reported: string[] = [];
  process.on('unhandledRejection', (reason) => {
    const { code, message } = reason as NodeJS.ErrnoException;
    reported.push(`unhandled ${code ?? message}`);
  });
  process.on('rejectionHandled', () => reported.push('handled after all'));
  const reports: Record<string, string[]> = {};
  for (const [title, run] of Object.entries(COUNTED)) {
    void run();
    await over;
    await turn();
    reports[title] = reported;
    reported = [];
  }
  writeSync(1, `${JSON.stringify(reports)}\n`);
}

if (command === 'counted') await runCounted();
else DEADLY[command]?.();
