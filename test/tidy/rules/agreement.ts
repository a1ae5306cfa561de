// Agreement: things written down twice say the same. Build lists of gyp and CMake, sources on disk,
// native test programs, links between the pages.
// Invariants: reads the lists as text, so a list must stay a plain list of paths.
// Not here: the generated layout (tidy.test.ts runs the generator), version numbers.
import { posix } from 'node:path';
import { type Finding, linesOf, type Rule, type SourceFile } from '../source_file.ts';

const GROUPS = ['common', 'linux', 'mac', 'win'] as const;

/** Compiled on the build machine only, never part of the addon. */
const TOOLS = new Set(['native/abi/dump_layout.cc']);

export const sourceLists: Rule = (files) => {
  const gyp = textOf(files, 'binding.gyp');
  const cmake = textOf(files, 'CMakeLists.txt');
  const findings: Finding[] = [];
  const listed = new Set<string>();
  for (const group of GROUPS) {
    const fromGyp = gypList(gyp, `${group}_sources`);
    const fromCmake = cmakeList(cmake, `${group.toUpperCase()}_SOURCES`);
    for (const path of fromGyp) listed.add(path);
    for (const path of difference(fromGyp, fromCmake)) {
      findings.push(inFile('CMakeLists.txt', `${path} is in binding.gyp (${group}) only`));
    }
    for (const path of difference(fromCmake, fromGyp)) {
      findings.push(inFile('binding.gyp', `${path} is in CMakeLists.txt (${group}) only`));
    }
  }
  const onDisk = pathsOf(files, /^native\/.*\.cc$/).filter((path) => !TOOLS.has(path));
  for (const path of difference(onDisk, listed)) {
    findings.push(inFile(path, 'not in the source lists of binding.gyp and CMakeLists.txt'));
  }
  for (const path of difference(listed, onDisk)) {
    findings.push(inFile('binding.gyp', `${path} does not exist`));
  }
  return findings;
};

export const nativeTestList: Rule = (files) => {
  const cmake = textOf(files, 'CMakeLists.txt');
  const listed = [...cmakeList(cmake, 'TEST_SOURCES'), ...cmakeList(cmake, 'WIN_TEST_SOURCES')];
  const onDisk = pathsOf(files, /^test\/native\/.*_test\.cc$/);
  return [
    ...difference(onDisk, listed).map((path) => inFile(path, 'not in TEST_SOURCES: it never runs')),
    ...difference(listed, onDisk).map((path) => inFile('CMakeLists.txt', `${path} does not exist`)),
  ];
};

/** Relative links in Markdown point at something that exists. */
export const links: Rule = (files) => {
  const existing = new Set(files.flatMap(({ path }) => [path, ...foldersOf(path)]));
  return files
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap((file) =>
      linesOf(file).flatMap((line, index): Finding[] =>
        [...line.matchAll(/\]\(([^)\s]+)\)/g)]
          .map((match) => match[1] ?? '')
          .filter((target) => !/^(https?:|mailto:|#)/.test(target))
          .map((target) => posix.join(posix.dirname(file.path), target.replace(/#.*$/, '')))
          .filter((target) => !existing.has(target.replace(/\/$/, '')))
          .map((target) => ({
            path: file.path,
            line: index + 1,
            message: `${target} does not exist`,
          })),
      ),
    );
};

function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

function gypList(text: string, name: string): string[] {
  const body = new RegExp(`'${name}':\\s*\\[([^\\]]*)\\]`).exec(text)?.[1] ?? '';
  return [...body.replace(/#.*$/gm, '').matchAll(/'([^']+)'/g)].map((match) => match[1] ?? '');
}

function cmakeList(text: string, name: string): string[] {
  const body = new RegExp(`set\\(${name}\\b([^)]*)\\)`).exec(text)?.[1] ?? '';
  return body.replace(/#.*$/gm, '').split(/\s+/).filter(Boolean);
}

function difference(left: Iterable<string>, right: Iterable<string>): string[] {
  const others = new Set(right);
  return [...left].filter((one) => !others.has(one));
}

function pathsOf(files: readonly SourceFile[], pattern: RegExp): string[] {
  return files.map(({ path }) => path).filter((path) => pattern.test(path));
}

function textOf(files: readonly SourceFile[], path: string): string {
  const file = files.find((one) => one.path === path);
  if (file === undefined) throw new Error(`${path} is missing`);
  return file.text;
}

function inFile(path: string, message: string): Finding {
  return { path, line: 0, message };
}
