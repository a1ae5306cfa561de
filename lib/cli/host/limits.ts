// Resource limits of this process, as /proc/self/limits gives them.
// Owner: nobody; reads at the moment of the call. Invariants: never throws; null means unlimited,
// undefined means that the system does not say.
// Not here: limits of the control group (cgroup.ts), what to do about them (doctor/remedies.ts).
import { readFileSync } from 'node:fs';

/** A soft and a hard limit. */
export interface ResourceLimit {
  readonly soft: number | null;
  readonly hard: number | null;
}

/** The limits that file and ring operations meet. */
export interface ProcessLimits {
  readonly openFiles: ResourceLimit | undefined;
  readonly lockedMemoryBytes: ResourceLimit | undefined;
  readonly processes: ResourceLimit | undefined;
}

export function readProcessLimits(path = '/proc/self/limits'): ProcessLimits {
  let text = '';
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    // Not Linux: the limits stay undefined.
  }
  return {
    openFiles: findLimit(text, 'Max open files'),
    lockedMemoryBytes: findLimit(text, 'Max locked memory'),
    processes: findLimit(text, 'Max processes'),
  };
}

function findLimit(text: string, name: string): ResourceLimit | undefined {
  const line = text.split('\n').find((candidate) => candidate.startsWith(name));
  const match = line?.slice(name.length).match(/^\s+(\S+)\s+(\S+)/);
  if (match === undefined || match === null) return undefined;
  return { soft: limitOf(match[1]), hard: limitOf(match[2]) };
}

function limitOf(text: string | undefined): number | null {
  return text === undefined || text === 'unlimited' ? null : Number(text);
}
