// The examination: what the library chose, what it refused, and the surroundings, as plain data.
// Flow: library + /proc -> [examine] -> findings -> report.ts, JSON
// Owner: one call. Invariants: nothing here fails because something is missing: that is a finding.
// Not here: wording (report.ts), steps to take (remedies.ts).

import { type ProcessLimits, readProcessLimits } from '../host/limits.ts';
import { type MachineFacts, readMachine } from '../host/machine.ts';
import { readSandbox, type SandboxFacts } from '../host/sandbox.ts';
import { type LibraryFacts, readLibrary } from './library.ts';
import { memlockStep, remediesFor, type Surroundings } from './remedies.ts';

/** Below this, rings of a few workers do not fit beside one another. */
const LOCKED_MEMORY_BYTES_LOW = 1024 ** 2;
/** What the best backend of a platform is called. */
const BEST_BACKENDS: Readonly<Record<string, string>> = {
  linux: 'io_uring',
  darwin: 'kqueue',
  freebsd: 'kqueue',
  win32: 'iocp',
};

/** A refused candidate with what to do about it. */
export interface RefusedFinding {
  readonly name: string;
  readonly reason: string;
  readonly errno: string | null;
  readonly remedies: readonly string[];
}

/** Everything `doctor` found. */
export interface Findings {
  readonly machine: MachineFacts;
  readonly library: LibraryFacts;
  readonly refused: readonly RefusedFinding[];
  readonly limits: ProcessLimits;
  readonly sandbox: SandboxFacts;
  readonly bestBackend: string;
  /** True when a better backend exists on this platform than the one that runs. */
  readonly isDegraded: boolean;
  /** What is not wrong yet, but may become so. */
  readonly warnings: readonly string[];
}

export function examine(): Findings {
  const machine = readMachine();
  const limits = readProcessLimits();
  const sandbox = readSandbox();
  const library = readLibrary();
  const around = { sandbox, limits, kernel: machine.kernel, platform: machine.platform };
  const bestBackend = BEST_BACKENDS[machine.platform] ?? 'node';
  return {
    machine,
    library,
    refused: library.refused.map((refusal) => refusedFinding(refusal, library, around)),
    limits,
    sandbox,
    bestBackend,
    isDegraded: library.backend !== bestBackend,
    warnings: findWarnings(machine, limits, sandbox, library),
  };
}

/** Without an addon every native backend is refused alike: that is told once, with the addon. */
function refusedFinding(
  refusal: LibraryFacts['refused'][number],
  library: LibraryFacts,
  around: Surroundings,
): RefusedFinding {
  const { name, errno } = refusal;
  if (library.addon.path === null) {
    return { name, reason: 'no native addon (see there)', errno: null, remedies: [] };
  }
  const remedies = stepsFor(refusal, around);
  return { name, reason: refusal.reason, errno: errno ?? null, remedies };
}

/** Steps that the facts speak for; without one, what the library says in general. */
function stepsFor(refusal: LibraryFacts['refused'][number], around: Surroundings): string[] {
  const steps = remediesFor(refusal, around);
  return steps.length > 0 || refusal.remedy === undefined ? steps : [refusal.remedy];
}

function findWarnings(
  machine: MachineFacts,
  limits: ProcessLimits,
  sandbox: SandboxFacts,
  library: LibraryFacts,
): string[] {
  const warnings: string[] = [];
  const locked = limits.lockedMemoryBytes?.soft ?? null;
  const isTight = locked !== null && locked < LOCKED_MEMORY_BYTES_LOW && !sandbox.isRoot;
  if (isTight && library.backend === 'io_uring') {
    warnings.push(`few workers will get a ring: ${memlockStep(limits)}`);
  }
  const openFiles = limits.openFiles?.soft ?? null;
  if (openFiles !== null && openFiles < 1024) {
    warnings.push(`only ${openFiles} files can be open at once: raise \`ulimit -n\``);
  }
  if (machine.cpuQuota !== null && machine.cpuQuota < 1) {
    warnings.push(
      `the control group allows ${machine.cpuQuota.toFixed(2)} CPUs: expect pauses when it is used up`,
    );
  }
  return warnings;
}
