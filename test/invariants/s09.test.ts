// S-9, an expected failure: a caller of something that suspends must be a generator or an async
// function itself and mark the call with `yield*` or `await`. Met together with S-8.
// „Für normale suspendierbare Aufrufe gibt es kein Async-Row-Element und keine notwendige
// async/await-Färbung.“
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import * as fs from '../../lib/fs.ts';
import { useLab } from '../scheduler/lab.ts';

const lab = useLab();
const folder = mkdtempSync(join(tmpdir(), 'nephrite-s09-'));
const path = join(folder, 'config.json');
writeFileSync(path, '{"workers":8}');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('S-9: calls that suspend need no async element and no colour', () => {
  it.fails('loadConfig() without a mark, as the seed writes it', async () => {
    function loadConfig(from: string): unknown {
      const data = fs.readFile(from, 'utf8');
      return JSON.parse(data as unknown as string);
    }
    expect(await lab.rt.run(loadConfig, path)).toEqual({ workers: 8 });
  });
});
