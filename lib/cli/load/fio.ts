// fio as a contestant: the same shape of load from the disk tester that people trust.
// Flow: options -> fio arguments -> one fio process per round -> its JSON -> recorder
// Owner: the run; fio's files lie in the run's temporary folder and go with it.
// Invariants: each round is one bounded process, ended when the run is stopped.
// Not equal, and said so in the report: fio checks nothing here, reuses its own files, and measures
// latency from its own submission, also with --rate.
import { spawn } from 'node:child_process';
import { errorTextOf, troubleError } from '../cli_error.ts';
import type { Mode } from '../workload/workload.ts';
import { type Contestant, createTotals, type RoundTotals } from './contestant.ts';
import { type FioDirection, type FioJob, readFioJob } from './fio_output.ts';
import { Recorder } from './recorder.ts';
import type { StopControl } from './stop_control.ts';

/** What fio has to be told. */
export interface FioWorkload {
  readonly folder: string;
  readonly mode: Mode;
  readonly depth: number;
  readonly blockBytes: number;
  readonly fileCount: number;
  readonly bytes: number;
  readonly readPercent: number;
  readonly zipfTheta: number | null;
  readonly isDirect: boolean;
  readonly ratePerSecond: number | null;
  readonly seed: number;
}

const ENGINES = ['io_uring', 'libaio', 'psync'] as const;
/** fio needs this much longer than its run time to start, lay out files and report. */
const FIO_EXTRA_MS = 60_000;

/** Finds fio, lets it lay out its files, and returns it as a contestant. */
export async function createFioContestant(
  workload: FioWorkload,
  stop: StopControl,
): Promise<Contestant> {
  const version = await fioVersion(stop);
  const refused: string[] = [];
  for (const engine of ENGINES) {
    const args = [...fioArguments(workload, engine, workload.seed), '--create_only=1'];
    const probe = await runFio([...args, '--runtime=1s'], stop, FIO_EXTRA_MS);
    const isUsable = probe.exitCode === 0 && (await canRun(workload, engine, stop));
    if (isUsable || stop.isStopped) return new FioContestant(workload, engine, version, stop);
    refused.push(`${engine}: ${firstLine(probe.errorText)}`);
  }
  throw troubleError('ERR_CLI_FIO_FAILED', `fio runs with no engine (${refused.join('; ')})`);
}

/** Arguments of one fio process, without its run time. */
export function fioArguments(workload: FioWorkload, engine: string, seed: number): string[] {
  const { readPercent, mode } = workload;
  const isRandom = mode !== 'sequential';
  const direction = readPercent === 100 ? 'read' : readPercent === 0 ? 'write' : 'rw';
  return [
    '--name=nephrite',
    `--directory=${workload.folder.replaceAll(':', '\\:')}`,
    '--filename_format=fio-$filenum',
    `--nrfiles=${workload.fileCount}`,
    `--size=${workload.bytes}`,
    `--file_service_type=${isRandom ? 'random' : 'sequential'}`,
    `--rw=${isRandom ? 'rand' : ''}${direction}`,
    ...(direction === 'rw' ? [`--rwmixread=${readPercent}`] : []),
    `--bs=${workload.blockBytes}`,
    `--ioengine=${engine}`,
    `--iodepth=${workload.depth}`,
    `--direct=${workload.isDirect ? 1 : 0}`,
    // Write and datasync as one operation, as the other subjects are timed.
    ...(mode === 'fsync' ? ['--sync=dsync'] : []),
    ...(workload.zipfTheta === null ? [] : [`--random_distribution=zipf:${workload.zipfTheta}`]),
    ...(workload.ratePerSecond === null ? [] : [`--rate_iops=${workload.ratePerSecond}`]),
    '--norandommap=1',
    `--randseed=${seed}`,
    '--time_based=1',
    '--lat_percentiles=1',
    '--clat_percentiles=0',
    '--output-format=json+',
  ];
}

class FioContestant implements Contestant {
  readonly name = 'fio';
  readonly backend: string;
  readonly why: string;
  readonly isVerified = false;
  readonly isCountedLive = false;
  readonly recorder = new Recorder();
  readonly totals: RoundTotals = createTotals();
  readonly #workload: FioWorkload;
  readonly #stop: StopControl;

  constructor(workload: FioWorkload, engine: string, version: string, stop: StopControl) {
    this.#workload = workload;
    this.#stop = stop;
    this.backend = engine;
    this.why = `${version}, engine ${engine}, not verified, latency from its own submission`;
  }

  async ramp(durationMs: number): Promise<void> {
    if (durationMs > 0) await this.#run(-1, durationMs);
  }

  async round(index: number, durationMs: number): Promise<void> {
    const job = await this.#run(index, durationMs);
    if (job === null) return;
    const operations = job.read.operations + job.write.operations;
    const bytes = job.read.bytes + job.write.bytes;
    const totals = this.totals;
    totals.roundRates.push((operations / job.elapsedMs) * 1e3);
    totals.cpuUs += job.cpuUs;
    totals.contextSwitches = (totals.contextSwitches ?? 0) + job.contextSwitches;
    const bins = (direction: FioDirection) => direction.latencyNsCounts;
    this.recorder.recordExternalRound(
      { read: job.read.operations, write: job.write.operations },
      bytes,
      job.elapsedMs,
      [...bins(job.read), ...bins(job.write)],
    );
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #run(index: number, durationMs: number): Promise<FioJob | null> {
    const seed = this.#workload.seed + index + 1;
    const args = [
      ...fioArguments(this.#workload, this.backend, seed),
      `--runtime=${Math.round(durationMs)}ms`,
    ];
    const { outputText, errorText, exitCode } = await runFio(
      args,
      this.#stop,
      durationMs + FIO_EXTRA_MS,
    );
    if (this.#stop.isStopped) return null;
    if (exitCode !== 0) {
      throw troubleError(
        'ERR_CLI_FIO_FAILED',
        `fio ended with ${exitCode}: ${firstLine(errorText)}`,
      );
    }
    return readFioJob(outputText);
  }
}

interface FioRun {
  readonly outputText: string;
  readonly errorText: string;
  readonly exitCode: number | null;
}

function runFio(args: readonly string[], stop: StopControl, timeoutMs: number): Promise<FioRun> {
  return new Promise((resolve, reject) => {
    const child = spawn('fio', args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      // Ctrl-C reaches us alone: we end the child, so that its partial output is not a surprise.
      detached: true,
    });
    const kill = (): boolean => child.kill('SIGKILL');
    // Not spawn's own timeout: its timer outlives a program that cannot be started.
    const timer = setTimeout(kill, timeoutMs);
    const forgetStop = stop.onStop(kill);
    const forget = (): void => {
      clearTimeout(timer);
      forgetStop();
    };
    const output: string[] = [];
    const errors: string[] = [];
    child.stdout.setEncoding('utf8').on('data', (text: string) => output.push(text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text));
    child.on('error', (error) => {
      forget();
      reject(error);
    });
    child.on('close', (exitCode) => {
      forget();
      resolve({ outputText: output.join(''), errorText: errors.join(''), exitCode });
    });
  });
}

async function fioVersion(stop: StopControl): Promise<string> {
  try {
    const { outputText } = await runFio(['--version'], stop, FIO_EXTRA_MS);
    return outputText.trim();
  } catch (error) {
    throw troubleError(
      'ERR_CLI_NO_FIO',
      `--against fio: fio cannot be started (${errorTextOf(error)}); ` +
        'install it (Debian and Ubuntu: apt-get install fio), or use --against node',
      error,
    );
  }
}

async function canRun(workload: FioWorkload, engine: string, stop: StopControl): Promise<boolean> {
  const args = [...fioArguments(workload, engine, workload.seed), '--runtime=20ms'];
  const { exitCode } = await runFio(args, stop, FIO_EXTRA_MS);
  return exitCode === 0;
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}
