// What the library says of itself here: the backend it opened, what it refused, the addon it found.
// Flow: backend selection + addon loading -> [readLibrary] -> examine.ts
// Owner: one call; it opens this thread's poller, as a program's first operation would.
// Invariants: never throws: a backend that was asked for by name and cannot run is a finding.
// Not here: the surroundings (host/), what to do (remedies.ts).
import { getSystemErrorName } from 'node:util';
import type { NativeLoadAttempt } from '../../addon/load.ts';
import { DEFAULT_BACKEND_OPTIONS } from '../../backend/backend.ts';
import { loadAddon, openNativeBackend } from '../../backend/native_backend.ts';
import { BACKEND_NAMES, type RefusedBackend } from '../../backend/select.ts';
import { type BackendInfo, backend } from '../../io/current_thread.ts';
import { errorTextOf } from '../cli_error.ts';
import { FEATURES, FILE_OPCODES, namesOfBits, OPCODES, SETUP_FLAGS } from './io_uring_names.ts';
import type { Refusal } from './remedies.ts';

/** The native addon: loaded, or where it was looked for. */
export interface AddonFacts {
  readonly path: string | null;
  readonly abiVersion: number | null;
  readonly platform: string;
  readonly arch: string;
  readonly libc: string;
  readonly attempts: readonly NativeLoadAttempt[];
  readonly remedy: string;
}

/** The library's own view. */
export interface LibraryFacts {
  /** The backend that was opened; null when a named one cannot run. */
  readonly backend: string | null;
  readonly failure: string | null;
  /** NEPHRITE_BACKEND, or null. */
  readonly requested: string | null;
  readonly refused: ReadonlyArray<Refusal & { readonly remedy?: string }>;
  /** Backends that would work here and were not chosen, best first. */
  readonly alsoWorking: readonly string[];
  /** Kernel flags, features, operations and ring sizes of the backend. */
  readonly details: Readonly<Record<string, unknown>>;
  readonly addon: AddonFacts;
}

export function readLibrary(): LibraryFacts {
  const requested = process.env.NEPHRITE_BACKEND || null;
  const addon = readAddon();
  let chosen: BackendInfo | null = null;
  let failure: string | null = null;
  try {
    chosen = backend();
  } catch (error) {
    failure = errorTextOf(error);
  }
  const refused = (chosen?.refused ?? []).map(toRefusal);
  const known = [chosen?.name, ...refused.map(({ name }) => name)];
  const alsoWorking: string[] = [];
  for (const name of BACKEND_NAMES) {
    if (known.includes(name)) continue;
    const refusal = name === 'node' ? null : probe(name);
    if (refusal === null) alsoWorking.push(name);
    else refused.push(refusal);
  }
  return {
    backend: chosen?.name ?? null,
    failure,
    requested,
    refused,
    alsoWorking,
    details: readableDetails(chosen?.details ?? {}),
    addon,
  };
}

/** Opens a native backend and closes it again; returns why it cannot run, or null. */
function probe(name: string): Refusal | null {
  const opened = openNativeBackend(name, { ...DEFAULT_BACKEND_OPTIONS, onWake: () => undefined });
  if ('reason' in opened) return toRefusal({ ...opened, remedy: '' });
  opened.close();
  return null;
}

function readAddon(): AddonFacts {
  const load = loadAddon();
  return {
    path: load.path ?? null,
    abiVersion: load.addon?.abiVersion ?? null,
    platform: load.platform,
    arch: load.arch,
    libc: load.libc,
    attempts: load.attempts,
    remedy: load.remedy,
  };
}

function toRefusal(refused: RefusedBackend): Refusal & { readonly remedy?: string } {
  const errno = refused.errno === undefined ? undefined : getSystemErrorName(-refused.errno);
  return {
    name: refused.name,
    reason: refused.reason,
    ...(errno === undefined ? {} : { errno }),
    ...(refused.remedy === '' ? {} : { remedy: refused.remedy }),
  };
}

/** Bit masks become names; everything else stays as the backend gives it. */
function readableDetails(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { kernelFlags, kernelFeatures, kernelOpcodesLow, kernelOpcodesHigh, ...rest } = details;
  const readable: Record<string, unknown> = { ...rest };
  if (details.name !== 'io_uring') return readable;
  if (typeof kernelFlags === 'number') readable.setupFlags = namesOfBits(kernelFlags, SETUP_FLAGS);
  if (typeof kernelFeatures === 'number') {
    readable.features = namesOfBits(kernelFeatures, FEATURES);
  }
  if (typeof kernelOpcodesLow === 'number' && typeof kernelOpcodesHigh === 'number') {
    const opcodes = [
      ...namesOfBits(kernelOpcodesLow, OPCODES),
      ...namesOfBits(kernelOpcodesHigh, OPCODES, 32),
    ];
    readable.operations = opcodes;
    readable.missingFileOperations = FILE_OPCODES.filter((name) => !opcodes.includes(name));
  }
  return readable;
}
