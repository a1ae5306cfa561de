// The line protocol between the harness and a subject process: `verb key=value ...`, values
// percent-encoded, one request and one reply at a time. C programs parse it too (native/peer.c),
// which is why it is not JSON.
// A run takes all of its input from one WorkRequest; keys a subject does not need it ignores.

export type Workload =
  | 'read'
  | 'write'
  | 'smallFiles'
  | 'stat'
  | 'fairness'
  | 'memory'
  | 'clock'
  | 'timers'
  | 'tasks'
  | 'tasksRead';

export interface WorkRequest {
  workload: Workload;
  /** The data file, or the folder of small files. */
  path: string;
  ops: number;
  /** Operations in flight. */
  depth: number;
  blockBytes: number;
  /** Blocks in the data file, or files in the folder. */
  blocks: number;
  seed: number;
  /** Stamps what a write run writes: the harness must find these bytes, no older ones. */
  runSeed: number;
  /** Every stride-th operation is timed. */
  stride: number;
  sequential: boolean;
  direct: boolean;
  /** Checksum every byte instead of the first and the last word of each block. */
  verify: boolean;
  /** Bounded length of workloads that run for a time rather than a count. */
  durationMs: number;
}

export type Message = ReadonlyMap<string, string>;

export interface Reply {
  kind: 'ok' | 'error';
  fields: Message;
}

type Value = string | number | boolean;

export function encodeLine(verb: string, fields: Iterable<readonly [string, Value]>): string {
  let line = verb;
  for (const [key, value] of fields) {
    const text = typeof value === 'boolean' ? (value ? '1' : '0') : String(value);
    line += ` ${key}=${encodeURIComponent(text).replaceAll('%2C', ',')}`;
  }
  return `${line}\n`;
}

export function parseLine(line: string): { verb: string; fields: Message } {
  const [verb = '', ...pairs] = line.trim().split(' ');
  const fields = new Map<string, string>();
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    if (equals > 0) fields.set(pair.slice(0, equals), decodeURIComponent(pair.slice(equals + 1)));
  }
  return { verb, fields };
}

export function encodeWork(request: WorkRequest): string {
  return encodeLine('run', Object.entries(request) as [string, Value][]);
}

export function decodeWork(fields: Message): WorkRequest {
  return {
    workload: textField(fields, 'workload') as Workload,
    path: textField(fields, 'path'),
    ops: numberField(fields, 'ops'),
    depth: numberField(fields, 'depth'),
    blockBytes: numberField(fields, 'blockBytes'),
    blocks: numberField(fields, 'blocks'),
    seed: numberField(fields, 'seed'),
    runSeed: numberField(fields, 'runSeed'),
    stride: numberField(fields, 'stride'),
    sequential: numberField(fields, 'sequential') !== 0,
    direct: numberField(fields, 'direct') !== 0,
    verify: numberField(fields, 'verify') !== 0,
    durationMs: numberField(fields, 'durationMs'),
  };
}

export function textField(fields: Message, key: string): string {
  const value = fields.get(key);
  if (value === undefined) throw new Error(`protocol: field '${key}' is missing`);
  return value;
}

export function numberField(fields: Message, key: string): number {
  const value = Number(textField(fields, key));
  if (!Number.isFinite(value)) throw new Error(`protocol: field '${key}' is not a number`);
  return value;
}
