// What a tidy rule reads and reports: source files as text, findings as lines.
// Invariants: rules are pure functions of the files given to them, so that each is tested on bad
// samples; paths are relative to the repository's root, with forward slashes.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/root.ts';

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

export interface Finding {
  readonly path: string;
  /** From 1; 0 when the finding is about the whole file. */
  readonly line: number;
  readonly message: string;
}

export type Rule = (files: readonly SourceFile[]) => Finding[];

const SKIPPED_FOLDERS = new Set(['.git', 'node_modules', 'build', 'dist', 'out', 'coverage']);
const TEXT = /(\.(ts|js|cc|c|h|md|json|gyp|txt|yml|sh)|^run|LICENSE|\.clang-\w+|ignore)$/;
const FILES_MAX = 5000;

/** Every text file of the repository, sorted by path. */
export function readRepository(): SourceFile[] {
  const files: SourceFile[] = [];
  visit('', files);
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function visit(folder: string, files: SourceFile[]): void {
  for (const entry of readdirSync(join(ROOT, folder), { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      const isPrebuild = folder === 'prebuilds';
      if (!SKIPPED_FOLDERS.has(entry.name) && !isPrebuild) visit(path, files);
    } else if (entry.isFile() && TEXT.test(entry.name)) {
      if (files.length >= FILES_MAX) throw new Error(`more than ${FILES_MAX} files in ${ROOT}`);
      files.push({ path, text: readFileSync(join(ROOT, path), 'utf8') });
    }
  }
}

export function linesOf(file: SourceFile): string[] {
  return file.text.replace(/\n$/, '').split('\n');
}

/** One line per finding, as editors jump to it. */
export function show(findings: readonly Finding[]): string {
  return findings.map(({ path, line, message }) => `${path}:${line}: ${message}`).join('\n');
}
