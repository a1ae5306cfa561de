// The table of docs/fs.md against the truth: every name of this Node's fs/promises is in it, is
// exported, and is Node's own function exactly where the table says so.
// Not here: what the functions do (test/conformance).
import { readFileSync } from 'node:fs';
import * as nodeFs from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as fs from '../../../lib/fs.ts';
import { originals } from '../../../lib/io/fs/delegated.ts';
import { ROOT } from '../../support/root.ts';

const page = readFileSync(join(ROOT, 'docs', 'fs.md'), 'utf8');
const rows = new Map(
  Array.from(page.matchAll(/^\| `(\w+)` \| ([\w, ]+) \|/gm), ([, name, who]) => [name, who]),
);
const exported = fs as unknown as Record<string, unknown>;
const nodeExports = nodeFs as unknown as Record<string, unknown>;
const nodeNames = Object.keys(nodeFs).filter((name) => name !== 'default');

/** Node's value behind ours: functions of Node ask about restrictions first. */
const nodeOwn = (value: unknown): unknown =>
  typeof value === 'function' ? originals.get(value) : value;

describe('docs/fs.md', () => {
  it('lists every name of this Node, in order', () => {
    expect([...rows.keys()]).toEqual(expect.arrayContaining(nodeNames));
    expect([...rows.keys()]).toEqual([...rows.keys()].sort((a, b) => (a < b ? -1 : 1)));
  });

  it('says who carries each out, and that is so', () => {
    for (const [name, who] of rows) {
      expect(name in fs, `${name} is exported`).toBe(true);
      if (who === 'Node') expect(nodeOwn(exported[name]), name).toBe(nodeExports[name]);
      else expect(exported[name], name).not.toBe(nodeExports[name]);
    }
  });

  it('leaves out nothing that we export', () => {
    for (const name of Object.keys(fs)) {
      expect(rows.has(name) || page.includes(`\`${name}`), `${name} is mentioned`).toBe(true);
    }
  });

  it('says which methods of FileHandle are not there, and all others are', () => {
    const absent = /Its ((?:`\w+`[, and]*)+) are not\s+there yet/.exec(page)?.[1] ?? '';
    const names = Array.from(absent.matchAll(/`(\w+)`/g), ([, name]) => name);
    expect(names).toHaveLength(4);
    for (const name of names) expect(name in fs.FileHandle.prototype, name).toBe(false);
    // As Node documents them.
    const documented =
      'appendFile chmod chown close datasync read readFile readv stat sync truncate utimes write ' +
      'writeFile writev';
    for (const name of documented.split(' ')) {
      expect(name in fs.FileHandle.prototype, name).toBe(true);
    }
  });
});
