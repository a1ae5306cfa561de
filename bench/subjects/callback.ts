// The workloads over Node's callback API: `depth` chains, each starting its next operation in the
// callback of the last. What someone writes who has found fs.promises too slow.
import { close, open, read, readFile, type Stats, stat, write } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { promisify } from 'node:util';
import { fillPattern, writeStamp } from '../harness/work.ts';
import { heapBuffers, openFlags } from './memory.ts';
import { pathsOf } from './promises.ts';
import { asWords, expectBytes, type RunState } from './run_state.ts';

type Done = (error?: Error | null) => void;
/** Starts operation `opIndex` of chain `index`; calls `done` when it is over and accounted for. */
type Start = (opIndex: number, index: number, done: Done) => void;

export async function runCallback(run: RunState): Promise<void> {
  const { workload, path } = run.request;
  if (workload === 'smallFiles' || workload === 'stat') {
    const paths = pathsOf(run);
    await chains(run, workload === 'stat' ? statStart(paths, run) : smallFileStart(paths, run));
    return;
  }
  const buffers = heapBuffers(run.request);
  const fd = await promisify(open)(path, openFlags(run.request));
  try {
    const start = workload === 'write' ? writeStart(fd, buffers, run) : readStart(fd, buffers, run);
    await chains(run, start);
  } finally {
    await promisify(close)(fd);
  }
}

function chains(run: RunState, start: Start): Promise<void> {
  const { ops, depth } = run.request;
  return new Promise((resolve, reject) => {
    let active = depth;
    const step = (index: number): void => {
      if (run.next >= ops) {
        active--;
        if (active > 0) return;
        run.end();
        resolve();
        return;
      }
      const opIndex = run.next++;
      const timed = run.isTimed(opIndex);
      const startedMs = timed ? performance.now() : 0;
      start(opIndex, index, (error) => {
        if (error) return reject(error);
        if (timed) run.addSample(startedMs);
        step(index);
      });
    };
    run.begin();
    for (let index = 0; index < depth; index++) step(index);
  });
}

function readStart(fd: number, buffers: readonly Uint8Array[], run: RunState): Start {
  const { blockBytes } = run.request;
  const views = buffers.map(asWords);
  return (opIndex, index, done) => {
    const position = run.sequence[opIndex] * blockBytes;
    read(fd, buffers[index], 0, blockBytes, position, (error, bytesRead) => {
      if (error) return done(error);
      expectBytes(bytesRead, blockBytes);
      run.addRead(views[index]);
      done();
    });
  };
}

function writeStart(fd: number, buffers: readonly Uint8Array[], run: RunState): Start {
  const { blockBytes, runSeed } = run.request;
  const views = buffers.map(asWords);
  for (const words of views) fillPattern(words, runSeed);
  return (opIndex, index, done) => {
    const block = run.sequence[opIndex];
    const words = views[index];
    const stamp = writeStamp(runSeed, block);
    words[0] = stamp;
    words[words.length - 1] = stamp;
    write(fd, buffers[index], 0, blockBytes, block * blockBytes, (error, bytesWritten) => {
      if (error) return done(error);
      expectBytes(bytesWritten, blockBytes);
      done();
    });
  };
}

function smallFileStart(paths: readonly string[], run: RunState): Start {
  const { blockBytes } = run.request;
  return (opIndex, _index, done) => {
    readFile(paths[opIndex], (error, bytes) => {
      if (error) return done(error);
      expectBytes(bytes.byteLength, blockBytes);
      run.addReadBytes(bytes);
      done();
    });
  };
}

function statStart(paths: readonly string[], run: RunState): Start {
  return (opIndex, _index, done) => {
    stat(paths[opIndex], (error: Error | null, stats: Stats) => {
      if (error) return done(error);
      run.addStat(stats.size, stats.mtimeMs);
      done();
    });
  };
}
