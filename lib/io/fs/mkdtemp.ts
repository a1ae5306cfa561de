// mkdtemp. Owner: none. Invariants: never takes a name that exists; the name cannot be guessed, or
// somebody could make it before us. Not here: other directories (mkdir.ts).
import * as abi from '../../abi/layout.ts';
import { errnoOf } from '../../base/errno.ts';
import { type SystemError, systemError } from '../../base/errors.ts';
import type { Operation } from '../../base/operation.ts';
import type { CompositeScope } from '../composite.ts';
import { checkedPath, type PathLike } from '../path_bytes.ts';
import { attempt, callComposite } from './path_call.ts';
import {
  checkedPathOptions,
  encodePath,
  latin1Path,
  type PathEncoding,
  type PathEncodingOptions,
} from './path_encoding.ts';

const SUFFIX_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const SUFFIX_LENGTH = 6;
// 62^6 names: a hundred in a row that are taken do not occur.
const ATTEMPTS_MAX = 100;

function randomSuffix(): string {
  const values = crypto.getRandomValues(new Uint32Array(SUFFIX_LENGTH));
  return Array.from(values, (value) => SUFFIX_CHARACTERS[value % SUFFIX_CHARACTERS.length]).join(
    '',
  );
}

async function makeTemporary(
  scope: CompositeScope,
  prefix: string | Buffer,
  encoding: PathEncoding,
): Promise<string | Buffer> {
  const start = Buffer.from(latin1Path(prefix), 'latin1');
  for (let attemptCount = 1; ; attemptCount++) {
    const path = Buffer.concat([start, Buffer.from(randomSuffix())]);
    try {
      const request = { opcode: abi.OP_MKDIR, syscall: 'mkdtemp', path, argument1: 0o700 };
      await scope.request(request);
      return encodePath(path, encoding);
    } catch (error) {
      if ((error as SystemError).code !== 'EEXIST' || attemptCount === ATTEMPTS_MAX) throw error;
    }
  }
}

type BufferOption = 'buffer' | (PathEncodingOptions & { encoding: 'buffer' });
type StringOption = BufferEncoding | (PathEncodingOptions & { encoding?: BufferEncoding | null });

/** Makes a directory named `prefix` and six random characters, for its owner only (0o700). */
export function mkdtemp(prefix: PathLike, options: BufferOption): Operation<Buffer>;
export function mkdtemp(prefix: PathLike, options?: StringOption | null): Operation<string>;
export function mkdtemp(
  prefix: PathLike,
  options?: PathEncodingOptions | PathEncoding | null,
): Operation<string | Buffer>;
export function mkdtemp(
  prefix: PathLike,
  options?: PathEncodingOptions | PathEncoding | null,
): Operation<string | Buffer> {
  return attempt(() => {
    const given = checkedPathOptions(options);
    const checked = checkedPath(prefix, 'prefix');
    // As mkdtemp(3) has it: a directory with nothing but a random name is a mistake.
    if (checked.length === 0) throw systemError(errnoOf('EINVAL'), 'mkdtemp', 'XXXXXX');
    return callComposite((scope) => makeTemporary(scope, checked, given.encoding), given);
  });
}
