// Fs conformance, directories: mkdir, mkdtemp, rmdir, readdir, against Node's.
// Method: fs_oracle.ts; recursive listings are compared as sets, since their order is not the same
// in all versions of Node. Not here: removing trees (fs_rm.test.ts), huge directories
// (test/integration/files_scenarios.test.ts).
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import * as nodeFs from 'node:fs';
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { asOtherUser } from '../support/file_system_facts.ts';
import { describeFs } from '../support/fs_lab.ts';
import { type AnyFs, expectSame, expectSameError, type Outcome } from '../support/fs_oracle.ts';

type Call = (fs: AnyFs, folder: string) => Promise<unknown>;

const RAW = Buffer.from([0xe9, 0xff, 0x41]);
// Bytes sort otherwise than UTF-16: U+FFFD before U+1F600 here, after it there.
const NAMES = ['b', 'a', 'B', 'a.b', 'é', 'z\u{1f600}', 'z\ufffd', '-', '..c', ' '];

function fill(folder: string): void {
  for (const name of NAMES) nodeFs.writeFileSync(`${folder}/${name}`, '');
  nodeFs.mkdirSync(`${folder}/one/two/three`, { recursive: true });
  nodeFs.writeFileSync(`${folder}/one/inner`, '');
  nodeFs.writeFileSync(`${folder}/one/two/deep`, '');
  nodeFs.mkdirSync(`${folder}/empty`);
  nodeFs.symlinkSync('file', `${folder}/one/link`);
}

const fillRaw = (folder: string): void => {
  fill(folder);
  nodeFs.writeFileSync(Buffer.concat([Buffer.from(`${folder}/one/`), RAW]), '');
};

const MKDIR: readonly (readonly [string, Call])[] = [
  ['mkdir', (fs, folder) => fs.mkdir(`${folder}/new`)],
  ['mkdir with a mode', (fs, folder) => fs.mkdir(`${folder}/new`, 0o700)],
  ['mkdir with an octal string', (fs, folder) => fs.mkdir(`${folder}/new`, '0750')],
  ['mkdir with a mode in options', (fs, f) => fs.mkdir(`${f}/new`, { mode: 0o711 })],
  ['mkdir, options null', (fs, folder) => fs.mkdir(`${folder}/new`, null)],
  ['mkdir recursive, all missing', (fs, f) => fs.mkdir(`${f}/x/y/z`, { recursive: true })],
  ['mkdir recursive, some missing', (fs, f) => fs.mkdir(`${f}/one/y/z`, { recursive: true })],
  ['mkdir recursive, none missing', (fs, f) => fs.mkdir(`${f}/one/two`, { recursive: true })],
  ['mkdir recursive, slashes', (fs, f) => fs.mkdir(`${f}/x//y///z//`, { recursive: true })],
  ['mkdir recursive, dots', (fs, f) => fs.mkdir(`${f}/one/../x/./y`, { recursive: true })],
  ['mkdir recursive, a mode', (fs, f) => fs.mkdir(`${f}/x/y`, { recursive: true, mode: 0o750 })],
  ['mkdir recursive, bytes', (fs, f) => fs.mkdir(Buffer.from(`${f}/x/y`), { recursive: true })],
  ['rmdir', (fs, folder) => fs.rmdir(`${folder}/empty`)],
];

const FAILING: readonly (readonly [string, string, Call])[] = [
  ['mkdir in nothing', 'ENOENT', (fs, folder) => fs.mkdir(`${folder}/no/new`)],
  ['mkdir of what is there', 'EEXIST', (fs, folder) => fs.mkdir(`${folder}/one`)],
  ['mkdir in a file', 'ENOTDIR', (fs, folder) => fs.mkdir(`${folder}/a/new`)],
  ['mkdir recursive in a file', 'ENOTDIR', (fs, f) => fs.mkdir(`${f}/a/x/y`, { recursive: true })],
  ['mkdir recursive on a file', 'EEXIST', (fs, f) => fs.mkdir(`${f}/a`, { recursive: true })],
  ['mkdir recursive of nothing', 'ENOENT', (fs) => fs.mkdir('', { recursive: true })],
  [
    'mkdir recursive on a dangling link',
    'ENOENT',
    (fs, folder) => fs.mkdir(`${folder}/one/link`, { recursive: true }),
  ],
  [
    'mkdir recursive below a dangling link',
    'ENOTDIR',
    (fs, folder) => fs.mkdir(`${folder}/one/link/x`, { recursive: true }),
  ],
  ['mkdir, mode no number', 'ERR_INVALID_ARG_VALUE', (fs, f) => fs.mkdir(`${f}/new`, '9')],
  ['rmdir of nothing', 'ENOENT', (fs, folder) => fs.rmdir(`${folder}/no`)],
  ['rmdir of a file', 'ENOTDIR', (fs, folder) => fs.rmdir(`${folder}/a`)],
  ['rmdir of a full directory', 'ENOTEMPTY', (fs, folder) => fs.rmdir(`${folder}/one`)],
  ['readdir of nothing', 'ENOENT', (fs, folder) => fs.readdir(`${folder}/no`)],
  ['readdir of a file', 'ENOTDIR', (fs, folder) => fs.readdir(`${folder}/a`)],
  ['readdir recursive of nothing', 'ENOENT', (fs, f) => fs.readdir(`${f}/no`, { recursive: true })],
  ['readdir in no encoding', 'ERR_INVALID_ARG_VALUE', (fs, f) => fs.readdir(f, 'no')],
  ['mkdtemp in nothing', 'ENOENT', (fs, folder) => fs.mkdtemp(`${folder}/no/x`)],
  ['mkdtemp below a file', 'ENOTDIR', (fs, folder) => fs.mkdtemp(`${folder}/a/x`)],
];

const LISTINGS: readonly (readonly [string, unknown])[] = [
  ['names', undefined],
  ['names, null', null],
  ['names as buffers', 'buffer'],
  ['names as buffers, by option', { encoding: 'buffer' }],
  ['names in hex', 'hex'],
  ['names in latin1', { encoding: 'latin1' }],
  ['types', { withFileTypes: true }],
  ['types, names as buffers', { withFileTypes: true, encoding: 'buffer' }],
];

// mkdtemp's six characters, of the error as of the name.
const withoutSuffix = (outcome: Outcome): Outcome =>
  JSON.parse(JSON.stringify(outcome).replaceAll(/x[A-Za-z0-9]{6}\b/g, 'x??????')) as Outcome;

const sorted = (outcome: Outcome): Outcome => ({
  ...outcome,
  value: (outcome.value as unknown[]).map((each) => JSON.stringify(each)).sort(),
});

describeFs('fs directories', (lab) => {
  for (const [name, call] of MKDIR) {
    it(name, async () => {
      const { error } = await expectSame(lab, call, { setup: fill });
      expect(error).toBeUndefined();
    });
  }

  for (const [name, code, call] of FAILING) {
    it(`${name}: ${code}`, () =>
      expectSameError(lab, code, call, { setup: fill, adjust: withoutSuffix }));
  }

  it('mkdir recursive, relative to the working directory', async () => {
    const before = process.cwd();
    const inFolder: Call = async (fs, folder) => {
      process.chdir(folder);
      try {
        return [
          await fs.mkdir('x/y', { recursive: true }),
          await fs.mkdir('x', { recursive: true }),
        ];
      } finally {
        process.chdir(before);
      }
    };
    const { value } = await expectSame(lab, inFolder);
    expect(value).toEqual(['x', undefined]);
  });

  // Node's loops for ever.
  it('mkdir recursive where a directory cannot be made', async () => {
    await expect(lab.fs.mkdir('/proc/no/x', { recursive: true })).rejects.toMatchObject({
      code: 'ENOENT',
      syscall: 'mkdir',
    });
  });

  it('mkdir recursive, many at the same place at once', async () => {
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        lab.fs.mkdir(lab.path(`a/b/c/${index % 4}`), { recursive: true }),
      ),
    );
    expect(nodeFs.readdirSync(lab.path('a/b/c')).sort()).toEqual(['0', '1', '2', '3']);
    expect(made.filter((path) => path === lab.path('a'))).toHaveLength(1);
  });

  it('rmdir recursive is refused, as in Node 26', async () => {
    fill(lab.folder);
    const options = { recursive: true } as unknown as { recursive: false };
    await expect(lab.fs.rmdir(lab.path('one'), options)).rejects.toMatchObject({
      name: 'TypeError',
      code: 'ERR_INVALID_ARG_VALUE',
    });
    expect(nodeFs.existsSync(lab.path('one/inner'))).toBe(true);
  });

  for (const encoding of [undefined, 'buffer', 'hex', { encoding: 'latin1' }]) {
    it(`mkdtemp, ${JSON.stringify(encoding)}`, async () => {
      const make: Call = async (fs, folder) => {
        const made = await fs.mkdtemp(`${folder}/x`, encoding);
        const [name] = nodeFs.readdirSync(folder);
        expect(name).toMatch(/^x[A-Za-z0-9]{6}$/);
        nodeFs.renameSync(`${folder}/${name}`, `${folder}/renamed`);
        const full = Buffer.from(`${folder}/${name}`);
        return encoding === 'hex'
          ? made === full.toString('hex')
          : Buffer.from(made as string).equals(full);
      };
      const { value } = await expectSame(lab, make);
      expect(value).toBe(true);
    });
  }

  it('mkdtemp gives every caller another one', async () => {
    const made = await Promise.all(
      Array.from({ length: 50 }, () => lab.fs.mkdtemp(lab.path('t-'))),
    );
    expect(new Set(made).size).toBe(50);
    expect(nodeFs.readdirSync(lab.folder)).toHaveLength(50);
  });

  for (const [name, options] of LISTINGS) {
    it(`readdir: ${name}`, async () => {
      const list: Call = (fs, folder) => fs.readdir(folder, options);
      const { value } = await expectSame(lab, list, { setup: fillRaw });
      expect(value).toHaveLength(NAMES.length + 2);
      await expectSame(lab, (fs, folder) => fs.readdir(`${folder}/one`, options), {
        setup: fillRaw,
      });
      await expectSame(lab, (fs, folder) => fs.readdir(`${folder}/empty`, options), {
        setup: fillRaw,
      });
    });
  }

  for (const options of [{}, { withFileTypes: true }, { encoding: 'latin1' }]) {
    it(`readdir, recursive: ${JSON.stringify(options)}`, async () => {
      const list: Call = (fs, folder) => fs.readdir(folder, { ...options, recursive: true });
      const { value } = await expectSame(lab, list, { setup: fill, adjust: sorted });
      expect(value).toHaveLength(NAMES.length + 7);
    });
  }

  it('readdir, recursive: names that are not UTF-8 are entered all the same', async () => {
    fill(lab.folder);
    const raw = Buffer.concat([Buffer.from(`${lab.folder}/`), RAW]);
    nodeFs.mkdirSync(raw);
    nodeFs.writeFileSync(Buffer.concat([raw, Buffer.from('/inside')]), '');
    const names = await lab.fs.readdir(lab.folder, { recursive: true, encoding: 'buffer' });
    const expected = Buffer.concat([RAW, Buffer.from('/inside')]);
    expect(names.some((name) => name.equals(expected))).toBe(true);
  });

  it('readdir, recursive: links to directories are followed for names, loops are not', async () => {
    fill(lab.folder);
    nodeFs.symlinkSync('two', lab.path('one/alias'));
    const follow: Call = (fs, folder) => fs.readdir(folder, { recursive: true });
    const setup = (folder: string): void => {
      fill(folder);
      nodeFs.symlinkSync('two', `${folder}/one/alias`);
    };
    const { value } = await expectSame(lab, follow, { setup, adjust: sorted });
    expect(value).toContain('"one/alias/deep"');
    nodeFs.symlinkSync('..', lab.path('one/up'));
    nodeFs.symlinkSync('..', lab.path('one/two/back'));
    const names = await lab.fs.readdir(lab.folder, { recursive: true });
    expect(names).toContain('one/up');
    expect(names.length).toBeLessThan(500);
    const typed = await lab.fs.readdir(lab.folder, { recursive: true, withFileTypes: true });
    expect(typed.filter(({ name }) => name === 'deep')).toHaveLength(1);
  });

  it('readdir, types: sockets and FIFOs too', async () => {
    fill(lab.folder);
    execFileSync('mkfifo', [lab.path('fifo')]);
    const server = createServer().listen(lab.path('socket'));
    await once(server, 'listening');
    const kindsOf = (entries: nodeFs.Dirent[]) =>
      entries.map((each) => [each.name, each.isFIFO(), each.isSocket(), each.isDirectory()]);
    const options = { withFileTypes: true } as const;
    const ours = await lab.fs.readdir(lab.folder, options);
    expect(kindsOf(ours)).toEqual(kindsOf(await nodeFs.promises.readdir(lab.folder, options)));
    expect(ours.every((entry) => entry instanceof nodeFs.Dirent)).toBe(true);
    server.close();
    await once(server, 'close');
  });

  it("readdir in another user's directory", async (context) => {
    const list: Call = async (fs, folder) => {
      nodeFs.chmodSync(folder, 0o700);
      let result: unknown;
      const reason = await asOtherUser(async () => {
        result = await fs.readdir(folder).catch((error: unknown) => ({ error }));
      });
      if (reason !== null) context.skip(reason);
      throw (result as { error: unknown }).error;
    };
    await expectSameError(lab, 'EACCES', list, { setup: fill });
  });
});
