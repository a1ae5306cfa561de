// Who is measured: one entry per subject name, and how its process is started.
// The backend of nephrite is chosen once per thread, so every variant has a process of its own.
// Not here: what a subject does with a request (bench/subjects, bench/native).

export type Library = 'nephrite' | 'node';
/** How a JavaScript subject does its work: see bench/subjects. */
export type Driver = 'promises' | 'callback' | 'many';
/** Where its buffers come from. */
export type Memory = 'heap' | 'pool';

export interface JavaScriptSubject {
  kind: 'javascript';
  name: string;
  library: Library;
  driver: Driver;
  memory: Memory;
  backend?: 'io_uring' | 'epoll' | 'node';
}

export interface NativeSubject {
  kind: 'native';
  name: string;
  /** bench/native/<program>.c */
  program: 'io_uring' | 'pread';
}

export type Subject = JavaScriptSubject | NativeSubject;

function nephrite(
  variant: string,
  backend: JavaScriptSubject['backend'],
  driver: Driver = 'promises',
  memory: Memory = 'heap',
): Subject {
  const name = variant === '' ? 'nephrite' : `nephrite:${variant}`;
  return { kind: 'javascript', name, library: 'nephrite', driver, memory, backend };
}

/** A process that loads nothing of nephrite; its workload knows it by its name. */
function peer(name: string): Subject {
  return { kind: 'javascript', name, library: 'node', driver: 'promises', memory: 'heap' };
}

export const TIMEOUT_SUBJECT = 'setTimeout';
export const SIGNAL_SUBJECT = 'AbortSignal.timeout';

export const SUBJECTS: readonly Subject[] = [
  nephrite('', 'io_uring'),
  nephrite('pool', 'io_uring', 'promises', 'pool'),
  nephrite('readMany', 'io_uring', 'many'),
  nephrite('statMany', 'io_uring', 'many'),
  nephrite('epoll', 'epoll'),
  nephrite('node', 'node'),
  nephrite('await', 'io_uring'),
  nephrite('als', 'io_uring'),
  peer('fs.promises'),
  ...['promise', 'queueMicrotask', 'setImmediate', 'effect', 'effect:sync', 'effect:yieldNow'].map(
    peer,
  ),
  ...[TIMEOUT_SUBJECT, SIGNAL_SUBJECT].map(peer),
  { kind: 'javascript', name: 'fs.callback', library: 'node', driver: 'callback', memory: 'heap' },
  { kind: 'native', name: 'c:io_uring', program: 'io_uring' },
  { kind: 'native', name: 'c:pread', program: 'pread' },
];

/** Peers of one case only, without a process that does work. */
export const CLOCK_SUBJECTS = ['performance.now', 'process.hrtime', 'Date.now'] as const;
export const EMPTY_MODULE_SUBJECT = 'empty-module';

export const SUBJECT_NAMES: readonly string[] = [
  ...SUBJECTS.map((subject) => subject.name),
  ...CLOCK_SUBJECTS,
  EMPTY_MODULE_SUBJECT,
];

export function subjectByName(name: string): Subject {
  const subject = SUBJECTS.find((candidate) => candidate.name === name);
  if (subject === undefined) throw new Error(`no subject '${name}'`);
  return subject;
}
