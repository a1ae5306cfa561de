// Builds dist/: one bundled file per public entry, chunks with what they share, declarations, and
// two that share nothing with the library: the command line and the lint plugin.
// The list of entries is `exports` of package.json: "./dist/x.js" is built from lib/x.ts. A new entry
// is added there and nowhere else, once its file exists.
// Invariants: state that must exist once per thread (the poller) lives in the shared chunk, so
// `nephrite` and `nephrite/fs` see the same one: esbuild splitting does that, never turn it off.
// Packages stay external except development ones (the histogram of the command line), which are
// bundled. dist/ is never missing and never half of one build: chunks have
// hashed names, so the new ones are put beside the old before an entry that names them.
// Not here: native code (scripts/build_native.js).
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { builtinImports } from './builtin_imports.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const packageJson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const target = join(root, 'dist');
const staging = join(root, 'out', `dist-${process.pid}`);

mkdirSync(staging, { recursive: true });
process.once('exit', () => rmSync(staging, { recursive: true, force: true }));

/** Entries that are loaded without the library. */
const APART = ['eslint_plugin'];
const entries = publicEntries();
const library = entries.filter((name) => !APART.includes(name));
const inputs = [
  ...(await bundle(sourcesOf(library), 'shared-[hash]')),
  ...(await bundle({ cli: 'lib/cli/main.ts' }, 'cli-[hash]')),
];
for (const name of APART) inputs.push(...(await bundle(sourcesOf([name]), `${name}-[hash]`)));
writeNotices(inputs);
emitTypes();
publish();

function publicEntries() {
  /** @type {(string | { default: string })[]} */
  const targets = Object.values(packageJson.exports);
  return targets.flatMap((one) => {
    const file = typeof one === 'string' ? one : one.default;
    return /^\.\/dist\/(\w+)\.js$/.exec(file)?.[1] ?? [];
  });
}

/**
 * @param {string[]} names
 * @returns {Record<string, string>}
 */
function sourcesOf(names) {
  return Object.fromEntries(names.map((name) => [name, `lib/${name}.ts`]));
}

/** Moves what was built over dist/: what entries name first, the entries last; then tidies up. */
function publish() {
  const files = filesBelow(staging);
  const isEntry = (/** @type {string} */ name) => [...entries, 'cli'].includes(name.slice(0, -3));
  for (const name of [...files.filter((one) => !isEntry(one)), ...files.filter(isEntry)]) {
    mkdirSync(dirname(join(target, name)), { recursive: true });
    renameSync(join(staging, name), join(target, name));
  }
  const current = new Set(files);
  for (const name of filesBelow(target)) {
    if (!current.has(name)) rmSync(join(target, name), { force: true });
  }
}

/** @param {string} folder */
function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

/**
 * Returns the paths of everything that went in.
 * @param {Record<string, string>} entryPoints
 * @param {string} chunkNames
 */
async function bundle(entryPoints, chunkNames) {
  const { metafile } = await build({
    metafile: true,
    absWorkingDir: root,
    entryPoints,
    outdir: staging,
    chunkNames,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: Object.keys(packageJson.dependencies),
    plugins: [builtinImports],
    // Compiling is most of what importing costs (50 ns a byte here), and the budget is 15 ms: short
    // names save 4 ms of 19. The maps lead to the sources (node --enable-source-maps); the classes
    // that users meet name themselves.
    minify: true,
    lineLimit: 160,
    legalComments: 'none',
    sourcemap: 'linked',
    sourcesContent: false,
    logLevel: 'warning',
  });
  return Object.keys(metafile.inputs);
}

/**
 * Bundled packages go with their licences.
 * @param {string[]} inputs
 */
function writeNotices(inputs) {
  const folders = inputs
    .map((input) => /^(node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1])
    .filter((folder) => folder !== undefined);
  const notices = [...new Set(folders)].sort().map((folder) => {
    const { name, version, license } = JSON.parse(
      readFileSync(join(root, folder, 'package.json'), 'utf8'),
    );
    const file = readdirSync(join(root, folder)).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file === undefined ? '' : readFileSync(join(root, folder, file), 'utf8');
    return `${name} ${version} (${license})\n\n${text}`;
  });
  writeFileSync(join(staging, 'THIRD-PARTY-NOTICES.txt'), notices.join('\n-----\n\n'));
}

function emitTypes() {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const project = join(staging, 'tsconfig.json');
  const settings = {
    extends: join(root, 'tsconfig.types.json'),
    files: Object.values(sourcesOf(entries)).map((path) => join(root, path)),
  };
  writeFileSync(project, JSON.stringify(settings));
  const args = [tsc, '-p', project, '--outDir', join(staging, 'types')];
  const result = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (result.status !== 0) process.exitCode = 1;
  rmSync(project);
  // tsc keeps `./x.ts` in declarations; compilers of users look for `./x.js` and its declaration.
  const types = join(staging, 'types');
  for (const name of readdirSync(types, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.d.ts')) continue;
    const path = join(types, name);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace(/(from |import\()(['"]\.[^'"]*)\.ts(['"])/g, '$1$2.js$3'));
  }
}
