// Fs oracle: one call on Node's fs and on ours, each in a folder of its own with the same content;
// what comes back and what the folders hold afterwards must be equal.
// Owner: one test. Invariants: errors are compared field by field (name, code, errno, syscall,
// path, dest, message), values with the folder's own name taken out.
// Not here: which functions there are (test/conformance/fs_*.test.ts).
import * as fs from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'vitest';
import type { FsLab } from './fs_lab.ts';

/** Functions by name, callable with anything: bad arguments are tested too. */
export type AnyFs = Record<string, (...args: unknown[]) => Promise<unknown>>;

export interface Outcome {
  readonly value?: unknown;
  readonly error?: Readonly<Record<string, unknown>>;
}

export interface OracleOptions {
  /** Fills a folder. */
  readonly setup?: (folder: string) => void;
  /** Modification times are part of what is compared; default false. */
  readonly withTimes?: boolean;
  /** Adjusts an outcome: what is random, or not the same by nature. */
  readonly adjust?: (outcome: Outcome) => Outcome;
  /** The argument errors of Node's C++ differ by version: compare without their message. */
  readonly ignoreMessage?: boolean;
}

const ERROR_FIELDS = ['name', 'code', 'errno', 'syscall', 'path', 'dest', 'message'] as const;

/** The value or the error's fields, without the folder's name. */
export async function outcomeOf(call: () => Promise<unknown>, folder: string): Promise<Outcome> {
  try {
    return { value: plain(await call(), folder) };
  } catch (error) {
    const fields: Record<string, unknown> = {};
    for (const field of ERROR_FIELDS) {
      const value = (error as Record<string, unknown>)[field];
      if (value !== undefined) fields[field] = plain(value, folder);
    }
    return { error: fields };
  }
}

function plain(value: unknown, folder: string): unknown {
  if (typeof value === 'string') return value.replaceAll(folder, '<folder>');
  if (Buffer.isBuffer(value)) {
    return `<Buffer ${plain(value.toString('latin1'), folder)}>`;
  }
  if (Array.isArray(value)) return value.map((each) => plain(each, folder));
  if (value instanceof fs.Dirent) {
    const kinds = ['File', 'Directory', 'SymbolicLink', 'FIFO', 'Socket', 'BlockDevice'] as const;
    const kind = kinds.filter((each) => value[`is${each}`]());
    const { name, parentPath } = value as fs.Dirent & { parentPath: string };
    return { name: plain(name, folder), parentPath: plain(parentPath, folder), kind };
  }
  return value;
}

/** libuv cuts times to microseconds in Node 20, not in Node 24: what is finer is not compared. */
const rounded = (ms: number): number => Math.round(ms * 100) / 100;

/** What a folder holds: kind, mode, content or target of everything. */
export function snapshot(folder: string, withTimes = false): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  const visit = (path: Buffer): void => {
    for (const name of fs.readdirSync(path, 'buffer')) {
      const child = Buffer.concat([path, Buffer.from('/'), name]);
      const stats = fs.lstatSync(child);
      const key = relative(folder, child.toString('latin1'));
      found[key] = {
        mode: stats.mode.toString(8),
        nlink: stats.nlink,
        ...(stats.isFile() ? { content: fs.readFileSync(child, 'latin1') } : {}),
        ...(stats.isSymbolicLink()
          ? { target: plain(fs.readlinkSync(child, 'latin1'), folder) }
          : {}),
        ...(withTimes ? { atimeMs: rounded(stats.atimeMs), mtimeMs: rounded(stats.mtimeMs) } : {}),
      };
      if (stats.isDirectory()) visit(child);
    }
  };
  visit(Buffer.from(folder));
  return found;
}

/** Runs `call` on both and compares. Gives our outcome. */
export async function expectSame(
  lab: FsLab,
  call: (fs: AnyFs, folder: string) => Promise<unknown>,
  options: OracleOptions = {},
): Promise<Outcome> {
  const results: { outcome: Outcome; held: Record<string, unknown> }[] = [];
  for (const [who, api] of [
    ['node', fs.promises],
    ['ours', lab.fs],
  ] as const) {
    const folder = join(lab.folder, who);
    fs.mkdirSync(folder);
    options.setup?.(folder);
    const outcome = await outcomeOf(() => call(api as unknown as AnyFs, folder), folder);
    if (options.ignoreMessage && outcome.error)
      delete (outcome.error as { message?: unknown }).message;
    const held = snapshot(folder, options.withTimes);
    results.push({ outcome: options.adjust?.(outcome) ?? outcome, held });
    fs.rmSync(folder, { recursive: true });
  }
  const [node, ours] = results;
  expect(ours.outcome).toEqual(node.outcome);
  expect(ours.held).toEqual(node.held);
  return ours.outcome;
}

/**
 * As expectSame(), for a call that must fail with `code`: agreeing on success would prove nothing.
 */
export async function expectSameError(
  lab: FsLab,
  code: string,
  call: (fs: AnyFs, folder: string) => Promise<unknown>,
  options: OracleOptions = {},
): Promise<void> {
  const outcome = await expectSame(lab, call, options);
  expect(outcome.error?.code).toBe(code);
}
