// The process of one JavaScript subject: `subject_main NAME DRIVER MEMORY [FS INDEX]`, spoken to
// over stdin and stdout (harness/protocol.ts). FS and INDEX are the files of nephrite/fs and of
// nephrite; without them the subject is Node's own fs and nothing of nephrite is loaded but its
// clock. A failure is an `error` line and the process goes on; it ends when its stdin does.
import { readFileSync } from 'node:fs';
import * as nodePromises from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { decodeWork, encodeLine, type Message, parseLine } from '../harness/protocol.ts';
import type { Driver, Memory } from '../harness/subjects.ts';
import { runCallback } from './callback.ts';
import { runClock } from './clock.ts';
import { runFairness } from './fairness.ts';
import type { FileApi, ManyApi, PoolApi } from './file_api.ts';
import { runMany } from './many.ts';
import { type AllocateBuffers, heapBuffers, poolBuffers } from './memory.ts';
import { runMemory } from './memory_growth.ts';
import { runPromises } from './promises.ts';
import { RunState } from './run_state.ts';
import { runTasks } from './tasks.ts';
import type { IndexApi } from './tasks_nephrite.ts';
import { runTasksRead } from './tasks_read.ts';
import { runTimers } from './timers.ts';

type Fields = [string, string | number][];

interface Context {
  name: string;
  driver: Driver;
  api: FileApi;
  many?: ManyApi;
  allocate: AllocateBuffers;
  backend: string;
  index?: IndexApi;
}

const [name, driver, memory, fsFile, indexFile] = process.argv.slice(2);
let context: Context;

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(await answer(line));
}

async function load(subject: string, how: Driver, from: Memory): Promise<Context> {
  if (fsFile === undefined) {
    const api: FileApi = nodePromises;
    return { name: subject, driver: how, api, allocate: heapBuffers, backend: 'libuv' };
  }
  const library = (await import(pathToFileURL(fsFile).href)) as FileApi & ManyApi & PoolApi;
  const allocate = from === 'pool' ? poolBuffers(library) : heapBuffers;
  const index = (await import(pathToFileURL(indexFile).href)) as IndexApi;
  const backend = index.backend().name;
  return { name: subject, driver: how, api: library, many: library, allocate, backend, index };
}

async function answer(line: string): Promise<string> {
  try {
    const { verb, fields } = parseLine(line);
    if (verb === 'hello') {
      context = await load(name, driver as Driver, memory as Memory);
      return encodeLine('ok', [
        ['subject', context.name],
        ['backend', context.backend],
      ]);
    }
    // No collection before a run: a full one drops the optimised code of every class without a live
    // instance, and the run would measure the compiler (480 k became 265 k reads/s).
    return encodeLine('ok', [...(await work(fields)), ['peakRssKiB', peakRssKiB()]]);
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const code = (error as NodeJS.ErrnoException | null)?.code;
    return encodeLine('error', [
      ['message', text],
      ['unavailable', code === 'ERR_BACKEND_UNAVAILABLE'],
    ]);
  }
}

async function work(fields: Message): Promise<Fields> {
  const request = decodeWork(fields);
  if (request.workload === 'fairness') return fairness(request, fields);
  if (request.workload === 'clock') return runClock(request, fields);
  if (request.workload === 'timers') return runTimers(request, fields);
  if (request.workload === 'tasks') return runTasks(context.name, context.index, request, fields);
  if (request.workload === 'memory') {
    const grown = await runMemory(context.api, context.allocate, request);
    return Object.entries({ ...grown, ops: request.ops, rssKiB: grown.rssKiB.join(',') });
  }
  const run = new RunState(request);
  if (request.workload === 'tasksRead') await readInTasks(run);
  else if (context.driver === 'callback') await runCallback(run);
  else if (context.driver === 'promises') await runPromises(context.api, context.allocate, run);
  else if (context.many !== undefined) await runMany(context.many, run);
  else throw new Error(`${context.name} has no calls for many`);
  return [
    ['ops', request.ops],
    ['elapsedNs', run.elapsedNs],
    ['cpuNs', run.cpuNs],
    ['checksum', run.checksum],
    ['samples', run.samples()],
  ];
}

/** In tasks where the subject is nephrite, with plain `await` for all others. */
async function readInTasks(run: RunState): Promise<void> {
  const { api, index, allocate, name: subject } = context;
  if (index === undefined || subject !== 'nephrite') await runPromises(api, allocate, run);
  else await runTasksRead(api as typeof import('../../lib/fs.ts'), index, allocate, run);
}

async function fairness(request: ReturnType<typeof decodeWork>, fields: Message): Promise<Fields> {
  const fifos = fields.get('fifos');
  if (fifos === undefined) throw new Error('fairness: no folder of FIFOs given');
  const { timerLatenessNs, statNs, ...rest } = await runFairness(
    context.api,
    context.allocate,
    request,
    fifos,
  );
  const list = (samples: number[]): string => samples.map(Math.round).join(',');
  return [
    ...Object.entries(rest),
    ['timerSamples', list(timerLatenessNs)],
    ['statSamples', list(statNs)],
  ];
}

// VmHWM where the system tells it: getrusage's value survives exec and may be the parent's.
function peakRssKiB(): number {
  try {
    const status = readFileSync('/proc/self/status', 'utf8');
    const found = /VmHWM:\s+(\d+) kB/.exec(status);
    if (found !== null) return Number(found[1]);
  } catch {
    // not Linux
  }
  return process.resourceUsage().maxRSS;
}
