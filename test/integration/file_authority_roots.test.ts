// File authority, several roots and unusual ones: inside one another, reached by links, the whole
// file system, /proc. Not here: attacks on one root (file_authority.test.ts).
import * as nodeFs from 'node:fs';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeFs } from '../support/fs_lab.ts';
import type { AnyFs } from '../support/fs_oracle.ts';
import { Restriction, type RootGrant } from '../support/restriction.ts';

const DENIED = { code: 'ERR_CAPABILITY_DENIED' };

describeFs('file roots', (lab) => {
  let restriction: Restriction;
  const cwd = process.cwd();
  const at = (name: string): string => `${lab.folder}/${name}`;
  const below = (...roots: readonly RootGrant[]): AnyFs => {
    const authority = restriction.authority(...roots);
    return restriction.wrap(lab.fs, () => authority) as unknown as AnyFs;
  };

  beforeAll(async () => {
    restriction = await Restriction.load();
  });
  beforeEach(() => {
    nodeFs.mkdirSync(at('outer/inner'), { recursive: true });
    nodeFs.writeFileSync(at('outer/file'), 'outer');
    nodeFs.writeFileSync(at('outer/inner/file'), 'inner');
    nodeFs.symlinkSync('outer/inner', at('way'));
  });
  afterEach(() => process.chdir(cwd));

  describe.skipIf(process.platform !== 'linux')('roots', () => {
    it('inside one another: the one that allows more decides', async () => {
      const fs = below({ path: at('outer') }, { path: at('outer/inner'), write: true });
      await fs.writeFile(at('outer/inner/new'), 'x');
      expect(await fs.readFile(at('outer/inner/../file'), 'utf8')).toBe('outer');
      await expect(fs.writeFile(at('outer/inner/../file'), 'x')).rejects.toMatchObject(DENIED);
      await expect(fs.rename(at('outer/inner/file'), at('outer/x'))).rejects.toMatchObject(DENIED);
      await expect(fs.rmdir(at('outer/inner'))).rejects.toMatchObject(DENIED);
      const other = below({ path: at('outer'), write: true }, { path: at('outer/inner') });
      await other.writeFile(at('outer/inner/new'), 'y');
      expect(nodeFs.readFileSync(at('outer/inner/new'), 'utf8')).toBe('y');
    });

    it('granted through a link may be written as granted, and as they are', async () => {
      const fs = below({ path: at('way') });
      for (const path of [at('way/file'), at('outer/inner/file'), at('./way/../way/file')]) {
        const outcome = fs.readFile(path, 'utf8');
        if (path.includes('..')) await expect(outcome).rejects.toMatchObject(DENIED);
        else expect(await outcome).toBe('inner');
      }
      expect(await fs.realpath(at('way/file'))).toBe(at('outer/inner/file'));
      nodeFs.unlinkSync(at('way'));
      nodeFs.symlinkSync('outer', at('way'));
      expect(await fs.readFile(at('way/file'), 'utf8')).toBe('inner');
    });

    it('relative paths: from above, from inside, from beside', async () => {
      const fs = below({ path: at('outer') });
      for (const [folder, path] of [
        ['', 'outer/file'],
        ['outer', 'file'],
        ['outer/inner', '../file'],
        ['outer/inner', './../inner/../file'],
      ]) {
        process.chdir(at(folder));
        expect(await fs.readFile(path, 'utf8'), `${folder}: ${path}`).toBe('outer');
      }
      await expect(fs.readdir('../..')).rejects.toMatchObject(DENIED);
    });

    it('the whole file system to read', async () => {
      const fs = below({ path: '/' });
      expect(await fs.readFile(at('way/../file'), 'utf8')).toBe('outer');
      expect(await fs.realpath('/')).toBe('/');
      expect(await fs.realpath(at('way'))).toBe(at('outer/inner'));
      expect(await fs.readdir('/..')).toEqual(nodeFs.readdirSync('/'));
      await expect(fs.writeFile(at('outer/file'), 'x')).rejects.toMatchObject(DENIED);
    });

    it('links of /proc are text, not doors', async () => {
      const fd = nodeFs.openSync(at('outer/inner'), 'r');
      try {
        const fs = below({ path: '/proc' });
        const own = `/proc/${process.pid}`;
        expect(await fs.readFile(`${own}/comm`)).toEqual(nodeFs.readFileSync(`${own}/comm`));
        for (const path of [`${own}/root/etc`, `${own}/cwd`, `${own}/fd/${fd}/file`]) {
          await expect(fs.stat(path), path).rejects.toMatchObject(DENIED);
        }
        await expect(fs.open(`${own}/exe`)).rejects.toMatchObject(DENIED);
        expect(await fs.readlink(`${own}/fd/${fd}`)).toBe(at('outer/inner'));
      } finally {
        nodeFs.closeSync(fd);
      }
    });

    it('that are gone hold nothing, and say so as the system does', async () => {
      const fs = below({ path: at('outer/inner'), write: true });
      expect(await fs.readFile(at('outer/inner/file'), 'utf8')).toBe('inner');
      nodeFs.rmSync(at('outer/inner'), { recursive: true });
      await expect(fs.stat(at('outer/inner/file'))).rejects.toMatchObject({ code: 'ENOENT' });
      await expect(fs.mkdir(at('outer/inner/x'))).rejects.toMatchObject({ code: 'ENOENT' });
      nodeFs.mkdirSync(at('outer/inner'));
      nodeFs.writeFileSync(at('outer/inner/file'), 'another');
      await expect(fs.readFile(at('outer/inner/file'))).rejects.toMatchObject({ code: 'ENOENT' });
    });

    it('hold a deep path and a long way up with two descriptors a call', async () => {
      const deep = Array.from({ length: 60 }, (_, index) => `d${index}`).join('/');
      nodeFs.mkdirSync(at(`outer/${deep}`), { recursive: true });
      const fs = below({ path: at('outer') });
      await fs.stat(at('outer'));
      const before = lab.openDescriptors();
      let most = 0;
      const pending = fs.stat(at(`outer/${deep}/${'../'.repeat(59)}../file`)).then(() => false);
      const tick = (): Promise<boolean> =>
        new Promise((resolve) => setImmediate(() => resolve(true)));
      while (await Promise.race([pending, tick()])) most = Math.max(most, lab.openDescriptors());
      // Closes on their way are counted too.
      expect(most - before).toBeLessThan(12);
      await lab.expectNoLeak(before);
    });
  });
});
