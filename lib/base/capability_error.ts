// CapabilityError: somebody asked for more than he was granted.
// Owner: none. Invariants: says what was asked for (`given`) and what is granted (`allowed`); a
// path is shown as the caller wrote it, never as it was resolved.
// Not here: what is granted to whom (bus/capabilities.ts), files (io/authority.ts).
import { NephriteError } from './errors.ts';

/** `code` is ERR_CAPABILITY_DENIED. */
export class CapabilityError extends NephriteError {
  static override readonly name: string = 'CapabilityError';
  /** The capability that is missing: 'spawn', 'files', 'connect', ... */
  readonly capability: string;
  /** What was asked for: a path, an address, or true for a capability without detail. */
  readonly given: unknown;
  /** What is granted: roots, addresses, or false. */
  readonly allowed: unknown;
  /** As in system errors, when it is about a file. */
  syscall?: string;
  path?: string;
  dest?: string;

  constructor(
    capability: string,
    given: unknown,
    allowed: unknown,
    message: string,
    options?: ErrorOptions,
  ) {
    super('ERR_CAPABILITY_DENIED', message, options);
    this.capability = capability;
    this.given = given;
    this.allowed = allowed;
    // As every error of the library shows itself.
    this.name = 'CapabilityError';
  }
}
