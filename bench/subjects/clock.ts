// Clock reads: how long one reading takes, and that readings never go back.
// The master clock moves when a poller is entered, so between two enters it stands still: its cost
// is what is measured here, its staleness is a matter of the runtime's tests.
import { performance } from 'node:perf_hooks';
import { type Message, textField, type WorkRequest } from '../harness/protocol.ts';

export type ReadClock = () => number;

const NODE_CLOCKS: Readonly<Record<string, ReadClock>> = {
  'performance.now': () => performance.now(),
  'process.hrtime': () => Number(process.hrtime.bigint()),
  'Date.now': () => Date.now(),
};

export function runClock(
  request: WorkRequest,
  fields: Message,
  masterClock: ReadClock | undefined,
): [string, string | number][] {
  const name = textField(fields, 'clock');
  const read = name === 'nephrite' ? masterClock : NODE_CLOCKS[name];
  if (read === undefined) throw new Error(`clock '${name}' is not reachable from the entry points`);
  let backward = 0;
  let last = read();
  const beganMs = performance.now();
  for (let i = 0; i < request.ops; i++) {
    const now = read();
    if (now < last) backward++;
    last = now;
  }
  const elapsedNs = Math.round((performance.now() - beganMs) * 1e6);
  return [
    ['ops', request.ops],
    ['elapsedNs', elapsedNs],
    ['checksum', backward],
    ['samples', ''],
  ];
}
