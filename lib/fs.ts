// nephrite/fs: public names only. Named after node:fs/promises, so that moving over is an import.
export { FileHandle } from './io/fs/file_handle.ts';
export { open } from './io/fs/open.ts';
