// copyFile: arguments, and how many copies run at a time. Owner: none.
// Invariants: at most COPIES_MAX run, so that copies of many files cannot use up the descriptors
// that each of them needs two of.
// Not here: a copy (file_copy.ts), trees (cp is Node's).
import { constants } from 'node:fs';
import { invalidArgType, outOfRange } from '../../base/errors.ts';
import type { Operation } from '../../base/operation.ts';
import type { OperationOptions } from '../operation_options.ts';
import { checkedPath, type PathLike } from '../path_bytes.ts';
import { Permits } from '../permits.ts';
import { FileCopy } from './file_copy.ts';
import { attempt, callComposite } from './path_call.ts';

const { COPYFILE_EXCL, COPYFILE_FICLONE, COPYFILE_FICLONE_FORCE } = constants;
const COPY_MODE_MAX = COPYFILE_EXCL | COPYFILE_FICLONE | COPYFILE_FICLONE_FORCE;

const COPIES_MAX = 32;
const permits = new Permits(COPIES_MAX);

function checkedCopyMode(mode: unknown): number {
  if (mode === undefined || mode === null) return 0;
  if (typeof mode !== 'number') throw invalidArgType('mode', 'of type number', mode);
  if (!Number.isInteger(mode)) throw outOfRange('mode', 'an integer', mode);
  if (mode < 0 || mode > COPY_MODE_MAX) throw outOfRange('mode', '>= 0 && <= 7', mode);
  return mode;
}

/**
 * Copies a file, replacing `dest` unless `mode` has COPYFILE_EXCL. COPYFILE_FICLONE shares blocks
 * where the file system can, COPYFILE_FICLONE_FORCE fails where it cannot. A failed or cancelled
 * copy leaves no destination.
 */
export function copyFile(
  src: PathLike,
  dest: PathLike,
  mode?: number | null,
  options?: OperationOptions,
): Operation<void> {
  return attempt(() => {
    const source = checkedPath(src, 'src');
    const target = checkedPath(dest, 'dest');
    const checkedMode = checkedCopyMode(mode);
    return callComposite(
      (scope) => permits.with(scope, () => new FileCopy(scope, source, target, checkedMode).run()),
      options,
    );
  });
}
