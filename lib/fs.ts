// nephrite/fs: public names only. Named after node:fs/promises, so that moving over is an import,
// `import * as fs` and `import fs` alike. Owner: none; no logic.
// Not here: the list (fs_names.ts), how anything is done (io/fs/).
import * as names from './fs_names.ts';

export * from './fs_names.ts';
// biome-ignore lint/style/noDefaultExport: node:fs/promises has one.
export default names;
