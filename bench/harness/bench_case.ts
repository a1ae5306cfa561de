// What a benchmark suite and its cases are, and what a case is given when it runs.
// A case owns the subject processes that it starts; the input and the programs are the run's.

import type { Goal } from './goals.ts';
import type { BenchInput } from './input.ts';
import type { Programs } from './programs.ts';
import type { Environment, Row, Skip } from './report.ts';
import { SubjectError, SubjectProcess } from './subject_process.ts';
import { type Subject, subjectByName } from './subjects.ts';

/** How much work; `full` and `quick` are the two sizes of the command line, tests use a third. */
export interface Sizes {
  /** What the whole run may take; runs get shorter when a busy machine would exceed it. */
  budgetMs: number;
  /** Subjects that run only when they are named. */
  leftOut: readonly string[];
  rounds: number;
  /** Length aimed at for one run of one subject in one round. */
  runMs: number;
  /** Length of the warm-up run: compilers need longer than a quick round. */
  warmUpMs: number;
  /** Operations of the run in which every byte is checked. */
  verifyOps: number;
  dataFileMiB: number;
  writeFileMiB: number;
  smallFiles: number;
  fairnessMs: number;
  memoryOps: number;
  importRounds: number;
  clockOps: number;
  /** Timers armed at once; absent in suites without them. */
  timerCount?: number;
  /** Leaves of the tree of tasks; absent in suites without it. */
  skynetLeaves?: number;
}

export interface CaseContext {
  sizes: Sizes;
  input: BenchInput;
  programs: Programs;
  /** Whether the command line left this subject in. */
  selected(subject: string): boolean;
  progress(text: string): void;
  /** Which backend each started subject says it has. */
  backends: Map<string, string>;
}

export interface CaseResult {
  rows: Row[];
  skips: Skip[];
}

export interface BenchCase {
  name: string;
  subjects: readonly string[];
  run(context: CaseContext): Promise<CaseResult>;
}

export interface Suite {
  name: string;
  cases: readonly BenchCase[];
  goals: readonly Goal[];
  /** Peers that get a ratio column, best known first. */
  ratioPeers: readonly string[];
  sizes(quick: boolean, rounds: number): Sizes;
  environment(sizes: Sizes): Environment;
}

export interface StartedSubject {
  subject: Subject;
  process: SubjectProcess;
}

/** Starts the case's selected subjects; one that cannot start becomes a skip with the reason. */
export async function startSubjects(
  benchCase: { name: string; subjects: readonly string[] },
  context: CaseContext,
  skips: Skip[],
  nodeFlags: readonly string[] = [],
): Promise<StartedSubject[]> {
  const started: StartedSubject[] = [];
  for (const name of benchCase.subjects) {
    if (!context.selected(name)) continue;
    const subject = subjectByName(name);
    try {
      const command = await context.programs.command(subject, nodeFlags);
      const process = await SubjectProcess.start(name, command);
      context.backends.set(name, process.about.get('backend') ?? subject.kind);
      started.push({ subject, process });
    } catch (error) {
      const failed = !(error instanceof SubjectError && error.unavailable);
      skips.push({ case: benchCase.name, subject: name, reason: reasonOf(error), failed });
    }
  }
  return started;
}

export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 3).join(' | ');
}
