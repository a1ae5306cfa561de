// S-4. Method: a process of its own; its voluntary context switches are read from outside, so that
// measuring wakes nobody. Not here: when timers fire (test/unit/time).
// „Der Scheduler besitzt keinen globalen Heartbeat.“
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { Runtime, sleep } from '../../lib/index.ts';
import { expectIdle, tick } from '../scheduler/lab.ts';
import { ChildLab } from '../support/child.ts';

const lab = new ChildLab('heartbeat');
afterAll(() => lab.remove());

const OBSERVED_MS = 2000;
// The runtime behind the thread (collector, compiler) may end what it has begun.
const SWITCHES_MAX = 4;

/** How often the threads of the process have gone to sleep. */
function switchCount(pid: number): number {
  let count = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const status = readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8');
    count += Number(/^voluntary_ctxt_switches:\s*(\d+)/m.exec(status)?.[1]);
  }
  return count;
}

describe('S-4: the scheduler has no global heartbeat', () => {
  it('an idle runtime, with tasks that wait, makes no wake-up', async () => {
    let switches = Number.NaN;
    const result = await lab.run('idle_runtime', {
      args: ['idle'],
      onLine: async (_line, child) => {
        const pid = child.pid as number;
        // What the start has left over.
        await delay(500);
        const before = switchCount(pid);
        await delay(OBSERVED_MS);
        switches = switchCount(pid) - before;
        child.kill();
      },
    });
    expect(result, result.stderr).toMatchObject({ signal: 'SIGTERM', stdout: 'ready\n' });
    expect(switches).toBeLessThanOrEqual(SWITCHES_MAX);
  });

  it.each(['done', 'tokens', 'deadline'])(
    'a process whose tasks are over ends (%s)',
    async (what) => {
      const result = await lab.run('idle_runtime', { args: [what] });
      expect(result, result.stderr).toMatchObject({ code: 0, signal: null, stdout: 'ready\n' });
    },
  );

  it('timers of one engine keep the process alive when another has none any more', async () => {
    const result = await lab.run('idle_runtime', { args: ['engines'] });
    expect(result, result.stderr).toMatchObject({ code: 0 });
    expect(result.stdout).toBe('ready\nother is done\n');
  });

  it('no turn happens that nobody asked for', async () => {
    const rt = await Runtime.start();
    const { host } = rt.parts;
    let turns = 0;
    const enterTurn = host.enterTurn.bind(host);
    host.enterTurn = () => {
      turns++;
      enterTurn();
    };
    const task = rt.spawn(function* () {
      yield* sleep(3_600_000);
    });
    while (task.state !== 'waiting') await tick();
    const turnsBefore = turns;
    for (let count = 0; count < 50; count++) await tick();
    expect(turns).toBe(turnsBefore);
    task.cancel();
    await task.settled();
    expect(turns - turnsBefore).toBeLessThanOrEqual(2);
    await expectIdle(rt);
    await rt.close();
  });
});
