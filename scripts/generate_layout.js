// Generates lib/abi/layout.ts from the compiled truth: compiles native/abi/dump_layout.cc with the
// host compiler, runs it, formats what it prints.
//   node scripts/generate_layout.js            compares with the committed file; 1 if not equal
//   node scripts/generate_layout.js --write    writes it
// Invariants: nothing is written without --write; the compiler is $CXX or c++.
// Not here: what is printed (native/abi/dump_layout.cc).
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = join(root, 'lib', 'abi', 'layout.ts');

/** The text of lib/abi/layout.ts as the compiler of this machine sees native/abi/layout.h. */
function generateLayout() {
  const folder = mkdtempSync(join(tmpdir(), 'nephrite-layout-'));
  try {
    const program = join(folder, 'dump_layout');
    const source = join(root, 'native', 'abi', 'dump_layout.cc');
    const flags = ['-std=c++20', '-I', join(root, 'native'), '-o', program, source];
    execFileSync(process.env.CXX ?? 'c++', flags, { stdio: ['ignore', 'inherit', 'inherit'] });
    return format(execFileSync(program, { encoding: 'utf8' }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} input */
function format(input) {
  const biome = join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome');
  const args = [biome, 'format', '--stdin-file-path=lib/abi/layout.ts'];
  return execFileSync(process.execPath, args, { cwd: root, input, encoding: 'utf8' });
}

const text = generateLayout();
if (process.argv.includes('--write')) {
  writeFileSync(target, text);
} else if (readFileSync(target, 'utf8') !== text) {
  console.error('lib/abi/layout.ts does not equal native/abi/layout.h: npm run generate:layout');
  process.exitCode = 1;
}
