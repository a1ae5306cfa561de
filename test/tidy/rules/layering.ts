// Layering: imports in lib/ and includes in native/ point downward only (the order is the one list
// each side has below). Control that must go up goes through an interface declared below.
// Invariants: a file uses its own folder and folders further left, never further right. The lint
// plugin is an island: it is loaded without the library, and the library without it.
// Not here: what each layer is for (lib/README.md, native/README.md).
import { posix } from 'node:path';
import { type Finding, linesOf, type Rule, type SourceFile } from '../source_file.ts';

const LIB_ORDER = [
  'base',
  'abi',
  'ring',
  'addon',
  'backend',
  'time',
  'io',
  'task',
  'bus',
  'sync',
  'engine',
  'scheduler',
  'graph',
  'metrics',
  'runtime',
  'worker_main',
  'entry',
  'testing',
  'cli',
];
/** Files directly in lib/ and their layers; the others are the parts of the runtime's wiring. */
const ROOT_FILES = new Map([
  ['index.ts', 'entry'],
  ['fs.ts', 'entry'],
  ['fs_names.ts', 'entry'],
  ['engine.ts', 'entry'],
  ['graph.ts', 'entry'],
  ['net.ts', 'entry'],
  ['testing.ts', 'testing'],
  ['worker_main.ts', 'worker_main'],
  ['eslint_plugin.ts', 'eslint'],
]);
const ISLAND = 'eslint';
const NATIVE_ORDER = ['abi', 'base', 'ring', 'backend', 'poller', 'addon'];

/** Headers that tie code to Node: everything below addon/ builds and is tested without it. */
const NODE_HEADERS = new Set(['node_api.h', 'js_native_api.h', 'napi.h', 'uv.h', 'node.h', 'v8.h']);

export const layering: Rule = (files) => [
  ...files.filter(({ path }) => /^lib\/.*\.ts$/.test(path)).flatMap(checkImports),
  ...files.filter(({ path }) => /^native\/.*\.(cc|h)$/.test(path)).flatMap(checkIncludes),
];

function checkImports(file: SourceFile): Finding[] {
  const own = libLayer(file.path);
  if (own === undefined) {
    return [{ path: file.path, line: 0, message: 'not in a folder of the layer list' }];
  }
  const findings: Finding[] = [];
  for (const [index, line] of linesOf(file).entries()) {
    const target = /(?:\bfrom|^import|\bimport\()\s*'(\.[^']+)'/.exec(line)?.[1];
    if (target === undefined) continue;
    const resolved = posix.join(posix.dirname(file.path), target);
    const other = libLayer(resolved);
    if (resolved.startsWith('lib/') && other !== undefined && mayImport(own, other)) continue;
    findings.push({
      path: file.path,
      line: index + 1,
      message: `${own} must not import ${other ?? resolved}: imports point downward (${LIB_ORDER.join(' < ')})`,
    });
  }
  return findings;
}

function mayImport(own: string, other: string): boolean {
  if (own === ISLAND || other === ISLAND) return own === other;
  return isAtOrBelow(other, own, LIB_ORDER);
}

function checkIncludes(file: SourceFile): Finding[] {
  const own = file.path.split('/')[1] ?? '';
  const findings: Finding[] = [];
  for (const [index, line] of linesOf(file).entries()) {
    const include = /^\s*#\s*include\s*([<"])([^>"]+)[>"]/.exec(line);
    if (include === null) continue;
    const target = include[2] ?? '';
    if (own !== 'addon' && NODE_HEADERS.has(target)) {
      const message = `<${target}> belongs to native/addon: the rest builds without Node`;
      findings.push({ path: file.path, line: index + 1, message });
    }
    if (include[1] !== '"') continue;
    const other = target.includes('/') ? (target.split('/')[0] ?? '') : own;
    if (!isAtOrBelow(other, own, NATIVE_ORDER)) {
      const message = `${own} must not include ${target}: includes point downward (${NATIVE_ORDER.join(' < ')})`;
      findings.push({ path: file.path, line: index + 1, message });
    }
  }
  return findings;
}

function isAtOrBelow(other: string, own: string, order: readonly string[]): boolean {
  return order.includes(other) && order.indexOf(other) <= order.indexOf(own);
}

function libLayer(path: string): string | undefined {
  const [, first, ...rest] = path.split('/');
  if (first === undefined) return undefined;
  if (rest.length > 0) return LIB_ORDER.includes(first) || first === ISLAND ? first : undefined;
  return ROOT_FILES.get(first) ?? 'runtime';
}
