// Failures that nobody observes are reported as Node reports those of its own promises: once, with
// the same exit code and message, and taken back when somebody looks after all.
// Method: each case runs in a process on nephrite/fs and in one on node:fs/promises; both must
// agree.
import { afterAll, describe, expect, it } from 'vitest';
import { ChildLab } from '../../support/child.ts';

const lab = new ChildLab('unobserved');
afterAll(() => lab.remove());

describe('operation: failures that nobody observes', () => {
  it('are reported once each, and only if nobody observes them', async () => {
    const [ours, oracle] = await Promise.all([
      lab.json('unobserved', { args: ['counted', 'nephrite'] }),
      lab.json('unobserved', { args: ['counted', 'node'] }),
    ]);
    expect(ours).toEqual(oracle);
    // The oracle itself says what the words mean.
    expect(oracle).toMatchObject({
      nobody: ['unhandled ENOENT'],
      'two thens': ['unhandled ENOENT', 'unhandled ENOENT'],
      caught: [],
      'caught late': ['unhandled ENOENT', 'handled after all'],
      'one handler of many throws': ['unhandled one handler'],
    });
  });

  it.each([
    ['nobody', "ENOENT: no such file or directory, open '/gone/with/the/wind'"],
    ['throw in then', 'Error: thrown in then'],
    ['throw after await', 'Error: thrown after await'],
  ])('%s: ends a process that does not listen, with code 1 and the message', async (name, text) => {
    const [ours, oracle] = await Promise.all([
      lab.run('unobserved', { args: [name, 'nephrite'] }),
      lab.run('unobserved', { args: [name, 'node'] }),
    ]);
    expect([ours.code, oracle.code]).toEqual([1, 1]);
    expect(oracle.stderr).toContain(text);
    expect(ours.stderr).toContain(text);
  });
});
