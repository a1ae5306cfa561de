// Fs conformance, attributes: stat, lstat, chmod, chown, lchown, utimes, lutimes, truncate, against
// Node's. Method: fs_oracle.ts; what stat gives is compared on the same file.
// Not here: the same by handle (fs_handles.test.ts), bad arguments (fs_arguments.test.ts).
import * as nodeFs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { asOtherUser } from '../support/file_system_facts.ts';
import { describeFs } from '../support/fs_lab.ts';
import { type AnyFs, expectSame, expectSameError } from '../support/fs_oracle.ts';

function fill(folder: string): void {
  nodeFs.writeFileSync(`${folder}/file`, 'content', { mode: 0o640 });
  nodeFs.mkdirSync(`${folder}/folder`);
  nodeFs.symlinkSync('file', `${folder}/link`);
  nodeFs.symlinkSync('nowhere', `${folder}/dangling`);
  for (const name of ['file', 'folder', 'link', 'dangling']) {
    nodeFs.lutimesSync(`${folder}/${name}`, 1_000_000, 2_000_000);
  }
}

/** Dates and, from Node 26 on, Instants. */
function datesOf(stats: nodeFs.Stats | nodeFs.BigIntStats): unknown[] {
  const fields = stats as unknown as Record<string, unknown>;
  const names = ['atime', 'mtime', 'ctime', 'birthtime'];
  return names.flatMap((name) => [fields[name], String(fields[`${name}Instant`])]);
}

type Call = (fs: AnyFs, folder: string) => Promise<unknown>;

const TIMES: readonly (readonly [string, unknown, unknown])[] = [
  ['seconds', 1, 2],
  ['fractions', 1234567.891, 0.000001],
  ['strings', '12', '34.5'],
  ['an empty string', '', '1'],
  ['Dates', new Date(1_700_000_000_123), new Date('2001-02-03T04:05:06.789Z')],
  ['Dates before 1970', new Date(-5000), new Date(-1.5)],
  ['Dates beyond 2038', new Date('2106-02-07T06:28:15Z'), new Date('2262-01-01')],
];

const WORKING: readonly (readonly [string, Call])[] = [
  ['chmod', (fs, folder) => fs.chmod(`${folder}/file`, 0o7751)],
  ['chmod through a link', (fs, folder) => fs.chmod(`${folder}/link`, 0o600)],
  ['chmod with an octal string', (fs, folder) => fs.chmod(`${folder}/file`, '0755')],
  ['chmod of a directory', (fs, folder) => fs.chmod(`${folder}/folder`, 0o1700)],
  ['chown to oneself', (fs, f) => fs.chown(`${f}/file`, process.getuid?.(), process.getgid?.())],
  ['chown of nothing at all', (fs, folder) => fs.chown(`${folder}/file`, -1, -1)],
  ['lchown of a dangling link', (fs, folder) => fs.lchown(`${folder}/dangling`, -1, -1)],
  ['truncate', (fs, folder) => fs.truncate(`${folder}/file`, 3)],
  ['truncate by default', (fs, folder) => fs.truncate(`${folder}/file`)],
  ['truncate to more', (fs, folder) => fs.truncate(`${folder}/file`, 5000)],
  ['truncate to less than nothing', (fs, folder) => fs.truncate(`${folder}/file`, -3)],
];

const FAILING: readonly (readonly [string, string, Call])[] = [
  ['stat of nothing', 'ENOENT', (fs, folder) => fs.stat(`${folder}/no`)],
  ['stat of a dangling link', 'ENOENT', (fs, folder) => fs.stat(`${folder}/dangling`)],
  ['stat below a file', 'ENOTDIR', (fs, folder) => fs.stat(`${folder}/file/x`)],
  ['stat of nothing, bigint', 'ENOENT', (fs, f) => fs.stat(`${f}/no`, { bigint: true })],
  ['lstat of nothing', 'ENOENT', (fs, f) => fs.lstat(`${f}/no`, { throwIfNoEntry: false })],
  ['chmod of nothing', 'ENOENT', (fs, folder) => fs.chmod(`${folder}/no`, 0)],
  ['chmod of a dangling link', 'ENOENT', (fs, folder) => fs.chmod(`${folder}/dangling`, 0)],
  ['chown of nothing', 'ENOENT', (fs, folder) => fs.chown(`${folder}/no`, 0, 0)],
  ['lchown of nothing', 'ENOENT', (fs, folder) => fs.lchown(`${folder}/no`, 0, 0)],
  ['utimes of nothing', 'ENOENT', (fs, folder) => fs.utimes(`${folder}/no`, 1, 2)],
  ['utimes of a dangling link', 'ENOENT', (fs, folder) => fs.utimes(`${folder}/dangling`, 1, 2)],
  ['lutimes of nothing', 'ENOENT', (fs, folder) => fs.lutimes(`${folder}/no`, 1, 2)],
  ['truncate of nothing', 'ENOENT', (fs, folder) => fs.truncate(`${folder}/no`)],
  ['truncate of a directory', 'EISDIR', (fs, folder) => fs.truncate(`${folder}/folder`)],
  ['truncate beyond limits', 'EFBIG', (fs, folder) => fs.truncate(`${folder}/file`, 2 ** 52)],
];

describeFs('fs attributes', (lab) => {
  describe('stat and lstat', () => {
    for (const name of ['file', 'folder', 'link', '.', '/dev/null', '/proc/self/status']) {
      for (const call of ['stat', 'lstat'] as const) {
        it(`${call} of ${name}`, async () => {
          fill(lab.folder);
          const path = name.startsWith('/') ? name : lab.path(name);
          const node = await nodeFs.promises[call](path);
          const ours = await lab.fs[call](path);
          expect(ours).toBeInstanceOf(nodeFs.Stats);
          expect({ ...ours }).toEqual({ ...node });
          expect(datesOf(ours)).toEqual(datesOf(node));
          expect([ours.isFile(), ours.isDirectory(), ours.isSymbolicLink()]).toEqual([
            node.isFile(),
            node.isDirectory(),
            node.isSymbolicLink(),
          ]);
        });

        it(`${call} of ${name}, bigint`, async () => {
          fill(lab.folder);
          const path = name.startsWith('/') ? name : lab.path(name);
          const node = await nodeFs.promises[call](path, { bigint: true });
          const ours = await lab.fs[call](path, { bigint: true });
          expect(Object.getPrototypeOf(ours)).toBe(Object.getPrototypeOf(node));
          expect(datesOf(ours)).toEqual(datesOf(node));
          expect({ ...ours }).toEqual({ ...node });
        });
      }
    }

    it('takes bytes and URLs', async () => {
      fill(lab.folder);
      const { ino } = nodeFs.statSync(lab.path('file'));
      expect((await lab.fs.stat(Buffer.from(lab.path('file')))).ino).toBe(ino);
      expect((await lab.fs.stat(new URL(`file://${lab.path('file')}`))).ino).toBe(ino);
    });
  });

  for (const [name, call] of WORKING) {
    it(name, async () => {
      const { error } = await expectSame(lab, call, { setup: fill });
      expect(error).toBeUndefined();
    });
  }

  for (const [name, atime, mtime] of TIMES) {
    for (const call of ['utimes', 'lutimes']) {
      it(`${call}: ${name}`, async () => {
        // Following a link would change the link's own time of access.
        const target = call === 'utimes' ? 'file' : 'link';
        const setTimes: Call = (fs, folder) => fs[call](`${folder}/${target}`, atime, mtime);
        const { error } = await expectSame(lab, setTimes, { setup: fill, withTimes: true });
        expect(error).toBeUndefined();
      });
    }
  }

  it('utimes: a negative number is now', async () => {
    fill(lab.folder);
    const before = Date.now();
    await lab.fs.utimes(lab.path('file'), -1, -5);
    const { atimeMs, mtimeMs } = nodeFs.statSync(lab.path('file'));
    for (const ms of [atimeMs, mtimeMs]) {
      expect(ms).toBeGreaterThanOrEqual(before - 1);
      expect(ms).toBeLessThanOrEqual(Date.now() + 1);
    }
  });

  for (const [name, code, call] of FAILING) {
    it(`${name}: ${code}`, () => expectSameError(lab, code, call, { setup: fill }));
  }

  it('what another user may not do', async (context) => {
    const calls: Record<string, Call> = {
      chmod: (fs, folder) => fs.chmod(`${folder}/file`, 0o777),
      chown: (fs, folder) => fs.chown(`${folder}/file`, 0, 0),
      lchown: (fs, folder) => fs.lchown(`${folder}/link`, 0, 0),
      utimes: (fs, folder) => fs.utimes(`${folder}/file`, 1, 2),
      truncate: (fs, folder) => fs.truncate(`${folder}/file`),
    };
    // The oracle makes and removes the folders, so it is the calls alone that run as nobody.
    const asNobody = (call: Call): Call => {
      return async (fs, folder) => {
        nodeFs.chmodSync(folder, 0o755);
        let result: unknown;
        const reason = await asOtherUser(async () => {
          result = await call(fs, folder).catch((error: unknown) => ({ error }));
        });
        if (reason !== null) context.skip(reason);
        if (result !== undefined) throw (result as { error: unknown }).error;
      };
    };
    nodeFs.chmodSync(lab.folder, 0o755);
    for (const [name, call] of Object.entries(calls)) {
      const code = name === 'truncate' ? 'EACCES' : 'EPERM';
      await expectSameError(lab, code, asNobody(call), { setup: fill });
    }
  });
});
