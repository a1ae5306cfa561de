// S-5. Not here: how soon (fairness), which timer (test/unit/time).
// „Wartende Tasks werden durch Events oder Zeitbedingungen wieder runnable.“
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import * as fs from '../../lib/fs.ts';
import { channel, type Operation, sleep, waitToken } from '../../lib/index.ts';
import { tick, until, useLab } from '../scheduler/lab.ts';

const lab = useLab();
const folder = mkdtempSync(join(tmpdir(), 'nephrite-s05-'));
writeFileSync(join(folder, 'file'), 'bytes');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('S-5: waiting tasks become runnable again by events or by time', () => {
  const gate = waitToken<unknown>();
  const messages = channel<unknown>(0);
  const waits: [string, () => Operation<unknown>, () => void, unknown][] = [
    ['time', () => sleep(20), () => {}, undefined],
    ['a file', () => fs.readFile(join(folder, 'file'), 'utf8'), () => {}, 'bytes'],
    ['a token', () => gate.wait(), () => gate.wake('woken'), 'woken'],
    ['a message', () => messages.receive(), () => messages.trySend('sent'), 'sent'],
  ];

  it.each(waits)('%s', async (_name, start, event, value) => {
    const states: string[] = [];
    const task = lab.rt.spawn(function* () {
      return yield* start();
    });
    const stop = lab.rt.bus.tap(({ taskId, command }) => {
      if (taskId === task.id) states.push(command);
    });
    await until(() => task.state !== 'runnable');
    event();
    expect(await task.join()).toEqual(value);
    stop();
    expect(states).toEqual(['dispatch', 'wait', 'wake', 'dispatch', 'complete']);
  });

  it('and by nothing else', async () => {
    const never = waitToken();
    const task = lab.rt.spawn(function* () {
      yield* never.wait();
    });
    await until(() => task.state === 'waiting');
    for (let count = 0; count < 200; count++) {
      await lab.rt.run(() => 1);
      if (count % 20 === 0) await tick();
    }
    expect([task.state, task.waitCondition]).toEqual(['waiting', `token ${never.token}`]);
    expect(() => lab.rt.bus.execute({ opcode: 4, subcode: 0, arguments: [task] })).toThrow();
    expect(task.state).toBe('waiting');
    never.wake();
    await task.join();
  });
});
