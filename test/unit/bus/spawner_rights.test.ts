// Rights at every way to a task: whatever a restricted task holds (settings made outside of it, the
// bus, another runtime), what it spawns has no more than itself, and it says nothing as another.
// Not here: entries with wrong fields (entries.test.ts).
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ALL_CAPABILITIES, type Capabilities, narrow } from '../../../lib/bus/capabilities.ts';
import { meet } from '../../../lib/bus/capabilities_meet.ts';
import * as commands from '../../../lib/bus/commands.ts';
import { type CapabilityOptions, current, Runtime, sleep, type Task } from '../../../lib/index.ts';

let rt: Runtime;
let other: Runtime;
beforeEach(async () => {
  rt = await Runtime.start();
  other = await Runtime.start({ capabilities: { connect: ['a.example:1'] } });
});
afterEach(async () => {
  await rt.close({ deadline: 0 });
  await other.close({ deadline: 0 });
});

const rightsOfThis = (): Capabilities => current().rights as Capabilities;

/** What `attempt` gives inside a task that has these; what it throws, as its code. */
function attempted<T>(capabilities: CapabilityOptions, attempt: () => T): Promise<unknown> {
  return rt.with({ capabilities }).run(() => {
    try {
      return attempt();
    } catch (error) {
      return (error as { code?: unknown }).code;
    }
  });
}

describe('settings made outside of a restricted task', () => {
  it('refuse what asks for more than the spawner has', async () => {
    const wide = rt.with({ capabilities: { cancelOthers: true } });
    const outcome = await attempted({ cancelOthers: false }, () => wide.spawn(rightsOfThis));
    expect(outcome).toBe('ERR_CAPABILITY_WIDER');
    expect(await wide.run(() => rightsOfThis().cancelOthers)).toBe(true);
  });

  it('leave what they do not name as the spawner has it', async () => {
    const named = rt.with({ capabilities: { lendWorkers: false } });
    const given = await attempted({ spawn: true, cancelOthers: false, files: [] }, () =>
      named.run(rightsOfThis),
    );
    expect(given).toMatchObject({ lendWorkers: false, cancelOthers: false, files: [] });
  });

  it('mean what they meant when they were made', async () => {
    const capabilities = { spawn: false, connect: ['a.example:1'] };
    const made = rt.with({ capabilities });
    capabilities.spawn = true;
    capabilities.connect.push('b.example:1');
    const given = await attempted({ cancelOthers: false }, () => made.run(rightsOfThis));
    expect(given).toMatchObject({ spawn: false, connect: ['a.example:1'] });
  });
});

describe('the bus of the runtime', () => {
  let victim: Task<void>;
  beforeEach(async () => {
    victim = rt.spawn(function* () {
      yield* sleep(10_000);
    });
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('takes nobody’s word for who issues', async () => {
    const bare = { spawn: false, cancelOthers: false, configure: false };
    const as = rt.bus as unknown as Record<string, (...given: unknown[]) => unknown>;
    const attempts = [
      () => as.spawn?.(() => {}, [], undefined, undefined),
      () => as.cancel?.(victim, 'why', undefined),
      () => as.registerEngine?.({ engineId: 'mine' }, undefined),
      () => as.updateEngine?.('default', { reductionLimit: 1 }, undefined),
    ];
    for (const attempt of attempts) {
      expect(await attempted(bare, attempt)).toBe('ERR_CAPABILITY_DENIED');
    }
    expect(victim.cancelled).toBe(false);
  });

  it('does not wake, suspend or requeue a task', () => {
    for (const name of ['wake', 'wait', 'yield', 'port', 'rights']) {
      expect(name in rt.bus, name).toBe(false);
    }
    const wake = { opcode: commands.OP_WAKE, subcode: 0, arguments: [victim] };
    expect(() => rt.bus.execute(wake)).toThrow(/wait is over/);
    expect(victim.state).toBe('waiting');
  });

  it('does what its methods say', async () => {
    const sum = (a: number, b: number): number => a + b;
    const task = rt.bus.spawn(sum, [1, 2], { name: 'sum', rights: { spawn: false } });
    expect(task.name).toBe('sum');
    expect(await task.join()).toBe(3);
    expect(await rt.bus.spawn(() => rightsOfThis().spawn).join()).toBe(true);
    expect(rt.bus.cancel(victim, 'why')).toBe(true);
    expect(rt.bus.cancel(victim.id)).toBe(false);
    expect(rt.bus.queryCancellation(victim)).toBe(true);
    rt.bus.registerEngine({ engineId: 'mine' });
    rt.bus.updateEngine('mine', { reductionLimit: 7 });
    expect(rt.engines.get('mine').reductionLimit).toBe(7);
  });
});

describe('another runtime', () => {
  it('gives a restricted task’s spawn what both allow, and no parent', async () => {
    const seen: unknown[] = [];
    const body = (): void => {
      seen.push(current().parent, rightsOfThis());
    };
    const spawn = { opcode: commands.OP_SPAWN, subcode: 0, arguments: [body] };
    const expected = { cancelOthers: false, files: [], connect: ['a.example:1'] };
    const ways: (() => PromiseLike<unknown>)[] = [
      () => other.run(body),
      () => other.with({ capabilities: {} }).run(body),
      () => other.bus.spawn(body).join(),
      () => (other.bus.execute(spawn) as Task).join(),
    ];
    for (const way of ways) {
      seen.length = 0;
      await attempted({ cancelOthers: false, files: [] }, way);
      expect(seen).toEqual([undefined, expect.objectContaining(expected)]);
    }
  });

  it('refuses one without `spawn`, and settings that are wider than both allow', async () => {
    const denied = await attempted({ spawn: false }, () => other.spawn(() => {}));
    expect(denied).toBe('ERR_CAPABILITY_DENIED');
    const wide = other.with({ capabilities: { configure: true } });
    const wider = await attempted({ configure: false }, () => wide.spawn(() => {}));
    expect(wider).toBe('ERR_CAPABILITY_WIDER');
    const engine = await attempted({ configure: false }, () =>
      other.bus.registerEngine({ engineId: 'mine' }),
    );
    expect(engine).toBe('ERR_CAPABILITY_DENIED');
  });
});

describe('meet()', () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'nephrite-meet-'));
    await mkdir(join(folder, 'inner'));
    await mkdir(join(folder, 'beside'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const of = (wanted: CapabilityOptions): Capabilities => narrow(ALL_CAPABILITIES, wanted);

  it('is what both allow, either way', () => {
    const first = of({
      spawn: false,
      files: [{ path: folder }, { path: join(folder, 'beside'), write: true }],
      connect: ['a.example:*', 'b.example:2'],
    });
    const second = of({
      configure: false,
      files: [{ path: join(folder, 'inner'), write: true }],
      connect: ['a.example:1', '*:2'],
    });
    for (const both of [meet(first, second), meet(second, first)]) {
      expect(both).toMatchObject({ spawn: false, configure: false, cancelOthers: true });
      expect(both.files).toMatchObject([{ path: join(folder, 'inner'), write: false }]);
      expect([...both.connect].sort()).toEqual(['a.example:1', 'b.example:2']);
    }
    expect(meet(first, second)).toBe(meet(first, second));
    expect(meet(first, ALL_CAPABILITIES)).toBe(first);
    expect(meet(ALL_CAPABILITIES, first)).toBe(first);
  });
});
