// Ten thousand files at once under a low limit of descriptors (ulimit -n): reads, copies, listings
// and removals that nobody bounds but the library.
// Prints { read, copied, listed }: how many came out right.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fs from '../../../lib/fs.ts';

const [, , readCount = '0', copyCount = '0'] = process.argv;
const folder = mkdtempSync(join(tmpdir(), 'nephrite-few-'));

/** Settles all; counts those that gave what is right. Any failure ends the program. */
async function countRight<T>(
  calls: PromiseLike<T>[],
  isRight: (value: T, index: number) => boolean,
) {
  const values = await Promise.all(calls);
  return values.filter(isRight).length;
}

try {
  for (let index = 0; index < 100; index++)
    writeFileSync(join(folder, `${index}`), `content ${index}`);
  const reads = Array.from({ length: Number(readCount) }, (_, index) =>
    fs.readFile(join(folder, `${index % 100}`), 'utf8'),
  );
  const read = await countRight(reads, (text, index) => text === `content ${index % 100}`);
  mkdirSync(join(folder, 'copies'));
  const copies = Array.from({ length: Number(copyCount) }, (_, index) =>
    fs.copyFile(join(folder, `${index % 100}`), join(folder, 'copies', `${index}`)),
  );
  await Promise.all(copies);
  let copied = 0;
  for (let index = 0; index < Number(copyCount); index++) {
    const text = readFileSync(join(folder, 'copies', `${index}`), 'utf8');
    if (text === `content ${index % 100}`) copied++;
  }
  const listings = Array.from({ length: Number(copyCount) }, () => fs.readdir(folder));
  const listed = await countRight(listings, (names) => names.length === 101);
  await fs.rm(join(folder, 'copies'), { recursive: true });
  console.log(JSON.stringify({ read, copied, listed }));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
