// The folder of the repository, for tests that run its scripts or read its files.
// Not here: temporary folders; a test makes its own with mkdtemp and removes it.
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
