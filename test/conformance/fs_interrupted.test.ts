// Fs conformance: calls that something happens to half-way: an abort between two entries, memory
// that is transferred away, a listener that throws.
// Not here: signals and timeouts of every function (fs_cancellation.test.ts).
import * as nodeFs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { describeFs } from '../support/fs_lab.ts';

const MEBIBYTE = 1024 * 1024;

interface Failure {
  name: string;
  code: string;
  bytesWritten: number;
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describeFs('fs interrupted', (lab) => {
  describe('handlers run after the call that aborts, as those of promises', () => {
    const calls: Readonly<Record<string, (signal: AbortSignal) => Promise<unknown>>> = {
      open: (signal) => lab.fs.open(lab.path('none'), 'r', 0, { signal }),
      stat: (signal) => lab.fs.stat(lab.path('none'), { signal }),
      readFile: (signal) => lab.fs.readFile(lab.path('none'), { signal }),
      readMany: (signal) => lab.fs.readMany([lab.path('none')], { signal }),
      writeFile: (signal) => lab.fs.writeFile(lab.path('new'), 'x', { signal }),
    };
    it.each(Object.entries(calls))('%s', async (_name, call) => {
      const control = new AbortController();
      const order: string[] = [];
      const handled = call(control.signal).catch(() => order.push('handler'));
      control.abort();
      order.push('aborted');
      await handled;
      expect(order).toEqual(['aborted', 'handler']);
      while (lab.thread.inFlightCount > 0) await nextTurn();
    });
  });

  it('writeFile aborted between two entries tells bytesWritten', async () => {
    const control = new AbortController();
    const data = Buffer.alloc(64 * MEBIBYTE, 'x');
    const writing = lab.fs.writeFile(lab.path('large'), data, { signal: control.signal });
    const outcome = writing.catch((error: Failure) => error);
    const sizeBytes = () => nodeFs.statSync(lab.path('large'), { throwIfNoEntry: false })?.size;
    while (!sizeBytes()) await nextTurn();
    control.abort();
    const { name, bytesWritten } = (await outcome) as Failure;
    expect(name).toBe('AbortError');
    expect(bytesWritten).toBe(sizeBytes());
  });

  it('writes at the file position, aborted while parts wait their turn, tell bytesWritten', async () => {
    const control = new AbortController();
    const { signal } = control;
    const data = Buffer.alloc(64 * MEBIBYTE, 'x');
    // Together more than one turn's share.
    const paths = Array.from({ length: 8 }, (_, index) => lab.path(`large-${index}`));
    const files = await Promise.all(paths.map((path) => lab.fs.open(path, 'w')));
    const outcomes = files.map((file) =>
      file.write(data, 0, data.length, null, { signal }).catch((error: Failure) => error),
    );
    while (paths.some((path) => nodeFs.statSync(path).size === 0)) await nextTurn();
    control.abort();
    for (const [index, outcome] of outcomes.entries()) {
      const { name, bytesWritten } = (await outcome) as Failure;
      expect(name).toBe('AbortError');
      expect(bytesWritten).toBe(nodeFs.statSync(paths[index]).size);
    }
    await Promise.all(files.map((file) => file.close()));
  });

  it('writeFile of memory that is transferred away fails, typed', async () => {
    const bytes = new Uint8Array(300_000);
    const outcome = lab.fs.writeFile(lab.path('file'), bytes).catch((error: Failure) => error);
    structuredClone(bytes, { transfer: [bytes.buffer] });
    expect(await outcome).toMatchObject({ code: 'ERR_INVALID_STATE', bytesWritten: 0 });
  });

  it("a 'close' listener that throws keeps nobody waiting", async (context) => {
    if (lab.backend.name !== 'io_uring') context.skip('closes in the call that submits: io_uring');
    nodeFs.writeFileSync(lab.path('file'), Buffer.alloc(MEBIBYTE));
    const [file, other] = [
      await lab.fs.open(lab.path('file')),
      await lab.fs.open(lab.path('file')),
    ];
    other.on('close', () => {
      throw new Error('listener');
    });
    const bytes = Buffer.alloc(64 * 1024);
    // More than a turn's share: the last ones wait.
    const reads = Array.from({ length: 20 }, () => file.read(bytes, 0, bytes.length, 0));
    const { thread } = lab;
    const pump = thread.pump.bind(thread);
    const caught: unknown[] = [];
    // In place of the process's uncaughtException.
    thread.pump = () => {
      try {
        pump();
      } catch (error) {
        caught.push(error);
      }
    };
    const closed = other.close();
    for (const { bytesRead } of await Promise.all(reads)) expect(bytesRead).toBe(bytes.length);
    thread.pump = pump;
    expect(caught).toMatchObject([{ message: 'listener' }]);
    await closed;
    await file.close();
  });
});
