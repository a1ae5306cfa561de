// The names of nephrite/fs, as fs.ts exports them one by one and together.
// Owner: none; no logic. Not here: how anything is done (io/fs/).
export { chmod, chown, lchown, lutimes, truncate, utimes } from './io/fs/attributes.ts';
export { type AllocOptions, buffers } from './io/fs/buffers_api.ts';
export { copyFile } from './io/fs/copy_file.ts';
export {
  constants,
  cp,
  glob,
  lchmod,
  mkdtempDisposable,
  opendir,
  statfs,
  watch,
} from './io/fs/delegated.ts';
export { FileHandle } from './io/fs/file_handle.ts';
export { link, readlink, realpath, symlink } from './io/fs/links.ts';
export { readMany, statMany } from './io/fs/many.ts';
export { type MkdirOptions, mkdir, type RmdirOptions, rmdir } from './io/fs/mkdir.ts';
export { mkdtemp } from './io/fs/mkdtemp.ts';
export { access, rename, unlink } from './io/fs/names.ts';
export { open } from './io/fs/open.ts';
export { type ReaddirOperation, type ReaddirOptions, readdir } from './io/fs/readdir.ts';
export { rm } from './io/fs/rm.ts';
export type { RmOptions } from './io/fs/rm_arguments.ts';
export { lstat, type StatOptions, stat } from './io/fs/stat.ts';
export { appendFile, readFile, writeFile } from './io/fs/whole_file.ts';
