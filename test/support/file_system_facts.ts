// File system facts: what this machine offers to tests that need another user or another device.
// Owner: none. Invariants: the process's user is back before asOtherUser() settles; what is missing
// is answered with a reason or null, for a skip that says so.
// Not here: mounting anything.
import { accessSync, constants, statSync } from 'node:fs';

const OTHER_UID = 65_534; // nobody

/** Runs `body` with the effective user of nobody. Gives null, or why that is not possible. */
export async function asOtherUser(body: () => Promise<void>): Promise<string | null> {
  const { geteuid, seteuid } = process;
  if (geteuid === undefined || seteuid === undefined) return 'no users on this platform';
  if (geteuid() !== 0) return 'only root can act as another user';
  seteuid(OTHER_UID);
  try {
    await body();
  } finally {
    seteuid(0);
  }
  return null;
}

/** A writable folder on another device than `folder`, or null. */
export function otherDevice(folder: string): string | null {
  const device = statSync(folder).dev;
  for (const candidate of ['/dev/shm', '/run/lock', '/var/tmp']) {
    try {
      accessSync(candidate, constants.W_OK);
      if (statSync(candidate).dev !== device) return candidate;
    } catch {
      // Not on this machine.
    }
  }
  return null;
}
