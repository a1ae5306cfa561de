// Alarm: one Node timer for any number of clients, never early, alive only for who is referenced.
// Method: the virtual Node timer for distances and counts; real time, awaiting the firing, for
// what Node's own timers do; a process of its own for what keeps one alive.
// Not here: deadlines of operations (deadlines.test.ts).
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Alarm, type AlarmClient } from '../../../lib/time/alarm.ts';
import { TimerWheel } from '../../../lib/time/timer_wheel.ts';
import { VirtualNodeTimer } from './virtual_node_timer.ts';

/** A client with one deadline. */
class OneDeadline implements AlarmClient {
  deadlineMs = Infinity;
  readonly expiredMs: number[] = [];
  onExpired: () => void = () => undefined;

  nextDeadlineMs(): number {
    return this.deadlineMs;
  }

  alarmExpired(nowMs: number): void {
    this.deadlineMs = Infinity;
    this.expiredMs.push(nowMs);
    this.onExpired();
  }
}

function attached(alarm: Alarm, deadlineMs: number): OneDeadline {
  const client = new OneDeadline();
  client.deadlineMs = deadlineMs;
  alarm.attach(client);
  return client;
}

describe('alarm: virtual clock', () => {
  let clock: VirtualNodeTimer;
  let alarm: Alarm;
  beforeEach(() => {
    clock = new VirtualNodeTimer();
    clock.install();
    alarm = new Alarm();
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  });

  it.each([0.5, 1, 2 ** 30, 2 ** 31 - 1, 2 ** 31, 2 ** 36, 800 * 86_400_000])(
    '%d ms ahead: then, and not before',
    (delayMs) => {
      clock.earlyMs = 0.3;
      const client = attached(alarm, clock.nowMs + delayMs);
      const { deadlineMs } = client;
      clock.advanceTo(deadlineMs - 0.25);
      expect(client.expiredMs).toEqual([]);
      clock.advanceTo(deadlineMs + 2);
      expect(client.expiredMs.length).toBe(1);
      expect(client.expiredMs[0]).toBeGreaterThanOrEqual(deadlineMs);
      expect(clock.isSet).toBe(false);
    },
  );

  it('several clients, one timer; only those that are due are called', () => {
    const late = attached(alarm, 1500);
    const early = attached(alarm, 1200);
    const idle = attached(alarm, Infinity);
    clock.advanceTo(1300);
    expect([early, late, idle].map((client) => client.expiredMs.length)).toEqual([1, 0, 0]);
    clock.advanceTo(1600);
    expect([early, late, idle].map((client) => client.expiredMs.length)).toEqual([1, 1, 0]);
    expect(clock.isSet).toBe(false);
  });

  it('a deadline that comes nearer is seen at rearm; one that recedes costs no re-arm', () => {
    const client = attached(alarm, 5000);
    client.deadlineMs = 2000;
    alarm.rearm(client);
    const { setCount } = clock;
    for (let index = 1; index < 100; index++) {
      client.deadlineMs = 2000 + index;
      alarm.rearm(client);
    }
    expect(clock.setCount).toBe(setCount);
    clock.advanceTo(2098);
    expect(client.expiredMs).toEqual([]);
    clock.advanceTo(2100);
    expect(client.expiredMs.length).toBe(1);
  });

  it('a detached client is not called, nor can it re-arm', () => {
    const client = attached(alarm, 1200);
    alarm.detach(client);
    alarm.rearm(client);
    clock.advanceTo(2000);
    expect(client.expiredMs).toEqual([]);
    expect(clock.isSet).toBe(false);
    alarm.rearm(client);
    expect(clock.isSet).toBe(false);
  });

  it('one client throws: the others are called all the same', () => {
    const throwing = attached(alarm, 1100);
    throwing.onExpired = () => {
      throw new Error('client');
    };
    const other = attached(alarm, 1100);
    expect(() => clock.advanceTo(1200)).toThrow('client');
    clock.advanceTo(1200);
    expect(other.expiredMs.length).toBe(1);
  });

  it('re-arms from inside, for itself and for another', () => {
    const other = attached(alarm, Infinity);
    const client = attached(alarm, 1100);
    client.onExpired = () => {
      other.deadlineMs = 1150;
      alarm.rearm(other);
      if (client.expiredMs.length < 3) client.deadlineMs = clock.nowMs + 100;
    };
    clock.advanceTo(3000);
    expect(client.expiredMs.length).toBe(3);
    expect(other.expiredMs.length).toBe(3);
    expect(clock.isSet).toBe(false);
  });

  it('ref and unref are counted and follow the timer', () => {
    const client = attached(alarm, 1100);
    expect(clock.keepsAlive).toBe(false);
    alarm.ref();
    alarm.ref();
    alarm.unref();
    expect(clock.keepsAlive).toBe(true);
    client.deadlineMs = 1050;
    alarm.rearm(client);
    expect(clock.keepsAlive, 'also the timer that replaces it').toBe(true);
    alarm.unref();
    expect(clock.keepsAlive).toBe(false);
    expect(() => alarm.unref()).toThrow('invariant');
  });
});

describe('alarm: real time', () => {
  it('drives a wheel: a thousand timers, none early, all once', async () => {
    const alarm = new Alarm();
    const wheel = new TimerWheel({ nowMs: performance.now() });
    const client = {
      nextDeadlineMs: () => wheel.nextDeadlineMs(),
      alarmExpired: (nowMs: number) => wheel.advance(nowMs, 16),
    };
    alarm.attach(client);
    alarm.ref();
    let earliestMs = Infinity;
    const firings = Array.from({ length: 1000 }, (_, index) => {
      const deadlineMs = performance.now() + ((index * 7919) % 80);
      return new Promise<void>((resolve) => {
        wheel.arm(deadlineMs, {
          timerExpired() {
            earliestMs = Math.min(earliestMs, performance.now() - deadlineMs);
            resolve();
          },
        });
        alarm.rearm(client);
      });
    });
    await Promise.all(firings);
    alarm.unref();
    expect(earliestMs).toBeGreaterThanOrEqual(0);
    expect(wheel.armedCount).toBe(0);
  });
});

describe('alarm: what keeps a process alive', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nephrite-alarm-'));
  const outfile = join(folder, 'deadlines.mjs');
  const entry = fileURLToPath(new URL('../../../lib/time/deadlines.ts', import.meta.url));
  beforeAll(() =>
    build({ entryPoints: [entry], outfile, bundle: true, format: 'esm', platform: 'node' }),
  );
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['an armed deadline does', `armDeadline(30, () => console.log('expired'));`, 'expired\n'],
    ['a cancelled one does not', 'cancelDeadline(armDeadline(600_000, () => {}));', ''],
  ])('%s', (_, code, output) => {
    const script = `import { armDeadline, cancelDeadline } from './deadlines.mjs'; ${code}`;
    const args = ['--input-type=module', '-e', script];
    const result = spawnSync(process.execPath, args, {
      cwd: folder,
      encoding: 'utf8',
      timeout: 15_000,
    });
    expect(result.stderr).toBe('');
    expect(result.stdout).toBe(output);
    expect(result.status).toBe(0);
  });
});
