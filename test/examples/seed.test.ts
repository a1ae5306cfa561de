// The examples of the specification, as programs: executed here, and as processes of their own.
// Not here: what they stand on (test/invariants).
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig, main as mainConfig } from '../../examples/seed_load_config.ts';
import { loadBoth, main as mainBoth } from '../../examples/seed_spawn_join.ts';
import { spawn } from '../../lib/index.ts';
import { useLab } from '../scheduler/lab.ts';
import { ROOT } from '../support/root.ts';

const lab = useLab();
const folder = mkdtempSync(join(tmpdir(), 'nephrite-examples-'));
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const config = file('config.json', '{"host":"localhost","workers":8}');
const [a, b] = [file('a', 'text of a'), file('b', 'text of b')];
const missing = join(folder, 'missing');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(example: string, ...args: string[]): string {
  const script = join(ROOT, 'scripts', 'run_ts.js');
  const entry = join(ROOT, 'examples', example);
  return String(execFileSync(process.execPath, [script, entry, ...args]));
}

describe('loadConfig (3.4)', () => {
  it('gives the config, in a task of its own and as part of another', async () => {
    expect(await mainConfig(config)).toEqual({ host: 'localhost', workers: 8 });
    const workers = await lab.rt.run(function* () {
      return (yield* loadConfig(config)).workers;
    });
    expect(workers).toBe(8);
  });

  it('throws what the read or the parser throws, where it is called', async () => {
    await expect(mainConfig(missing)).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(mainConfig(a)).rejects.toThrow(SyntaxError);
    const seen = await lab.rt.run(function* () {
      try {
        yield* loadConfig(missing);
      } catch (error) {
        return (error as NodeJS.ErrnoException).code;
      }
      return 'nothing';
    });
    expect(seen).toBe('ENOENT');
  });
});

describe('spawn, load, join (3.5)', () => {
  it('gives both', async () => {
    expect(await mainBoth(a, b)).toEqual(['text of a', 'text of b']);
  });

  it('runs the two at the same time, in two tasks', async () => {
    const told: string[] = [];
    const stop = lab.rt.bus.tap(({ command, taskId }) => {
      if (['spawn', 'wait', 'complete'].includes(command)) told.push(`${command} ${taskId}`);
    });
    const parent = lab.rt.spawn(loadBoth, a, b);
    await parent.join();
    stop();
    const child = parent.id + 1;
    expect(told).toContain(`spawn ${child}`);
    const childWaits = told.indexOf(`wait ${child}`);
    const parentWaits = told.indexOf(`wait ${parent.id}`);
    const firstEnd = told.findIndex((line) => line.startsWith('complete'));
    expect(Math.max(childWaits, parentWaits)).toBeLessThan(firstEnd);
  });

  it('a failure of the child is thrown at the join, and nowhere else', async () => {
    await expect(mainBoth(missing, b)).rejects.toMatchObject({ code: 'ENOENT' });
    const own = lab.rt.spawn(function* () {
      const first = spawn(loadBoth, missing, b);
      return (yield* first.settled()).status;
    });
    expect(await own.join()).toBe('failure');
    expect(lab.unhandled).toEqual([]);
  });
});

describe('the programs', () => {
  it('print what they have found', () => {
    expect(run('seed_load_config.ts', config)).toContain("host: 'localhost'");
    expect(run('seed_spawn_join.ts', a, b)).toContain("'text of b'");
  });
});
