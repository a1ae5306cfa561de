// Simulation: a simulated backend with its driver, for tests that look into it.
// Owner: one test; `using` closes it. Invariants: the folder of inFolder() is removed afterwards.
// Not here: the suite that every backend passes (backend_cases.ts runs that over simulated too).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createSimulatedBackend,
  type SimulatedBackend,
  type SimulatedBackendOptions,
} from '../../lib/backend/simulated/simulated_backend.ts';
import type { VirtualClock } from '../../lib/backend/simulated/virtual_clock.ts';
import { type CreateBackend, RingDriver } from './ring_driver.ts';
import { RingOperations } from './ring_operations.ts';

export type SimulationOptions = Pick<
  SimulatedBackendOptions,
  'seed' | 'faults' | 'clock' | 'replay'
>;

export class Simulation implements Disposable {
  readonly backend: SimulatedBackend;
  readonly driver: RingDriver;
  readonly ring: RingOperations;

  constructor(inner: CreateBackend, options: SimulationOptions) {
    const opened: SimulatedBackend[] = [];
    this.driver = new RingDriver((base) => {
      const backend = createSimulatedBackend(inner, { ...base, ...options });
      opened.push(backend);
      return backend;
    });
    [this.backend] = opened;
    this.ring = new RingOperations(this.driver);
  }

  get clock(): VirtualClock {
    return this.backend.clock;
  }

  [Symbol.dispose](): void {
    this.driver[Symbol.dispose]();
  }
}

export async function inFolder<T>(body: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'nephrite-simulated-'));
  try {
    return await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
