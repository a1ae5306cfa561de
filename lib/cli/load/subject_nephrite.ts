// nephrite/fs as a subject: the library under test.
// Owner: the run; opens this thread's poller. Invariants: no wrapper around an operation; memory
// comes from the library's own pool, as its documentation advises for heavy use.
// Not here: node:fs/promises (subject_node.ts), why a backend was refused (doctor).
import { getSystemErrorName } from 'node:util';
import * as abi from '../../abi/layout.ts';
import * as fs from '../../fs.ts';
import { backend, configure } from '../../index.ts';
import { currentThread } from '../../io/current_thread.ts';
import { errorTextOf, troubleError } from '../cli_error.ts';
import type { BackendName } from '../stress/option_values.ts';
import type { FileSubject } from './subject.ts';

const ALIGN_BYTES = 4096;
const RING_OPERATIONS_MIN = 1024;

/**
 * Opens the poller with room for `depth` operations and returns the library as a subject.
 * @throws CliError when the backend that was asked for cannot run here
 */
export function createNephriteSubject(name: BackendName | null, depth: number): FileSubject {
  const chosen = openBackend(name, depth);
  const { doubles } = currentThread().memory;
  const isCounted = chosen.name !== 'node';
  return {
    name: 'nephrite',
    backend: chosen.name,
    why: reasonOf(chosen, name),
    allocate: (bytes) => fs.buffers.alloc(bytes, { align: ALIGN_BYTES }),
    open: (path, flags) => fs.open(path, flags),
    readFile: (path) => fs.readFile(path),
    writeFile: (path, data, options) => fs.writeFile(path, data, options),
    unlink: (path) => fs.unlink(path),
    stat: (path) => fs.stat(path),
    // The node backend makes none itself: Node's pool does, and nobody counts those.
    systemCalls: () => (isCounted ? doubles[abi.HEADER_SYSCALL_COUNT_INDEX] : null),
  };
}

function openBackend(name: BackendName | null, depth: number): ReturnType<typeof backend> {
  try {
    const operations = 2 ** Math.ceil(Math.log2(Math.max(RING_OPERATIONS_MIN, depth)));
    configure({ ...(name === null ? {} : { backend: name }), ring: { operations } });
    return backend();
  } catch (error) {
    throw troubleError('ERR_CLI_SETUP', errorTextOf(error), error);
  }
}

/** One sentence: asked for, best, or what stands in the way of a better one. */
function reasonOf(chosen: ReturnType<typeof backend>, name: BackendName | null): string {
  if (name !== null) return 'as --backend asks';
  if (process.env.NEPHRITE_BACKEND) return 'as NEPHRITE_BACKEND asks';
  const [refused] = chosen.refused;
  if (refused === undefined) return 'the best backend of this platform';
  const [what = ''] = refused.reason.split(':');
  const errno = refused.errno === undefined ? '' : `: ${getSystemErrorName(-refused.errno)}`;
  return `${refused.name} was refused (${what}${errno}); nephrite doctor says what to do`;
}
