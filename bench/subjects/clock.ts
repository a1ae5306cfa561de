// Clock reads: how long one reading takes, and that readings never go back.
// The master clock moves when a poller is entered or when it is refreshed, so between two of those
// it stands still: its cost is what is measured here, its staleness is a matter of the runtime's
// tests. It is refreshed between the parts of a run, so that readings do move.
import { performance } from 'node:perf_hooks';
import { MasterClock } from '../../lib/time/master_clock.ts';
import { type Message, textField, type WorkRequest } from '../harness/protocol.ts';

const PARTS = 16;

interface Clock {
  read(): number;
  refresh(): void;
}

const nothing = (): void => undefined;

function clockNamed(name: string): Clock | undefined {
  switch (name) {
    case 'nephrite': {
      const clock = new MasterClock();
      return { read: () => clock.nowNs(), refresh: () => clock.refresh() };
    }
    case 'performance.now':
      return { read: () => performance.now(), refresh: nothing };
    case 'process.hrtime':
      return { read: () => Number(process.hrtime.bigint()), refresh: nothing };
    case 'Date.now':
      return { read: () => Date.now(), refresh: nothing };
    default:
      return undefined;
  }
}

export function runClock(request: WorkRequest, fields: Message): [string, string | number][] {
  const name = textField(fields, 'clock');
  const clock = clockNamed(name);
  if (clock === undefined) throw new Error(`no clock '${name}'`);
  let backward = 0;
  let moved = 0;
  const beganMs = performance.now();
  let last = clock.read();
  for (let part = 0; part < PARTS; part++) {
    clock.refresh();
    for (let i = 0; i < request.ops; i += PARTS) {
      const now = clock.read();
      if (now < last) backward++;
      else if (now > last) moved++;
      last = now;
    }
  }
  const elapsedNs = Math.round((performance.now() - beganMs) * 1e6);
  if (moved === 0 && name === 'nephrite') throw new Error(`clock '${name}' stood still`);
  return [
    ['ops', request.ops],
    ['elapsedNs', elapsedNs],
    ['checksum', backward],
    ['samples', ''],
  ];
}
