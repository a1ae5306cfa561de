// A compact suite of file operations on nephrite/fs, each checked against node:fs on the same
// files: what must hold whatever a container refuses. Throws (node:assert) at the first difference.
// Owner: the caller, who gives an empty folder. Not here: corners (test/conformance).
import assert from 'node:assert/strict';
import * as node from 'node:fs';
import { join } from 'node:path';
import * as fs from '../../../lib/fs.ts';

const BYTES = 300_000;

function pattern(bytes: number, seed: number): Buffer {
  const data = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; at++) data[at] = (at * 31 + seed * 17 + (at >> 8)) & 0xff;
  return data;
}

async function sameFailure(ours: PromiseLike<unknown>, theirs: Promise<unknown>): Promise<void> {
  const failure = (error: NodeJS.ErrnoException): object => {
    const { code, errno, syscall, path, message } = error;
    return { code, errno, syscall, path, message };
  };
  const [mine, oracle] = await Promise.all([
    Promise.resolve(ours).then(() => 'no failure', failure),
    theirs.then(() => 'no failure', failure),
  ]);
  assert.deepEqual(mine, oracle);
}

async function transfers(folder: string): Promise<void> {
  const path = join(folder, 'data');
  const data = pattern(BYTES, 1);
  const handle = await fs.open(path, 'w+');
  const { bytesWritten } = await handle.write(data, 0, BYTES, 0);
  assert.equal(bytesWritten, BYTES);
  await handle.datasync();
  await handle.sync();
  assert.ok(node.readFileSync(path).equals(data));
  const reads = Array.from({ length: 64 }, async (_, index) => {
    const position = (index * 4561) % (BYTES - 4096);
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(4096), 0, 4096, position);
    assert.equal(bytesRead, 4096);
    assert.ok(buffer.equals(data.subarray(position, position + 4096)));
  });
  await Promise.all(reads);
  const end = await handle.read(Buffer.alloc(10), 0, 10, BYTES);
  assert.equal(end.bytesRead, 0);
  await handle.truncate(1000);
  assert.equal(node.statSync(path).size, 1000);
  await handle.close();
}

async function attributes(folder: string): Promise<void> {
  const path = join(folder, 'attributes');
  node.writeFileSync(path, 'abc', { mode: 0o640 });
  node.utimesSync(path, 1_000_000_000.25, 1_500_000_000.5);
  assert.deepEqual(await fs.stat(path), node.statSync(path));
  assert.deepEqual(await fs.stat(folder), node.statSync(folder));
  await fs.chmod(path, 0o600);
  assert.equal(node.statSync(path).mode & 0o777, 0o600);
  await fs.utimes(path, 1_100_000_000, 1_200_000_000);
  assert.equal(node.statSync(path).mtimeMs, 1_200_000_000_000);
  await fs.symlink('attributes', join(folder, 'link'));
  assert.deepEqual(await fs.lstat(join(folder, 'link')), node.lstatSync(join(folder, 'link')));
  assert.equal(await fs.readlink(join(folder, 'link')), 'attributes');
  assert.equal(await fs.realpath(join(folder, 'link')), node.realpathSync(path));
}

async function names(folder: string): Promise<void> {
  const inner = join(folder, 'a', 'b');
  await fs.mkdir(inner, { recursive: true });
  await Promise.all(
    Array.from({ length: 20 }, (_, index) => fs.writeFile(join(inner, `f${index}`), `${index}`)),
  );
  assert.deepEqual((await fs.readdir(inner)).sort(), node.readdirSync(inner).sort());
  await fs.rename(join(inner, 'f0'), join(inner, 'g0'));
  await fs.link(join(inner, 'g0'), join(inner, 'h0'));
  await fs.copyFile(join(inner, 'f7'), join(inner, 'copy'));
  assert.equal(await fs.readFile(join(inner, 'copy'), 'utf8'), '7');
  await fs.appendFile(join(inner, 'copy'), '+');
  assert.equal(node.readFileSync(join(inner, 'copy'), 'utf8'), '7+');
  await fs.unlink(join(inner, 'h0'));
  assert.equal(node.statSync(join(inner, 'g0')).nlink, 1);
  await fs.rm(join(folder, 'a'), { recursive: true });
  assert.equal(node.existsSync(join(folder, 'a')), false);
}

async function failures(folder: string): Promise<void> {
  const gone = join(folder, 'gone');
  const file = join(folder, 'file');
  node.writeFileSync(file, '');
  await sameFailure(fs.open(gone), node.promises.open(gone));
  await sameFailure(fs.stat(gone), node.promises.stat(gone));
  await sameFailure(fs.readFile(folder), node.promises.readFile(folder));
  await sameFailure(fs.open(file, 'wx'), node.promises.open(file, 'wx'));
  await sameFailure(fs.rmdir(file), node.promises.rmdir(file));
  await sameFailure(fs.readdir(file), node.promises.readdir(file));
  await sameFailure(fs.stat(join(file, 'x')), node.promises.stat(join(file, 'x')));
  await sameFailure(fs.unlink(gone), node.promises.unlink(gone));
}

/** Two ends of a FIFO (made by the caller): each open waits for the other, then bytes flow. */
async function pipes(fifo: string): Promise<void> {
  const [reader, writer] = await Promise.all([fs.open(fifo, 'r'), fs.open(fifo, 'w')]);
  const reading = reader.read(Buffer.alloc(64));
  await writer.write('through the pipe');
  const { bytesRead, buffer } = await reading;
  assert.equal(buffer.toString('utf8', 0, bytesRead), 'through the pipe');
  await writer.close();
  assert.equal((await reader.read(Buffer.alloc(64))).bytesRead, 0);
  await reader.close();
}

/** Runs all of it in `folder`. `fifo` is a FIFO that nobody else has open. */
export async function runFileSuite(folder: string, fifo: string): Promise<void> {
  await transfers(folder);
  await attributes(folder);
  await names(folder);
  await failures(folder);
  await pipes(fifo);
}
