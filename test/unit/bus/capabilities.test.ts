// Capabilities: narrowing never widens, bad shapes are named, accessors are read once.
// Not here: enforcement at files (test/integration/file_authority*.test.ts), addresses
// (addresses.test.ts).
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ALL_CAPABILITIES,
  adoptCapabilities,
  type Capabilities,
  type CapabilityOptions,
  fileAuthorityOf,
  narrow,
  requireAddress,
  requireCapability,
} from '../../../lib/bus/capabilities.ts';

const NOTHING: CapabilityOptions = {
  spawn: false,
  cancelOthers: false,
  configure: false,
  lendWorkers: false,
  files: [],
  connect: [],
  listen: [],
};

let folder = '';
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'nephrite-capabilities-')));
  mkdirSync(join(folder, 'a/b'), { recursive: true });
  mkdirSync(join(folder, 'ab'));
  symlinkSync('../ab', join(folder, 'a/out'));
  symlinkSync('a/b', join(folder, 'in'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const at = (name: string): string => join(folder, name);
const code = (call: () => unknown): string => {
  try {
    call();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return 'no error';
};

describe('narrow', () => {
  it('inherits what is absent and is a value that cannot be changed', () => {
    const some = narrow(ALL_CAPABILITIES, { spawn: false, connect: ['Example.COM:443'] });
    expect(some).toMatchObject({ spawn: false, configure: true, files: 'all', listen: 'all' });
    expect(some.connect).toEqual(['example.com:443']);
    expect(() => Object.assign(some, { spawn: true })).toThrow(TypeError);
    expect(() => (some.connect as string[]).push('*:1')).toThrow(TypeError);
    expect(narrow(some, undefined)).toBe(some);
    expect(narrow(some, {})).toEqual(some);
  });

  it('refuses to widen, whatever is asked for', () => {
    const none = narrow(ALL_CAPABILITIES, NOTHING);
    const wanted: CapabilityOptions[] = [
      { spawn: true },
      { cancelOthers: true },
      { configure: true },
      { lendWorkers: true },
      { files: 'all' },
      { files: [{ path: folder }] },
      { connect: 'all' },
      { connect: ['a:1'] },
      { listen: 'all' },
      { listen: ['unix:/tmp/x'] },
    ];
    for (const each of wanted) {
      expect(
        code(() => narrow(none, each)),
        JSON.stringify(each),
      ).toBe('ERR_CAPABILITY_WIDER');
    }
    expect(narrow(none, NOTHING)).toEqual(none);
  });

  it('grants directories below those of the parent, by what they are', () => {
    const parent = narrow(ALL_CAPABILITIES, { files: [{ path: at('a'), write: true }] });
    const child = (path: string, write?: boolean): string =>
      code(() => narrow(parent, { files: [{ path, ...(write === undefined ? {} : { write }) }] }));
    expect(child(at('a'), true)).toBe('no error');
    expect(child(at('a/b'), true)).toBe('no error');
    expect(child(at('in'), true)).toBe('no error');
    for (const path of [
      at('ab'),
      folder,
      at('a/out'),
      at('a/../ab'),
      '/',
      at('a/none'),
      at('no'),
    ]) {
      expect(child(path), path).toBe('ERR_CAPABILITY_WIDER');
    }
    const reading = narrow(parent, { files: [{ path: at('a') }] });
    expect(reading.files).toMatchObject([{ path: at('a'), write: false }]);
    const writing = { files: [{ path: at('a/b'), write: true }] };
    expect(code(() => narrow(reading, writing))).toBe('ERR_CAPABILITY_WIDER');
  });

  it('does not take for a root what has taken its name', () => {
    mkdirSync(at('moved'));
    const parent = narrow(ALL_CAPABILITIES, { files: [{ path: at('moved') }] });
    renameSync(at('moved'), at('gone'));
    mkdirSync(at('moved'));
    const again = { files: [{ path: at('moved') }] };
    expect(code(() => narrow(parent, again))).toBe('ERR_CAPABILITY_WIDER');
  });

  it.each<[unknown, string, string]>([
    [5, 'ERR_INVALID_ARG_TYPE', '"options.capabilities"'],
    [null, 'ERR_INVALID_ARG_TYPE', '"options.capabilities"'],
    [[], 'ERR_INVALID_ARG_TYPE', '"options.capabilities"'],
    [{ spawn: 1 }, 'ERR_INVALID_ARG_TYPE', '"options.capabilities.spawn"'],
    [{ spwan: false }, 'ERR_INVALID_ARG_VALUE', "'options.capabilities.spwan'"],
    [{ files: 'none' }, 'ERR_INVALID_ARG_TYPE', '"options.capabilities.files"'],
    [{ files: null }, 'ERR_INVALID_ARG_TYPE', '"options.capabilities.files"'],
    [{ files: ['/'] }, 'ERR_INVALID_ARG_TYPE', '"options.capabilities.files[0]"'],
    [{ files: [{}] }, 'ERR_INVALID_ARG_TYPE', '"options.capabilities.files[0].path"'],
    [{ files: [{ path: '' }] }, 'ERR_INVALID_ARG_VALUE', "'options.capabilities.files[0].path'"],
    [{ files: [{ path: '/\0' }] }, 'ERR_INVALID_ARG_VALUE', 'files[0].path'],
    [{ files: [{ path: '/no/such' }] }, 'ERR_INVALID_ARG_VALUE', 'files[0].path'],
    [{ files: [{ path: process.execPath }] }, 'ERR_INVALID_ARG_VALUE', 'files[0].path'],
    [{ files: [{ path: '/', write: 1 }] }, 'ERR_INVALID_ARG_TYPE', 'files[0].write'],
    [{ files: [{ path: '/', writable: true }] }, 'ERR_INVALID_ARG_VALUE', 'files[0].writable'],
    [{ connect: [1] }, 'ERR_INVALID_ARG_TYPE', '"options.capabilities.connect[0]"'],
    [{ connect: ['x'] }, 'ERR_INVALID_ARG_VALUE', "'options.capabilities.connect[0]'"],
    [{ listen: new Array(300).fill('a:1') }, 'ERR_OUT_OF_RANGE', 'listen.length'],
  ])('names what is wrong in %j', (wanted, expected, part) => {
    const call = (): unknown => narrow(ALL_CAPABILITIES, wanted as CapabilityOptions);
    expect(code(call)).toBe(expected);
    expect(call).toThrow(part);
  });

  it('reads accessors once, in objects and in arrays', () => {
    const counts = new Map<unknown, number>();
    const watched = <T extends object>(target: T): T =>
      new Proxy(target, {
        get(object, key, receiver) {
          counts.set(key, (counts.get(key) ?? 0) + 1);
          return Reflect.get(object, key, receiver) as unknown;
        },
      });
    let reads = 0;
    const root = {
      get path() {
        return reads++ === 0 ? at('a/b') : '/';
      },
      get write() {
        return reads++ !== 1;
      },
    };
    const wanted = watched({ spawn: false, files: watched([root]) });
    const made = narrow(ALL_CAPABILITIES, wanted);
    expect(made.files).toMatchObject([{ path: at('a/b'), write: false }]);
    for (const key of ['spawn', 'files', '0']) expect(counts.get(key), key).toBe(1);
  });

  it('takes nobody else’s object for capabilities', () => {
    const forged = { ...ALL_CAPABILITIES } as Capabilities;
    expect(code(() => narrow(forged, {}))).toBe('ERR_INVALID_ARG_TYPE');
    const inherited = Object.create(ALL_CAPABILITIES) as Capabilities;
    expect(code(() => narrow(inherited, {}))).toBe('ERR_INVALID_ARG_TYPE');
  });
});

describe('enforcement', () => {
  it('says what was asked for and what is granted', () => {
    const some = narrow(ALL_CAPABILITIES, { ...NOTHING, connect: ['127.0.0.1:*'] });
    const denied = { code: 'ERR_CAPABILITY_DENIED', name: 'CapabilityError' };
    const spawn = { ...denied, capability: 'spawn', given: true, allowed: false };
    expect(() => requireCapability(some, 'spawn')).toThrow(expect.objectContaining(spawn));
    const address = { ...denied, capability: 'connect', given: 'localhost:80' };
    const connect = (): void => requireAddress(some, 'connect', 'localhost:80');
    expect(connect).toThrow(expect.objectContaining(address));
    requireAddress(some, 'connect', '127.0.0.1:80');
    requireCapability(ALL_CAPABILITIES, 'spawn');
    requireAddress(ALL_CAPABILITIES, 'listen', 'anything:1');
  });

  it('has one file authority for all that inherit the same files', () => {
    expect(fileAuthorityOf(ALL_CAPABILITIES)).toBeUndefined();
    const parent = narrow(ALL_CAPABILITIES, { files: [{ path: folder }] });
    const child = narrow(parent, { spawn: false });
    expect(fileAuthorityOf(child)).toBe(fileAuthorityOf(parent));
    expect(fileAuthorityOf(parent)?.allowed).toEqual([`${folder} (read)`]);
  });

  it('survives the way to another thread', () => {
    const sent = narrow(ALL_CAPABILITIES, { files: [{ path: folder }], listen: ['[::1]:*'] });
    const received = adoptCapabilities(structuredClone(sent));
    expect(received).toEqual(sent);
    expect(code(() => narrow(received, { files: 'all' }))).toBe('ERR_CAPABILITY_WIDER');
    expect(() => (received.files as unknown[]).push(1)).toThrow(TypeError);
  });
});
