// The second Ctrl-C, for a run that does not end by itself: a program of its own around the
// handlers, since a real run stops too soon for a second signal to meet it.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ROOT } from '../support/root.ts';

const PROGRAM = `
  import { StopControl } from './lib/cli/load/stop_control.ts';
  import { listenToSignals } from './lib/cli/stress/interrupt.ts';
  import { makeTempFolder } from './lib/cli/stress/temp_folder.ts';
  const folder = await makeTempFolder(process.argv[2]);
  listenToSignals(new StopControl(), (signal) => console.log('first ' + signal));
  setInterval(() => undefined, 1000);
  console.log('ready ' + folder.path);
`;

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nephrite-cli-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('the second Ctrl-C ends at once and removes files; an echo of the first does not', async () => {
  const script = join(folder, 'program.mjs');
  await build({
    stdin: { contents: PROGRAM, resolveDir: ROOT, loader: 'ts' },
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
  const child = spawn(process.execPath, [script, folder]);
  let output = '';
  let firstMs = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (output.includes('ready') && firstMs === 0) {
      firstMs = performance.now();
      // As npm does: the same signal twice for one key press.
      child.kill('SIGINT');
      child.kill('SIGINT');
    }
  });
  const timer = setInterval(() => {
    if (output.includes('first')) child.kill('SIGINT');
  }, 20);
  const code = await new Promise((resolve) => child.on('close', resolve));
  clearInterval(timer);
  expect(code).toBe(130);
  expect(output.match(/first SIGINT/g)).toHaveLength(1);
  expect(performance.now() - firstMs).toBeGreaterThan(200);
  const path = /ready (.+)/.exec(output)?.[1] ?? '';
  expect(path.startsWith(folder)).toBe(true);
  expect(existsSync(path)).toBe(false);
});
