// The folder a run works in: made at the start, removed however the run ends.
// Owner: the run. Invariants: nothing outside this folder is written or removed; removal also
// happens synchronously at process exit, so that no way out of the process leaves files behind
// (except SIGKILL).
// Not here: signals (interrupt.ts).
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorTextOf, troubleError } from '../cli_error.ts';

/** A temporary folder with its removal. */
export interface TempFolder {
  readonly path: string;
  /** Removes the folder with all it holds; also safe to call twice. */
  remove(): Promise<void>;
}

/** Makes `<parent>/nephrite-stress-XXXXXX`. */
export async function makeTempFolder(parent: string): Promise<TempFolder> {
  let path: string;
  try {
    path = await mkdtemp(join(parent, 'nephrite-stress-'));
  } catch (error) {
    throw troubleError('ERR_CLI_SETUP', `--dir ${parent}: ${errorTextOf(error)}`, error);
  }
  const removeAtExit = (): void => rmSync(path, { recursive: true, force: true });
  process.once('exit', removeAtExit);
  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true });
      process.off('exit', removeAtExit);
    },
  };
}
