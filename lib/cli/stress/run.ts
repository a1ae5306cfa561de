// One stress run from the checks before it to the result: space, layout, ramp, rounds, final check.
// Flow: StressOptions -> [runStress] -> StressResult
// Owner: the command. Invariants: rounds of subjects alternate, so that both meet the same weather;
// the temporary folder is gone when runStress settles, whichever way it does.
// Not here: signals and output (command.ts), what a round does (load/lanes.ts).
import { troubleError } from '../cli_error.ts';
import { type FileSystemFacts, readFileSystem } from '../host/file_system.ts';
import { readMachine } from '../host/machine.ts';
import { type Contestant, createLibraryContestant } from '../load/contestant.ts';
import { DataSet, layOut } from '../load/data_set.ts';
import { checkEverything, type FinalCheck } from '../load/final_check.ts';
import { createFioContestant } from '../load/fio.ts';
import type { StopControl } from '../load/stop_control.ts';
import type { FileSubject } from '../load/subject.ts';
import { createNodeSubject } from '../load/subject_node.ts';
import { formatBytes } from '../units.ts';
import { BlockTable } from '../workload/block_table.ts';
import { BlockPattern } from '../workload/pattern.ts';
import { dataSetBytes, type StressOptions } from './options.ts';
import { buildResult, type StressResult } from './result.ts';
import { makeTempFolder } from './temp_folder.ts';

const ROUNDS_WITH_PEER = 5;
/** Space beyond the data set: metadata, and room so that a run never fills a disk. */
const SPARE_BYTES = 64 * 1024 ** 2;

/** Told what is going on; every call is cheap. */
export interface RunObserver {
  onLayout(bytes: number, totalBytes: number): void;
  onStart(folder: string): void;
  onRound(contestant: Contestant, round: number, rounds: number): void;
  onRoundEnd(): void;
  onFinalCheck(): void;
}

/** Runs the whole thing. Rejects with a CliError when it cannot be carried out. */
export async function runStress(
  options: StressOptions,
  subject: FileSubject,
  stop: StopControl,
  observer: RunObserver,
): Promise<StressResult> {
  const startedAt = new Date();
  const fileSystem = await checkSpace(options);
  const folder = await makeTempFolder(options.dir);
  try {
    const dataSet = new DataSet(folder.path, options);
    const table = new BlockTable(dataSet.targetCount);
    const pattern = new BlockPattern(options.seed, options.blockBytes);
    await layOut(subject, dataSet, pattern, stop, (bytes) =>
      observer.onLayout(bytes, dataSet.bytes),
    );
    observer.onStart(folder.path);
    const parts = { options, dataSet, table, pattern, stop, folder: folder.path };
    const contestants = await createContestants(parts, subject);
    await runRounds(options, contestants, stop, observer);
    for (const contestant of contestants) await contestant.close();
    const hasUnfinished = contestants.some(({ totals }) => totals.unfinished > 0);
    let finalCheck: FinalCheck | null = null;
    if (options.isVerified && table.writes > 0 && !hasUnfinished && !stop.isStopped) {
      observer.onFinalCheck();
      finalCheck = await checkEverything(dataSet, table, pattern, stop);
    }
    const stopped = stop.reason;
    const machine = readMachine();
    return buildResult(options, {
      startedAt,
      machine,
      fileSystem,
      contestants,
      finalCheck,
      stopped,
    });
  } finally {
    await folder.remove();
  }
}

async function runRounds(
  options: StressOptions,
  contestants: readonly Contestant[],
  stop: StopControl,
  observer: RunObserver,
): Promise<void> {
  const rounds = contestants.length === 1 ? 1 : ROUNDS_WITH_PEER;
  const canGoOn = (): boolean =>
    !stop.isStopped && contestants.every(({ totals }) => totals.unfinished === 0);
  for (const contestant of contestants) {
    if (canGoOn()) await contestant.ramp(options.rampMs);
  }
  for (let round = 0; round < rounds; round++) {
    for (const contestant of contestants) {
      if (!canGoOn()) return;
      observer.onRound(contestant, round, rounds);
      await contestant.round(round, options.durationMs / rounds);
      observer.onRoundEnd();
    }
  }
}

interface RunParts {
  readonly options: StressOptions;
  readonly dataSet: DataSet;
  readonly table: BlockTable;
  readonly pattern: BlockPattern;
  readonly stop: StopControl;
  readonly folder: string;
}

async function createContestants(run: RunParts, subject: FileSubject): Promise<Contestant[]> {
  const { options, dataSet } = run;
  const parts = {
    ...run,
    shape: { ...options, blockCount: dataSet.blockCount },
    depth: options.depth,
    runDurationMs: options.durationMs,
    ratePerSecond: options.ratePerSecond,
    isVerified: options.isVerified,
  };
  const contestants = [await createLibraryContestant(subject, parts)];
  if (options.peer === 'node') {
    contestants.push(await createLibraryContestant(createNodeSubject(), parts));
  }
  if (options.peer === 'fio') {
    const fioWorkload = {
      ...options,
      folder: run.folder,
      fileCount: options.blockFileCount,
      bytes: dataSet.bytes,
    };
    contestants.push(await createFioContestant(fioWorkload, run.stop));
  }
  return contestants;
}

/** Refuses to start when the data set would not leave room on the file system. */
async function checkSpace(options: StressOptions): Promise<FileSystemFacts> {
  let facts: FileSystemFacts;
  try {
    facts = await readFileSystem(options.dir);
  } catch (error) {
    throw troubleError('ERR_CLI_SETUP', `--dir ${options.dir}: no such folder`, error);
  }
  const copies = options.peer === 'fio' ? 2 : 1;
  const neededBytes = dataSetBytes(options) * copies + SPARE_BYTES;
  if (facts.freeBytes < neededBytes) {
    throw troubleError(
      'ERR_CLI_NO_SPACE',
      `${options.dir} has ${formatBytes(facts.freeBytes)} free, the run needs ` +
        `${formatBytes(neededBytes)}: give a smaller --size or --files, or another --dir`,
    );
  }
  return facts;
}
