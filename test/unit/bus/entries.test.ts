// Generic entries: every field wrong, forged tasks, tokens and opcodes, accessors that change their
// answer. Each is a typed error before anything is done: no event in the tap, the same dump.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as commands from '../../../lib/bus/commands.ts';
import type { CommandEntry } from '../../../lib/bus/generic_entry.ts';
import { current, sleep, type Task, type WaitToken, waitToken } from '../../../lib/index.ts';
import { Task as TaskClass } from '../../../lib/task/task.ts';
import { WaitToken as TokenClass } from '../../../lib/task/wait_token.ts';
import { createTestRuntime, type TestRuntime } from '../../../lib/testing.ts';

let rt: TestRuntime;
let waiting: Task<void>;
let token: WaitToken<number>;

beforeEach(async () => {
  rt = createTestRuntime({ seed: 1, backend: 'node' });
  token = waitToken<number>();
  waiting = rt.with({ name: 'waiting' }).spawn(function* () {
    yield* token.wait();
  });
  await rt.clock.advance(0);
});
afterEach(async () => {
  token.wake(0);
  await rt.close();
});

const entry = (opcode: unknown, subcode: unknown, ...values: unknown[]): CommandEntry =>
  ({ opcode, subcode, arguments: values }) as CommandEntry;
const code = (expected: string) => expect.objectContaining({ code: expected });

/** Carries the entry out by both ways, and shows that nothing has come of it. */
async function refused(given: unknown, expected: string): Promise<void> {
  const before = JSON.stringify(rt.dump());
  const events: unknown[] = [];
  const end = rt.bus.tap(({ command }) => events.push(command));
  expect(() => rt.bus.execute(given as CommandEntry)).toThrow(code(expected));
  expect(events).toEqual([]);
  const submitted = rt.bus.submit(given as CommandEntry);
  await expect(Promise.resolve(submitted)).rejects.toEqual(code(expected));
  end();
  expect(events.filter((command) => command !== 'park')).toEqual([]);
  expect(JSON.stringify(rt.dump())).toBe(before);
}

const body = function* () {
  yield* sleep(1);
};

describe('entries', () => {
  it.each([
    ['undefined', undefined, 'ERR_INVALID_ARG_TYPE'],
    ['null', null, 'ERR_INVALID_ARG_TYPE'],
    ['a string', 'spawn', 'ERR_INVALID_ARG_TYPE'],
    ['no arguments', { opcode: 1, subcode: 0 }, 'ERR_INVALID_ARG_TYPE'],
    [
      'arguments that are a string',
      { opcode: 1, subcode: 0, arguments: 'ab' },
      'ERR_INVALID_ARG_TYPE',
    ],
    ['no opcode', entry(undefined, 0), 'ERR_COMMAND_UNKNOWN'],
    ['opcode 0', entry(0, 0), 'ERR_COMMAND_UNKNOWN'],
    ['an opcode in words', entry('1', 0, body), 'ERR_COMMAND_UNKNOWN'],
    ['an opcode between two', entry(1.5, 0, body), 'ERR_COMMAND_UNKNOWN'],
    ['NaN', entry(Number.NaN, 0), 'ERR_COMMAND_UNKNOWN'],
    ['an opcode object', entry({ valueOf: () => 1 }, 0, body), 'ERR_COMMAND_UNKNOWN'],
    ['an unknown subcode', entry(commands.OP_SPAWN, 1, body), 'ERR_COMMAND_UNKNOWN'],
    ['a negative subcode', entry(commands.OP_SPAWN, -1, body), 'ERR_COMMAND_UNKNOWN'],
    ['a method of the table', entry(commands.OP_SPAWN, 'map', body), 'ERR_COMMAND_UNKNOWN'],
    ['the length of the table', entry(commands.OP_SPAWN, 'length', body), 'ERR_COMMAND_UNKNOWN'],
    ['no body', entry(commands.OP_SPAWN, 0), 'ERR_INVALID_ARG_TYPE'],
    ['args that are none', entry(commands.OP_SPAWN, 0, body, 7), 'ERR_INVALID_ARG_TYPE'],
    ['settings that are none', entry(commands.OP_SPAWN, 0, body, [], 7), 'ERR_INVALID_ARG_TYPE'],
    ['a name', entry(commands.OP_SPAWN, 0, body, [], { name: 7 }), 'ERR_INVALID_ARG_TYPE'],
    ['an engine', entry(commands.OP_SPAWN, 0, body, [], { engine: {} }), 'ERR_INVALID_ARG_TYPE'],
    [
      'no such engine',
      entry(commands.OP_SPAWN, 0, body, [], { engine: 'x' }),
      'ERR_ENGINE_UNKNOWN',
    ],
    [
      'a deadline',
      entry(commands.OP_SPAWN, 0, body, [], { deadlineMs: '5' }),
      'ERR_INVALID_ARG_TYPE',
    ],
    [
      'NaN deadline',
      entry(commands.OP_SPAWN, 0, body, [], { deadlineMs: NaN }),
      'ERR_OUT_OF_RANGE',
    ],
    ['a signal', entry(commands.OP_SPAWN, 0, body, [], { signal: {} }), 'ERR_INVALID_ARG_TYPE'],
    ['rights', entry(commands.OP_SPAWN, 0, body, [], { rights: 7 }), 'ERR_INVALID_ARG_TYPE'],
    ['a watcher', entry(commands.OP_SPAWN, 0, body, [], { watcher: {} }), 'ERR_INVALID_ARG_VALUE'],
    ['a wait of nobody', entry(commands.OP_WAIT, 0), 'ERR_INVALID_ARG_TYPE'],
    ['a yield of who is not there', entry(commands.OP_YIELD, 0, 99), 'ERR_INVALID_ARG_VALUE'],
    ['a cancel of nobody', entry(commands.OP_CANCEL, 0), 'ERR_INVALID_ARG_TYPE'],
    ['a cancel of who is not there', entry(commands.OP_CANCEL, 0, 99), 'ERR_INVALID_ARG_VALUE'],
    ['a cancel of NaN', entry(commands.OP_CANCEL, 0, Number.NaN), 'ERR_INVALID_ARG_VALUE'],
    ['a query of a string', entry(commands.OP_QUERY_CANCELLATION, 0, '1'), 'ERR_INVALID_ARG_TYPE'],
    ['no engine config', entry(commands.OP_REGISTER_ENGINE, 0), 'ERR_INVALID_ARG_TYPE'],
    [
      'an engine twice',
      entry(commands.OP_REGISTER_ENGINE, 0, { engineId: 'default' }),
      'ERR_ENGINE_EXISTS',
    ],
    ['no engine id', entry(commands.OP_UPDATE_ENGINE, 0, undefined, {}), 'ERR_INVALID_ARG_TYPE'],
    [
      'an id that is made up',
      entry(commands.OP_UPDATE_ENGINE, 0, { toString: () => 'default' }, {}),
      'ERR_INVALID_ARG_TYPE',
    ],
    [
      'a change',
      entry(commands.OP_UPDATE_ENGINE, 0, 'default', { reductionLimit: 0 }),
      'ERR_OUT_OF_RANGE',
    ],
    ['a token', entry(commands.OP_WAKE, commands.WAKE_TOKEN, {}), 'ERR_INVALID_ARG_TYPE'],
  ])('entries: %s is refused', async (_, given, expected) => {
    await refused(given, expected);
  });

  it.each(commands.COMMANDS.filter(({ opcode }) => opcode >= commands.TRACE_FIRST))(
    'entries: the decision $name cannot be submitted',
    async ({ opcode }) => {
      await refused(entry(opcode, 0, waiting), 'ERR_COMMAND_UNKNOWN');
    },
  );

  it('entries: a forged task is told by identity', async () => {
    const forgeries: unknown[] = [
      Object.create(TaskClass.prototype, { id: { value: waiting.id } }),
      Object.assign(Object.create(TaskClass.prototype), waiting),
      new Proxy(waiting, {}),
      { ...waiting },
      { id: waiting.id },
    ];
    for (const forged of forgeries) {
      const isTask = forged instanceof TaskClass;
      const expected = isTask ? 'ERR_INVALID_ARG_VALUE' : 'ERR_INVALID_ARG_TYPE';
      await refused(entry(commands.OP_CANCEL, 0, forged, 'forged'), expected);
      await refused(entry(commands.OP_WAKE, 0, forged), expected);
      await refused(entry(commands.OP_YIELD, 0, forged), expected);
    }
    expect(waiting.cancelled).toBe(false);
  });

  it('entries: a task of another runtime is none of this one', async () => {
    const other = createTestRuntime({ seed: 2, backend: 'node' });
    const stranger = other.spawn(body);
    await refused(entry(commands.OP_CANCEL, 0, stranger), 'ERR_INVALID_ARG_VALUE');
    expect(stranger.cancelled).toBe(false);
    await other.close();
  });

  it('entries: a forged token is told by identity', async () => {
    for (const forged of [
      Object.create(TokenClass.prototype),
      new Proxy(token, {}),
      { wake() {} },
    ]) {
      await refused(
        entry(commands.OP_WAKE, commands.WAKE_TOKEN, forged, 1),
        'ERR_INVALID_ARG_TYPE',
      );
    }
    expect(token.isSettled).toBe(false);
  });

  it('entries: who waits is not woken before its wait is over', async () => {
    await refused(entry(commands.OP_WAKE, commands.WAKE_SETTLED, waiting), 'ERR_INVALID_ARG_VALUE');
    expect(waiting.state).toBe('waiting');
  });

  it('entries: a running task cannot be made to wait or yield from inside its slice', async () => {
    const seen = await rt.run(function* () {
      const operation = sleep(5);
      const codes: unknown[] = [];
      for (const given of [
        entry(commands.OP_WAIT, 0, current(), operation),
        entry(commands.OP_YIELD, 0, current()),
      ]) {
        try {
          rt.bus.execute(given);
          codes.push('taken');
        } catch (error) {
          codes.push((error as { code?: string }).code);
        }
      }
      operation.cancel();
      yield* operation.catch(() => {});
      return codes;
    });
    expect(seen).toEqual(['ERR_INVALID_ARG_VALUE', 'ERR_INVALID_ARG_VALUE']);
  });

  it('entries: each field is read once, whatever an accessor answers later', () => {
    let opcodeReads = 0;
    const changing = {
      get opcode() {
        opcodeReads++;
        return opcodeReads === 1 ? commands.OP_QUERY_CANCELLATION : commands.OP_CANCEL;
      },
      subcode: 0,
      arguments: [waiting],
    };
    expect(rt.bus.execute(changing)).toBe(false);
    expect([opcodeReads, waiting.cancelled]).toEqual([1, false]);
    let idReads = 0;
    const values = [7 as unknown];
    Object.defineProperty(values, 0, {
      get() {
        idReads++;
        return idReads === 1 ? waiting.id : undefined;
      },
    });
    expect(
      rt.bus.execute({ opcode: commands.OP_QUERY_CANCELLATION, subcode: 0, arguments: values }),
    ).toBe(false);
    expect(idReads).toBe(1);
  });

  it('entries: an array with an iterator of its own is read by index', () => {
    const values: unknown[] = [waiting.id];
    values[Symbol.iterator] = () => [99].values();
    const query = { opcode: commands.OP_QUERY_CANCELLATION, subcode: 0, arguments: values };
    expect(rt.bus.execute(query)).toBe(false);
  });

  it('entries: rights of a spawn are narrowed, never widened, by whoever writes them', async () => {
    const codes = await rt.with({ capabilities: { cancelOthers: false } }).run(async () => {
      const wide = rt.parts.bus.rights;
      const given = entry(commands.OP_SPAWN, 0, body, [], { rights: wide });
      try {
        rt.bus.execute(given);
        return 'taken';
      } catch (error) {
        return (error as { code?: string }).code;
      }
    });
    expect(codes).toBe('ERR_CAPABILITY_WIDER');
  });

  it('entries: what is right is carried out, at once and in the next turn', async () => {
    const settings = { name: 'given', engine: 'default', deadlineMs: 1000 };
    const task = rt.bus.execute(entry(commands.OP_SPAWN, 0, body, [], settings)) as Task<void>;
    expect(task.name).toBe('given');
    const later = rt.bus.submit(entry(commands.OP_SPAWN, 0, body, [], { name: 'later' }));
    const second = (await later) as Task<void>;
    expect([second.name, second.id]).toEqual(['later', task.id + 1]);
    expect(rt.bus.execute(entry(commands.OP_CANCEL, 0, task.id, 'why'))).toBe(true);
    expect(rt.bus.execute(entry(commands.OP_CANCEL, 0, task, 'again'))).toBe(false);
    await rt.clock.advance(5);
    expect(task.outcome).toEqual({ status: 'cancelled', reason: 'why' });
    expect(rt.bus.execute(entry(commands.OP_CANCEL, 0, task, 'late'))).toBe(false);
    expect(rt.bus.execute(entry(commands.OP_QUERY_CANCELLATION, 0, task))).toBe(true);
    expect(rt.bus.execute(entry(commands.OP_WAKE, commands.WAKE_TOKEN, token, 5))).toBe(true);
    expect(rt.bus.execute(entry(commands.OP_WAKE, commands.WAKE_TOKEN, token, 6))).toBe(false);
    await rt.clock.advance(0);
    expect(waiting.outcome).toEqual({ status: 'success', value: undefined });
  });

  it('entries: submitted ones are carried out in order, a failing one harms no other', async () => {
    const first = rt.bus.submit(entry(commands.OP_SPAWN, 0, body));
    const bad = rt.bus.submit(entry(commands.OP_SPAWN, 0, 7));
    const last = rt.bus.submit(entry(commands.OP_SPAWN, 0, body));
    await expect(Promise.resolve(bad)).rejects.toEqual(code('ERR_INVALID_ARG_TYPE'));
    const ids = [((await first) as Task).id, ((await last) as Task).id];
    expect(ids[1]).toBe(ids[0] + 1);
    await rt.clock.advance(5);
  });

  it('entries: 65,536 wait at most, and none of them is lost', async () => {
    const query = entry(commands.OP_QUERY_CANCELLATION, 0, waiting);
    const submitted = Array.from({ length: 65_536 }, () => rt.bus.submit(query));
    expect(() => rt.bus.submit(query)).toThrow(code('ERR_QUEUE_FULL'));
    const answers = await Promise.all(submitted);
    expect(answers.every((answer) => answer === false)).toBe(true);
    expect(await rt.bus.submit(query)).toBe(false);
  });
});
