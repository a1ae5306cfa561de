// Prints the trace of one fixed program on a test runtime: `test_trace.ts <seed>`.
// Owner: the test that starts it. Not here: what is compared (test/unit/testing/).
import { writeFileSync } from 'node:fs';
import * as fs from '../../../lib/fs.ts';
import { sleep, spawn, waitToken } from '../../../lib/index.ts';
import { createTestRuntime } from '../../../lib/testing.ts';

/** JSON lines of the tap: files with faults, sleeps, tokens, async bodies. */
export async function traceOf(seed: number, folder: string): Promise<string> {
  const faults = { errorChance: 0.2, shortReadChance: 0.3, shortWriteChance: 0.3 };
  const rt = createTestRuntime({ seed, faults, backend: 'node' });
  const lines: string[] = [];
  rt.bus.tap((event) => lines.push(JSON.stringify(event)));
  rt.onUnhandled((error) => lines.push(`unhandled ${String((error as Error).message)}`));
  const token = waitToken<void>();
  rt.spawn(async function traceLate() {
    await sleep(3);
    await token.wait();
  });
  const main = rt.run(function* traceMain() {
    const children = Array.from({ length: 6 }, (_, at) =>
      spawn(function* traceChild() {
        const path = `${folder}/${at}`;
        yield* sleep(at % 3);
        for (let round = 0; round < 3; round++) {
          try {
            yield* fs.writeFile(path, 'x'.repeat(100 * (round + 1)));
            yield* fs.readFile(path);
          } catch (error) {
            lines.push(`failed ${(error as NodeJS.ErrnoException).code}`);
          }
        }
      }),
    );
    for (const child of children) yield* child.join();
    token.wake();
  });
  await rt.clock.advance('13d');
  await main;
  await rt.close();
  return `${lines.join('\n')}\n`;
}

const [, , seed, folder, output] = process.argv;
if (output?.endsWith('.trace')) writeFileSync(output, await traceOf(Number(seed), folder));
