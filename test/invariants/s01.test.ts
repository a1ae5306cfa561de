// S-1. Not here: which thread runs what (S-2), what lies above (S-3).
// „Der Scheduler ist Teil der VM, kein Actor und kein Userland-Service.“
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as entry from '../../lib/index.ts';
import { importsOf, sourcesOf } from './sources.ts';

const { Runtime, checkpoint, spawn } = entry;
const threadCount = (): number => readdirSync('/proc/self/task').length;

function childProcessCount(): number {
  const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(process.pid)]);
  return String(children).trim().split('\n').length;
}

describe('S-1: the scheduler is part of the runtime, no actor and no service of user code', () => {
  it('starts no thread and no process, and needs none to run tasks', async () => {
    const before = [threadCount(), childProcessCount()];
    const rt = await Runtime.start();
    const sum = await rt.run(function* () {
      let total = 0;
      const children = Array.from({ length: 1000 }, (_, index) => spawn(() => index));
      for (const child of children) total += yield* child.join();
      yield* checkpoint();
      return total;
    });
    expect(sum).toBe(499_500);
    expect([threadCount(), childProcessCount()]).toEqual(before);
    await rt.close();
  });

  it('is a call on the stack of the task’s own thread, not a message to somebody', async () => {
    const rt = await Runtime.start();
    const stack = await rt.run(function* () {
      yield* checkpoint();
      Error.stackTraceLimit = 50;
      return new Error().stack;
    });
    expect(stack).toMatch(/Scheduler\.turn/);
    await rt.close();
  });

  it('is not made of what is built on it, and cannot be replaced from outside', () => {
    for (const { path, text } of sourcesOf('scheduler')) {
      for (const from of importsOf(text)) {
        expect(from, path).not.toMatch(/\/(sync|structured|interop|io\/fs)\//);
      }
    }
    expect(Object.keys(entry)).not.toContain('Scheduler');
  });
});
