// Breaks text into lines at spaces.
// Owner: nobody; a pure function. Invariants: a word longer than the width gets a line of its own.
// Not here: columns and tables (report/text.ts).

/** Lines of at most `width` columns. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
