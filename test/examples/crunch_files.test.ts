// examples/crunch_files.ts as its reader would run it: the checksums are right, a file that hangs
// costs its timeout only, Ctrl-C ends it. Runs against dist/, as a program that has the package.
// Not here: scopes, semaphores and progress by themselves.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { ROOT } from '../support/root.ts';

const folder = mkdtempSync(join(tmpdir(), 'nephrite-crunch-'));
const tree = join(folder, 'tree');
const expected = new Map<string, string>();

beforeAll(() => {
  for (const name of ['a', 'a/b', 'empty']) mkdirSync(join(tree, name), { recursive: true });
  for (let i = 0; i < 150; i++) {
    const name = `${i % 3 === 0 ? 'a/b/' : i % 3 === 1 ? 'a/' : ''}file${i}`;
    const content = Buffer.alloc(i === 0 ? 0 : i === 1 ? 700_000 : i * 100, `content ${i}`);
    writeFileSync(join(tree, name), content);
    expected.set(name, createHash('sha256').update(content).digest('hex'));
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function start(...args: string[]): ReturnType<typeof spawn> {
  const script = join(ROOT, 'scripts', 'run_ts.js');
  const example = join(ROOT, 'examples', 'crunch_files.ts');
  const child = spawn(process.execPath, [script, example, ...args]);
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
}

async function finish(child: ReturnType<typeof spawn>) {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code] = await once(child, 'close');
  return { code, stderr, lines: stdout.trim().split('\n') };
}

test('checksums of a tree, with progress', async () => {
  const { code, stderr, lines } = await finish(start(tree, '--at-once', '8'));
  expect(stderr).toMatch(/^100 files, [\d.]+ MiB$/m);
  expect(code).toBe(0);
  const found = new Map(lines.map((line) => line.split('  ').toReversed() as [string, string]));
  expect(found).toEqual(expected);
});

// node:fs cannot give up the open of a pipe: the process would wait for it.
const cannotGiveUp = process.env.NEPHRITE_BACKEND === 'node';

test.skipIf(process.platform === 'win32' || cannotGiveUp)(
  'a pipe without a writer costs its timeout, and nothing else (not on Windows, not on `node`)',
  async () => {
    const pipe = join(tree, 'pipe');
    expect(spawnSync('mkfifo', [pipe]).status).toBe(0);
    onTestFinished(() => rmSync(pipe));
    const { code, lines } = await finish(start(tree, '--at-once', '4', '--timeout', '2000'));
    expect(lines).toContain('FAILED: not read within 2000 ms  pipe');
    expect(lines.filter((line) => !line.startsWith('FAILED'))).toHaveLength(expected.size);
    expect(code).toBe(1);
  },
);

test.skipIf(process.platform === 'win32')(
  'Ctrl-C cancels what runs, also what hangs (no SIGINT to send on Windows)',
  async () => {
    const pipe = join(tree, 'pipe');
    expect(spawnSync('mkfifo', [pipe]).status).toBe(0);
    onTestFinished(() => rmSync(pipe));
    const child = start(tree);
    const finished = finish(child);
    const seen = new Promise<void>((resolve) => {
      child.stderr?.on('data', (text: string) => {
        if (text.includes('100 files')) resolve();
      });
    });
    await seen;
    child.kill('SIGINT');
    const { code, stderr } = await finished;
    expect(stderr).toContain('was cancelled');
    expect(code).toBe(130);
  },
);
