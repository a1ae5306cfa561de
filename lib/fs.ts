// nephrite/fs: public names only. Named after node:fs/promises, so that moving over is an import.
export { FileHandle } from './io/fs/file_handle.ts';
export { readMany, statMany } from './io/fs/many.ts';
export { open } from './io/fs/open.ts';
export { readFile } from './io/fs/read_file.ts';
export { appendFile, writeFile } from './io/fs/write_file.ts';
