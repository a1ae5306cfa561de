// The findings of `doctor` as text.
// Flow: findings -> [renderFindings] -> standard output
// Owner: nobody; a pure function. Invariants: the verdict comes first, steps to take come right
// behind what they are for.
// Not here: gathering (examine.ts).
import type { ResourceLimit } from '../host/limits.ts';
import { formatBytes, formatCount, trimNumber } from '../units.ts';
import { wrapText } from '../wrap_text.ts';
import type { Findings, RefusedFinding } from './examine.ts';

const WIDTH = 94;
/** Details in words; empty ones are left to --json, others keep their names. */
const DETAIL_LABELS: Readonly<Record<string, string>> = {
  name: '',
  operations: '',
  setupFlags: 'ring flags',
  features: 'kernel features',
  missingFileOperations: 'file operations that the kernel lacks',
  ringEntries: 'ring entries',
};

/** Renders the report, with a line break at the end. */
export function renderFindings(findings: Findings): string {
  const lines = [
    `nephrite ${findings.machine.nephrite} doctor`,
    '',
    verdict(findings),
    ...section(
      'not chosen',
      findings.library.alsoWorking.map((name) => `${name}: works here`),
    ),
    ...section('refused', findings.refused.flatMap(refusedLines)),
    ...section('native addon', addonLines(findings)),
    ...section('backend', detailLines(findings.library.details)),
    ...section('system', systemLines(findings)),
    ...section('limits', limitLines(findings)),
    ...section('warnings', findings.warnings),
  ];
  return `${lines.join('\n')}\n`;
}

function verdict({ library, bestBackend, isDegraded }: Findings): string {
  const asked = library.requested === null ? '' : ', as NEPHRITE_BACKEND asks';
  if (library.backend === null) {
    return `no backend runs: ${library.failure ?? 'unknown reason'}`;
  }
  if (!isDegraded) return `${library.backend}${asked}: the best backend of this platform`;
  return `${library.backend}${asked}: works, slower than ${bestBackend}`;
}

function refusedLines({ name, reason, remedies }: RefusedFinding): string[] {
  return [`${name}: ${reason}`, ...remedies.map((remedy) => `  to do: ${remedy}`)];
}

function addonLines({ library: { addon } }: Findings): string[] {
  const lines = addon.path === null ? ['none loaded'] : [`loaded ${addon.path}`];
  if (addon.path !== null) lines.push(`ABI version ${addon.abiVersion ?? 'unknown'}`);
  lines.push(`for ${addon.platform}-${addon.arch}, ${addon.libc}`);
  for (const { path, reason } of addon.path === null ? addon.attempts : []) {
    lines.push(`looked at ${path}: ${reason}`);
  }
  if (addon.remedy !== '') lines.push(`to do: ${addon.remedy}`);
  return lines;
}

function systemLines({ machine, sandbox }: Findings): string[] {
  const quota = machine.cpuQuota === null ? 'no quota' : `quota ${trimNumber(machine.cpuQuota)}`;
  const lines = [
    `kernel ${machine.kernel}, ${machine.platform}-${machine.arch}, ${machine.libc}`,
    `Node ${machine.node}`,
    `${machine.cpus} CPUs (${machine.cpuModel}), ${quota}, ${formatBytes(machine.memoryBytes)}`,
    sandbox.container === undefined
      ? 'not in a known container'
      : `container: ${sandbox.container}`,
  ];
  if (sandbox.seccomp !== undefined) lines.push(`seccomp: ${sandbox.seccomp}`);
  if (sandbox.ioUringDisabled !== undefined) {
    const meanings = ['allowed for everybody', 'for administrators and one group', 'off'];
    lines.push(
      `kernel.io_uring_disabled: ${sandbox.ioUringDisabled} ` +
        `(${meanings[sandbox.ioUringDisabled] ?? 'unknown'})`,
    );
  }
  if (sandbox.isSelinuxEnforcing) lines.push('SELinux: enforcing');
  return lines;
}

function limitLines({ limits }: Findings): string[] {
  return [
    `open files (ulimit -n): ${limitText(limits.openFiles, formatCount)}`,
    `locked memory (ulimit -l): ${limitText(limits.lockedMemoryBytes, formatBytes)}`,
    `processes (ulimit -u): ${limitText(limits.processes, formatCount)}`,
  ];
}

function limitText(limit: ResourceLimit | undefined, format: (value: number) => string): string {
  if (limit === undefined) return 'unknown';
  const side = (value: number | null): string => (value === null ? 'unlimited' : format(value));
  if (limit.soft === limit.hard) return side(limit.soft);
  return `${side(limit.soft)}, can be raised to ${side(limit.hard)}`;
}

function detailLines(details: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(details).flatMap(([name, value]) => {
    const label = DETAIL_LABELS[name] ?? name;
    return label === '' ? [] : [`${label}: ${detailText(value)}`];
  });
}

function detailText(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(detailText).join(', ');
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([name, inner]) => `${name} ${detailText(inner)}`)
      .join(', ');
  }
  return String(value);
}

/** Long lines go on below themselves, indented. */
function section(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const wrapped = lines.flatMap((line) => {
    const indent = /^ */.exec(line)?.[0] ?? '';
    const [first = '', ...rest] = wrapText(line.trimStart(), WIDTH - indent.length);
    return [`  ${indent}${first}`, ...rest.map((more) => `    ${indent}${more}`)];
  });
  return ['', `${title}:`, ...wrapped];
}
