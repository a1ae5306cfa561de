// Record and replay: what a recording is, what of the real runtime happens again (files, sleeps,
// preemption by time, tokens, channels, async bodies), and what a program that does something else
// is told.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS_VERSION, OP_PREEMPT, PREEMPT_TIME } from '../../../lib/bus/commands.ts';
import type { Recording } from '../../../lib/bus/recording.ts';
import * as fs from '../../../lib/fs.ts';
import { channel, checkpoint, Runtime, sleep, spawn, waitToken } from '../../../lib/index.ts';
import { createTestRuntime, recordRun } from '../../../lib/testing.ts';

let folder = '';
let path = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'nephrite-replay-'));
  path = join(folder, 'data');
  writeFileSync(path, 'x'.repeat(10_000));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Program = (rt: Runtime) => Promise<unknown>;
const code = (expected: string) => expect.objectContaining({ code: expected });
const withoutSource = ({ events }: Recording) => events.map(({ source, ...event }) => event);

async function record(program: Program) {
  const rt = await Runtime.start();
  const recorder = recordRun(rt);
  const value = await program(rt);
  await rt.close();
  const recording = JSON.parse(JSON.stringify(recorder.stop())) as Recording;
  return { value, recording };
}

async function replay(program: Program, recording: Recording) {
  const rt = createTestRuntime({ replay: recording });
  const recorder = recordRun(rt);
  try {
    const value = await program(rt);
    await rt.close();
    return { value, recording: recorder.stop() };
  } finally {
    await rt.close({ deadline: 0 }).catch(() => {});
  }
}

/** Some milliseconds of real time, in as many checkpoints each time. */
function* compute() {
  let sum = 0;
  for (let at = 0; at < 3000; at++) {
    for (let inner = 0; inner < 300; inner++) sum += Math.sqrt(inner);
    yield* checkpoint();
  }
  return sum;
}

const mixed: Program = async (rt) => {
  const token = waitToken<string>();
  const numbers = channel<number>(2);
  rt.spawn(async function observer() {
    await sleep(2);
    const text = await fs.readFile(path, 'utf8');
    await token.wait();
    return text.length;
  });
  return await rt.run(function* root() {
    const readers = Array.from({ length: 6 }, (_, at) =>
      spawn(function* reader() {
        yield* sleep(at % 3);
        const early = fs.readFile(path, 'utf8');
        const other = fs.stat(path);
        yield* compute();
        const length = (yield* early).length + (yield* other).size;
        yield* numbers.send(length + at);
        return length;
      }),
    );
    let sum = 0;
    for (const _ of readers) sum += yield* numbers.receive();
    const slow = spawn(function* () {
      yield* sleep(10_000);
    });
    yield* sleep(1);
    slow.cancel('enough');
    const { status } = yield* slow.settled();
    for (const reader of readers) yield* reader.join();
    token.wake('done');
    return [sum, status];
  });
};

describe('record and replay', () => {
  it('replay: files, sleeps and preemptions by time happen again with an equal trace', async () => {
    const first = await record(mixed);
    const byTime = first.recording.events.filter(
      ({ opcode, subcode }) => opcode === OP_PREEMPT && subcode === PREEMPT_TIME,
    );
    expect(byTime.length).toBeGreaterThan(2);
    for (let round = 0; round < 3; round++) {
      const again = await replay(mixed, first.recording);
      expect(again.value).toEqual(first.value);
      expect(withoutSource(again.recording)).toEqual(withoutSource(first.recording));
    }
  });

  it('replay: outside code that awaits between tasks', async () => {
    const program: Program = async (rt) => {
      const lengths: number[] = [];
      for (let at = 0; at < 5; at++) {
        const read = function* () {
          yield* sleep(1);
          return (yield* fs.readFile(path)).length;
        };
        lengths.push(...(await Promise.all([rt.run(read), rt.run(read)])));
      }
      return lengths;
    };
    const first = await record(program);
    const again = await replay(program, first.recording);
    expect(again.value).toEqual(Array(10).fill(10_000));
    expect(withoutSource(again.recording)).toEqual(withoutSource(first.recording));
  });

  it('replay: a recording is plain JSON with the version of the commands', async () => {
    const { recording } = await record(mixed);
    expect(recording.version).toBe(COMMANDS_VERSION);
    expect(JSON.parse(JSON.stringify(recording))).toEqual(recording);
    expect(recording.test).toBeUndefined();
  });

  const base: Program = (rt) =>
    rt.run(function* () {
      yield* sleep(2);
      yield* spawn(function* child() {
        yield* sleep(1);
      }).join();
    });

  const differences: [string, Program, RegExp][] = [
    [
      'another sleep',
      (rt) =>
        rt.run(function* () {
          yield* sleep(3);
        }),
      /^event 3 was recorded as wait \(operation\) of task 1 "sleep 2 ms"; now came wait \(operation\) of task 1 "sleep 3 ms"$/,
    ],
    [
      'a child less',
      (rt) =>
        rt.run(function* () {
          yield* sleep(2);
        }),
      /was recorded as spawn \(local\) of task 2 .*; now came complete \(success\) of task 1$/,
    ],
    [
      'another outcome',
      (rt) =>
        rt.run(function* () {
          yield* sleep(2);
          yield* spawn(function* child() {
            yield* sleep(1);
            throw new Error('now');
          }).settled();
        }),
      /recorded as complete \(success\) of task 2; now came complete \(failure\) of task 2$/,
    ],
    [
      'a task more from outside',
      async (rt) => {
        await base(rt);
        await rt.run(function* extra() {});
      },
      /was recorded as close \(begin\); now came spawn \(local\) of task 3 /,
    ],
    ['nothing at all', async () => {}, /^event 1 was recorded as spawn .*; now came nothing more$/],
  ];

  it.each(differences)('replay: %s is ERR_REPLAY_DIVERGED', async (_, program, message) => {
    const { recording } = await record(base);
    const replayed = replay(program, recording);
    await expect(replayed).rejects.toEqual(code('ERR_REPLAY_DIVERGED'));
    await expect(replayed).rejects.toThrow(message);
  });

  it.each(differences)('replay: of a test run, %s is found too', async (_, program) => {
    const rt = createTestRuntime({ seed: 3, autoAdvance: true, backend: 'node' });
    const recorder = recordRun(rt);
    await base(rt);
    await rt.close();
    const recording = recorder.stop();
    expect(recording.test).toEqual({ seed: 3, autoAdvance: true, faults: null });
    await replay(base, recording);
    await expect(replay(program, recording)).rejects.toEqual(code('ERR_REPLAY_DIVERGED'));
  });

  it.each([
    [7, 'ERR_INVALID_ARG_TYPE'],
    [{}, 'ERR_INVALID_ARG_VALUE'],
    [{ version: COMMANDS_VERSION + 1, events: [] }, 'ERR_INVALID_ARG_VALUE'],
    [{ version: COMMANDS_VERSION }, 'ERR_INVALID_ARG_TYPE'],
    [{ version: COMMANDS_VERSION, events: [null] }, 'ERR_INVALID_ARG_TYPE'],
    [{ version: COMMANDS_VERSION, events: [{ atMs: 0, opcode: 1 }] }, 'ERR_INVALID_ARG_TYPE'],
    [
      {
        version: COMMANDS_VERSION,
        events: [{ atMs: 0, opcode: 99, subcode: 0, taskId: 1, source: 'turn' }],
      },
      'ERR_INVALID_ARG_VALUE',
    ],
    [
      {
        version: COMMANDS_VERSION,
        events: [{ atMs: 0, opcode: 1, subcode: 0, taskId: 1, source: 'mars' }],
      },
      'ERR_INVALID_ARG_VALUE',
    ],
  ])('replay: %j is no recording', (recording, expected) => {
    expect(() => createTestRuntime({ replay: recording as never })).toThrow(code(expected));
  });

  it('replay: recording starts before the first task', async () => {
    const rt = await Runtime.start();
    const task = rt.spawn(function* () {
      yield* sleep(1);
    });
    expect(() => recordRun(rt)).toThrow(code('ERR_INVALID_STATE'));
    expect(() => recordRun({} as never)).toThrow(code('ERR_INVALID_ARG_TYPE'));
    await task.join();
    await rt.close();
  });
});
