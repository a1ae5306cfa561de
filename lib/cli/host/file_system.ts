// The file system under a folder: its type and the space that is left.
// Owner: nobody. Invariants: an unknown type is shown by its number, never guessed.
// Not here: the decision how much space a run may take (stress/run.ts).
import { statfs } from 'node:fs/promises';

const TYPE_NAMES: Readonly<Record<number, string>> = {
  61267: 'ext4',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  16914836: 'tmpfs',
  2035054128: 'overlayfs',
  26985: 'nfs',
  1702057286: 'fuse',
  801189825: 'zfs',
  4076150800: 'f2fs',
  16914839: '9p',
  19780: 'fat',
  4283649346: 'cifs',
  4266872130: 'smb2',
  3393526350: 'bcachefs',
  2240043254: 'ramfs',
};

/** A mounted file system. */
export interface FileSystemFacts {
  readonly type: string;
  readonly freeBytes: number;
  readonly totalBytes: number;
  /** True when the "disk" is memory. */
  readonly isMemory: boolean;
}

/** Reads the facts of the file system that holds `folder`. Rejects if the folder is missing. */
export async function readFileSystem(folder: string): Promise<FileSystemFacts> {
  const { type, bavail, blocks, bsize } = await statfs(folder);
  const name = TYPE_NAMES[type >>> 0] ?? `type 0x${(type >>> 0).toString(16)}`;
  return {
    type: name,
    freeBytes: bavail * bsize,
    totalBytes: blocks * bsize,
    isMemory: name === 'tmpfs' || name === 'ramfs',
  };
}
