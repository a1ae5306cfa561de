// Fs conformance, O_DIRECT: aligned transfers of any memory work, misaligned ones say what is
// needed instead of EINVAL. Not here: speed; other handles (fs_handles.test.ts).
import * as nodeFs from 'node:fs';
import { expect, it } from 'vitest';
import { describeFs, type FsLab } from '../support/fs_lab.ts';

const { O_CREAT, O_DIRECT, O_RDWR } = nodeFs.constants;
const BLOCK = 4096;
const UNALIGNED = 'this backend has no aligned memory';

function pattern(bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  for (let at = 0; at + 4 <= bytes; at += 4) buffer.writeUInt32LE((at * 2654435761) >>> 0, at);
  return buffer;
}

async function failureOf(operation: PromiseLike<unknown>): Promise<Error | undefined> {
  try {
    await operation;
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

/** A handle on a file of `content`, or why there is none. */
async function openDirect(lab: FsLab, content: Buffer) {
  nodeFs.writeFileSync(lab.path('file'), content);
  try {
    return await lab.fs.open(lab.path('file'), O_RDWR | O_CREAT | (O_DIRECT ?? 0));
  } catch (error) {
    if ((error as { code: string }).code === 'EINVAL') return 'this file system has no O_DIRECT';
    throw error;
  }
}

describeFs('fs direct', (lab) => {
  it('without a native backend no memory is aligned, and the error says so', async (context) => {
    if (lab.backend.isNative) context.skip('this backend has aligned memory');
    const file = await openDirect(lab, pattern(BLOCK));
    if (typeof file === 'string') return context.skip(file);
    const error = await failureOf(file.read(lab.fs.buffers.alloc(BLOCK), 0, BLOCK, 0));
    // Now and then memory lies on a sector by chance.
    if (error !== undefined) {
      expect(error).toMatchObject({ code: 'ERR_DIRECT_ALIGNMENT' });
      expect(error.message).toContain('it takes a native backend');
    }
    await file.close();
  });

  it('aligned reads and writes, of pool memory and of any other', async (context) => {
    if (!lab.backend.isNative) context.skip(UNALIGNED);
    const content = pattern(200 * BLOCK);
    const file = await openDirect(lab, content);
    if (typeof file === 'string') return context.skip(file);
    for (const make of [lab.fs.buffers.alloc, Buffer.alloc]) {
      for (const [position, length] of [
        [0, BLOCK],
        [3 * BLOCK, 7 * BLOCK],
        [0, 200 * BLOCK],
      ]) {
        const { bytesRead, buffer } = await file.read(make(length), 0, length, position);
        expect(bytesRead).toBe(length);
        expect(buffer.equals(content.subarray(position, position + length))).toBe(true);
        buffer.reverse();
        await file.write(buffer, 0, length, position);
        const held = nodeFs.readFileSync(lab.path('file')).subarray(position, position + length);
        expect(held.equals(buffer)).toBe(true);
        await file.write(make === Buffer.alloc ? content : Buffer.from(content), 0, null, 0);
      }
    }
    await file.close();
  });

  it('the end of a file that is no multiple of a block', async (context) => {
    if (!lab.backend.isNative) context.skip(UNALIGNED);
    const content = pattern(BLOCK + 1000);
    const file = await openDirect(lab, content);
    if (typeof file === 'string') return context.skip(file);
    const { bytesRead, buffer } = await file.read(lab.fs.buffers.alloc(4 * BLOCK), 0, 4 * BLOCK, 0);
    expect(bytesRead).toBe(content.length);
    expect(buffer.subarray(0, bytesRead).equals(content)).toBe(true);
    await file.close();
  });

  it('misaligned ones name the alignment, what is wrong, and are told from EINVAL', async (context) => {
    if (!lab.backend.isNative) context.skip(UNALIGNED);
    const file = await openDirect(lab, pattern(8 * BLOCK));
    if (typeof file === 'string') return context.skip(file);
    const failed = { name: 'NephriteError', code: 'ERR_DIRECT_ALIGNMENT' };
    const pool = lab.fs.buffers.alloc(2 * BLOCK);
    const readOf = (length: number, position: number) =>
      file.read(Buffer.alloc(length), 0, length, position);
    const calls = {
      'length (1000)': () => readOf(1000, 0),
      'position (100)': () => readOf(BLOCK, 100),
      'length (1000), position (100)': () => readOf(1000, 100),
      'length (10)': () => file.write('ten bytes.', 0),
    };
    for (const [what, call] of Object.entries(calls)) {
      const error = await failureOf(call());
      // Some file systems take what is not aligned, through their cache.
      if (error === undefined) continue;
      expect(error).toMatchObject(failed);
      expect(error.message).toContain(`not aligned: ${what}`);
      expect(error.message).toMatch(/multiples of \d+ bytes/);
    }
    const one = await failureOf(file.read(pool.subarray(1, BLOCK + 1), 0, BLOCK, 0));
    if (one !== undefined) {
      expect(one).toMatchObject(failed);
      expect(one.message).toContain('buffer address (1 from a page)');
    }
    await file.close();
  });

  it("the kernel's own alignment, where it tells", async (context) => {
    if (!lab.backend.isNative) context.skip('node:fs does not tell what statx knows');
    const file = await openDirect(lab, pattern(8 * BLOCK));
    if (typeof file === 'string') return context.skip(file);
    const failure = await failureOf(file.read(Buffer.alloc(BLOCK), 0, BLOCK, 1));
    const message = failure?.message ?? '';
    const told = /multiples of (\d+) bytes and buffers at multiples of (\d+)/.exec(message);
    expect(
      told?.slice(1).every((align) => [4, 512, 1024, 2048, 4096].includes(Number(align))),
    ).toBe(true);
    await file.close();
  });

  it('EINVAL of a handle without O_DIRECT stays what it is', async () => {
    nodeFs.writeFileSync(lab.path('file'), 'content');
    const file = await lab.fs.open(lab.path('file'), 'r');
    await expect(file.truncate(1)).rejects.toMatchObject({ code: 'EINVAL' });
    await file.close();
  });
});
