// Lifecycle matrix: every family of operations in every state of its life, on each backend,
// comes to one of the allowed outcomes; nothing hangs and no descriptor is lost.
// Method: programs/lifecycle.ts fills the cells; this file says what they may hold. Cells not named
// in EXCEPT follow their state's rule in ALLOWED.
// Not here: exact races (test/integration/races.test.ts), workers in number (workers_end.test.ts).
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ChildLab } from '../support/child.ts';
import { describeChildBackends } from '../support/child_backends.ts';

const lab = new ChildLab('lifecycle');
afterAll(() => lab.remove());

type Cells = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** State -> what each family may come to. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  'left alone': ['value'],
  // Some end before they can be stopped; a file is then as if nobody had asked.
  'cancelled twice in the turn it started': ['ABORT_ERR', 'value'],
  // It waits for a slot and goes on when there is one; those that filled the ring got their data.
  'ring full': ['pending, value, reads value'],
  'ring full, cancelled': ['ABORT_ERR'],
  closed: ['EBADF'],
  running: ['ABORT_ERR'],
  closing: ['value'],
  'worker terminated': ['exit code 1'],
  'poller closed': ['ERR_POLLER_CLOSED'],
};

const EXCEPT: Cells = {
  // Closing again is no error.
  closed: { close: 'value' },
  running: { close: 'value', 'write while its handle closes': 'ECANCELED or value' },
  // Reads that a close has stopped, those that waited for a slot among them.
  closing: { reads: 'ECANCELED' },
  // A list of outcomes, each of them a failure.
  'poller closed': { 'fs.statMany': 'value' },
};

function allowed(state: string, family: string): readonly string[] {
  return EXCEPT[state]?.[family]?.split(' or ') ?? ALLOWED[state] ?? [];
}

/** Every cell that holds what it must not, in words. */
function wrongCells(cells: Cells): string[] {
  return Object.entries(cells).flatMap(([state, families]) =>
    Object.entries(families)
      .filter(([family, found]) => !allowed(state, family).includes(found))
      .map(([family, found]) => `${family}, ${state}: ${found}`),
  );
}

describeChildBackends('lifecycle', (backend) => {
  let cells: Cells;
  let lost: unknown;
  beforeAll(async () => {
    const report = await lab.json('lifecycle', { backend, timeoutMs: 20_000 });
    expect(report.backend).toBe(backend);
    cells = report.cells as Cells;
    lost = report.lost;
  });

  it('every cell holds an allowed outcome', () => {
    expect(wrongCells(cells)).toEqual([]);
  });

  it('every state was tried with every family', () => {
    expect(Object.keys(cells).sort()).toEqual(Object.keys(ALLOWED).sort());
    for (const state of ['left alone', 'ring full', 'ring full, cancelled', 'poller closed']) {
      expect(Object.keys(cells[state] ?? {}).length).toBeGreaterThan(30);
    }
    expect(Object.keys(cells.closed ?? {}).length).toBeGreaterThan(12);
    // node:fs cannot take back what has started.
    const runningCount = Object.keys(cells.running ?? {}).length;
    if (backend === 'node') expect(runningCount).toBe(0);
    else expect(runningCount).toBeGreaterThan(8);
  });

  it('no descriptor was lost', () => {
    expect(lost).toBe(0);
  });
});
