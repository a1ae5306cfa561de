// Reads the JSON that fio prints (`--output-format=json+`, 3.x) for one job.
// Owner: fio.ts. Invariants: unknown or missing fields are an error, never a silent zero.
// Not here: running fio (fio.ts).
import { troubleError } from '../cli_error.ts';

/** Reads or writes of a job. */
export interface FioDirection {
  readonly operations: number;
  readonly bytes: number;
  /** Latency bins: nanoseconds and how often. */
  readonly latencyNsCounts: ReadonlyArray<readonly [latencyNs: number, count: number]>;
}

/** Figures of one fio job. */
export interface FioJob {
  readonly read: FioDirection;
  readonly write: FioDirection;
  readonly elapsedMs: number;
  /** User and system time of the job's thread; kernel workers are not in it. */
  readonly cpuUs: number;
  readonly contextSwitches: number;
}

type Json = Readonly<Record<string, unknown>>;

/** Parses fio's output; text before the first brace (warnings) is skipped. */
export function readFioJob(outputText: string): FioJob {
  const start = outputText.indexOf('{');
  let output: unknown;
  try {
    output = JSON.parse(outputText.slice(Math.max(0, start)));
  } catch (error) {
    throw troubleError('ERR_CLI_FIO_FAILED', 'fio printed no JSON', error);
  }
  const jobs = field(output, 'jobs');
  const job: unknown = Array.isArray(jobs) ? jobs[0] : undefined;
  const elapsedMs = number(job, 'job_runtime');
  const cpuPercent = number(job, 'usr_cpu') + number(job, 'sys_cpu');
  return {
    read: readDirection(field(job, 'read')),
    write: readDirection(field(job, 'write')),
    elapsedMs,
    cpuUs: (cpuPercent / 100) * elapsedMs * 1e3,
    contextSwitches: number(job, 'ctx'),
  };
}

function readDirection(direction: unknown): FioDirection {
  const latency = field(direction, 'lat_ns');
  const bins = isObject(latency) && isObject(latency.bins) ? latency.bins : {};
  return {
    operations: number(direction, 'total_ios'),
    bytes: number(direction, 'io_bytes'),
    latencyNsCounts: Object.entries(bins).map(([ns, count]) => [Number(ns), Number(count)]),
  };
}

function field(from: unknown, name: string): unknown {
  if (isObject(from) && name in from) return from[name];
  throw troubleError('ERR_CLI_FIO_FAILED', `fio's JSON has no '${name}'; is it version 3?`);
}

function number(from: unknown, name: string): number {
  const value = field(from, name);
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw troubleError('ERR_CLI_FIO_FAILED', `fio's JSON has no number '${name}'`);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}
