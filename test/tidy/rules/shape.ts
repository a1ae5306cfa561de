// Shape: a file fits on few screens, a function on one, and both say first what they are.
// The function check reads indentation, which the formatters guarantee: a block ends at the first
// line that is indented no deeper than its start and begins with a closing brace.
// Invariants: generated files are exempt, test suites are containers, not functions.
import { type Finding, linesOf, type Rule, type SourceFile } from '../source_file.ts';

export const FILE_LINES_MAX = 400;
export const FUNCTION_LINES_MAX = 70;
const LINE_COLUMNS_MAX = 100;
const HEADER_LINES_MIN = 2;
const HEADER_LINES_MAX = 24;

const SOURCE = /\.(ts|js|cc|c|h)$/;
const FORMATTED_BY_BIOME = /\.(ts|js)$/;

export const fileSize: Rule = (files) =>
  handWritten(files).flatMap((file) => {
    const count = linesOf(file).length;
    if (count <= FILE_LINES_MAX) return [];
    const message = `${count} lines; at most ${FILE_LINES_MAX}: split it by what it is about`;
    return [{ path: file.path, line: 0, message }];
  });

/** Biome breaks what it can in TypeScript, and leaves long strings: those are no finding. */
export const lineWidth: Rule = (files) =>
  handWritten(files).flatMap((file) =>
    linesOf(file).flatMap((line, index): Finding[] => {
      if (line.length <= LINE_COLUMNS_MAX) return [];
      const hasString = /['"`].{30,}['"`]|https?:/.test(line);
      if (hasString && FORMATTED_BY_BIOME.test(file.path)) return [];
      const message = `${line.length} columns; at most ${LINE_COLUMNS_MAX}`;
      return [{ path: file.path, line: index + 1, message }];
    }),
  );

/** A .cc whose .h says it all may open with one line; select_linux.cc belongs to select.h. */
export const headerComment: Rule = (files) => {
  const paths = new Set(files.map(({ path }) => path));
  return handWritten(files).flatMap((file) => {
    const lines = linesOf(file);
    if (lines[0]?.startsWith('#!')) lines.shift();
    const end = lines.findIndex((line) => !/^(\/\/|\/?\*| \*)/.test(line));
    const count = end === -1 ? lines.length : end;
    const header = file.path.replace(/(_linux|_mac|_posix|_windows)?\.cc$/, '.h');
    const hasHeader = header !== file.path && paths.has(header);
    const least = hasHeader ? 1 : HEADER_LINES_MIN;
    if (count >= least && count <= HEADER_LINES_MAX) return [];
    const message =
      `opens with ${count} comment lines, wanted ${least} to ${HEADER_LINES_MAX}: ` +
      'what it is, who owns its data, invariants, what is not there';
    return [{ path: file.path, line: 1, message }];
  });
};

export const functionSize: Rule = (files) => handWritten(files).flatMap(longFunctions);

function longFunctions(file: SourceFile): Finding[] {
  const lines = linesOf(file);
  const findings: Finding[] = [];
  for (const [start, line] of lines.entries()) {
    if (!opensFunction(file, line)) continue;
    // At most as deep as its start: a constructor may open on the line of its member initializers.
    const close = new RegExp(`^ {0,${/^ */.exec(line)?.[0].length ?? 0}}}`);
    const length = lines.slice(start).findIndex((each) => close.test(each)) + 1;
    if (length <= FUNCTION_LINES_MAX || isSuite(file, lines.slice(start, start + length))) continue;
    const message = `a function of ${length} lines; at most ${FUNCTION_LINES_MAX}`;
    findings.push({ path: file.path, line: start + 1, message });
  }
  return findings;
}

/** A function that declares tests is a suite; the tests in it are looked at one by one. */
function isSuite(file: SourceFile, body: readonly string[]): boolean {
  if (!file.path.startsWith('test/')) return false;
  return body.slice(1).some((line) => /^\s*(describe|it|test)(\.\w+)*\(/.test(line));
}

function opensFunction(file: SourceFile, line: string): boolean {
  if (!line.endsWith('{')) return false;
  if (FORMATTED_BY_BIOME.test(file.path)) {
    if (/\bdescribe(\.\w+)?(\(|\.)/.test(line)) return false;
    if (/^\s*(if|for|while|switch|try|else|return|} )/.test(line)) return /=> {$/.test(line);
    return /(=> {|\) {|\)(: .*)? {)$/.test(line);
  }
  if (/^\s*(namespace|class|struct|union|enum|extern|else|if|for|while|switch|do|})/.test(line)) {
    return false;
  }
  return /\)( const| noexcept| override| final)*( ->.*)? {$/.test(line);
}

function handWritten(files: readonly SourceFile[]): SourceFile[] {
  return files.filter(({ path, text }) => SOURCE.test(path) && !text.startsWith('// Generated'));
}
