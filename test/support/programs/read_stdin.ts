// Reads standard input through the library, a large read at a time, until it ends.
// Prints { counts }: what each read gave.
import * as fs from '../../../lib/fs.ts';

const input = await fs.open('/dev/stdin');
const counts: number[] = [];
do {
  const { bytesRead } = await input.read(Buffer.alloc(65536));
  counts.push(bytesRead);
} while (counts.at(-1) !== 0);
await input.close();
console.log(JSON.stringify({ counts }));
