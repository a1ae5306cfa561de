// Results that cannot be made: a string longer than V8 allows is a failed operation, never an
// uncaught exception out of the pump. Method: a sparse file of 537 MiB, which costs no disk.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import defaultExport, * as names from '../../lib/fs.ts';

describe('results that cannot be made', () => {
  let folder: string;
  let huge: string;
  beforeAll(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'nephrite-long-'));
    huge = path.join(folder, 'huge');
    fs.writeFileSync(huge, '');
    fs.truncateSync(huge, 537 * 2 ** 20);
  });
  afterAll(() => fs.rmSync(folder, { recursive: true }));

  it('readFile to a string rejects with ERR_STRING_TOO_LONG, what runs beside it goes on', async () => {
    const beside = names.readFile('/proc/version', 'utf8');
    await expect(names.readFile(huge, 'latin1')).rejects.toMatchObject({
      code: 'ERR_STRING_TOO_LONG',
    });
    expect(await beside).toContain('Linux');
  });

  it('a file of 4 TiB is refused before it is read', async () => {
    const sparse = path.join(folder, 'sparse');
    fs.writeFileSync(sparse, '');
    fs.truncateSync(sparse, 2 ** 42);
    await expect(names.readFile(sparse)).rejects.toMatchObject({ code: 'ERR_FS_FILE_TOO_LARGE' });
  });

  it('the default export has every name; an operation shows itself as a promise does', async () => {
    for (const name of Object.keys(names)) {
      if (name !== 'default') expect(Object.keys(defaultExport)).toContain(name);
    }
    const operation = names.stat(folder);
    expect(inspect(operation)).toBe('Operation { <pending> }');
    await operation;
    expect(inspect(operation)).toMatch(/^Operation \{ .*Stats/);
    expect(JSON.stringify({ operation })).toBe('{"operation":{}}');
  });

  it('flush must be a boolean, mkdtemp wants a prefix', async () => {
    const file = path.join(folder, 'file');
    await expect(names.writeFile(file, '', { flush: 'x' as never })).rejects.toMatchObject({
      code: 'ERR_INVALID_ARG_TYPE',
    });
    expect(fs.existsSync(file)).toBe(false);
    await expect(names.mkdtemp('')).rejects.toMatchObject({ code: 'EINVAL', syscall: 'mkdtemp' });
  });
});
