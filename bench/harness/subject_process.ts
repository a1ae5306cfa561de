// The harness's side of one subject process: start, one request at a time, stop.
// The process stays alive over all rounds of a case and sleeps in read(2) while others run, so
// that interleaving costs no start-up. Every wait is bounded; a process that does not answer is
// killed by its own handle. Not here: what requests mean (protocol.ts), which come when
// (rounds.ts).
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Command } from './programs.ts';
import { encodeLine, encodeWork, type Message, parseLine, type WorkRequest } from './protocol.ts';

const HELLO_TIMEOUT_MS = 20_000;
const STOP_TIMEOUT_MS = 2_000;
const STDERR_CHARS_MAX = 4_000;

export class SubjectError extends Error {
  readonly code = 'ERR_BENCH_SUBJECT';
  /** The machine lacks what the subject needs (io_uring refused): no defect of the subject. */
  readonly unavailable: boolean;

  constructor(message: string, unavailable = false) {
    super(message);
    this.unavailable = unavailable;
  }
}

export class SubjectProcess {
  readonly name: string;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #lines: Interface;
  readonly #exited: Promise<unknown>;
  #stderr = '';
  #waiting: ((outcome: string | Error) => void) | undefined;
  /** What the process said about itself: backend, versions. */
  about: Message = new Map();

  private constructor(name: string, command: Command) {
    this.name = name;
    this.#child = spawn(command.file, [...command.args], {
      env: { ...process.env, ...command.env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#exited = once(this.#child, 'close').catch(() => undefined);
    this.#lines = createInterface({ input: this.#child.stdout });
    this.#lines.on('line', (line) => this.#settle(line));
    this.#child.stdin.on('error', () => undefined); // the exit is what is reported
    this.#child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-STDERR_CHARS_MAX);
    });
    this.#child.on('error', (error) => this.#settle(error));
    this.#child.on('close', (code, signal) => {
      const why = `${name}: process ended (${signal ?? code}) ${this.#stderr.trim()}`;
      this.#settle(new SubjectError(why));
    });
  }

  static async start(name: string, command: Command): Promise<SubjectProcess> {
    const subject = new SubjectProcess(name, command);
    try {
      subject.about = await subject.#request(encodeLine('hello', []), HELLO_TIMEOUT_MS);
    } catch (error) {
      await subject.stop();
      throw error;
    }
    return subject;
  }

  /** Runs one piece of work; rejects with SubjectError when it fails, ends or takes too long. */
  run(request: WorkRequest, timeoutMs: number): Promise<Message> {
    return this.#request(encodeWork(request), timeoutMs);
  }

  async stop(): Promise<void> {
    this.#child.stdin.end();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    if (this.#child.exitCode === null && this.#child.pid !== undefined) await this.#exited;
    clearTimeout(timer);
    this.#lines.close();
  }

  async #request(line: string, timeoutMs: number): Promise<Message> {
    if (this.#waiting !== undefined) throw new SubjectError(`${this.name}: already busy`);
    const outcome = new Promise<string | Error>((resolve) => {
      this.#waiting = resolve;
    });
    const timer = setTimeout(() => {
      this.#child.kill('SIGKILL');
      this.#settle(new SubjectError(`${this.name}: no answer within ${timeoutMs} ms`));
    }, timeoutMs);
    if (this.#child.exitCode !== null) this.#settle(new SubjectError(`${this.name}: has ended`));
    else this.#child.stdin.write(line);
    const answer = await outcome;
    clearTimeout(timer);
    if (answer instanceof Error) throw answer;
    const { verb, fields } = parseLine(answer);
    if (verb === 'ok') return fields;
    const message = `${this.name}: ${fields.get('message') ?? answer}`;
    throw new SubjectError(message, fields.get('unavailable') === '1');
  }

  #settle(outcome: string | Error): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.(outcome);
  }
}
