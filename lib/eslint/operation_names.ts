// What returns an Operation (or a generator that does nothing unless it is waited for), by name:
// the rules see syntax, not types. Owner: none, constants.
// Invariants: a test compares the lists with what the entries and classes export, so a new public
// function is decided here or the suite fails.
// Not here: how a name in a user's file is traced to its import (origins.ts).

const FILE_METHODS = [
  'read',
  'write',
  'readv',
  'writev',
  'stat',
  'readFile',
  'writeFile',
  'appendFile',
  'sync',
  'datasync',
  'truncate',
  'chmod',
  'chown',
  'utimes',
  'allocate',
  'close',
];
const TASK_METHODS = ['join', 'settled'];

/** Functions of each entry whose result has to be waited for. */
export const OPERATION_FUNCTIONS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [
    'nephrite',
    new Set([
      'all',
      'checkpoint',
      'fromEvent',
      'fromPromise',
      'race',
      'scope',
      'sleep',
      'sleepUntil',
      'uncancellable',
      'withDeadline',
      'withTimeout',
    ]),
  ],
  [
    'nephrite/fs',
    new Set([
      'access',
      'appendFile',
      'chmod',
      'chown',
      'copyFile',
      'cp',
      'lchmod',
      'lchown',
      'link',
      'lstat',
      'lutimes',
      'mkdir',
      'mkdtemp',
      'mkdtempDisposable',
      'open',
      'opendir',
      'readFile',
      'readMany',
      'readdir',
      'readlink',
      'realpath',
      'rename',
      'rm',
      'rmdir',
      'stat',
      'statMany',
      'statfs',
      'symlink',
      'truncate',
      'unlink',
      'utimes',
      'writeFile',
    ]),
  ],
]);

/** Functions that make an object with such methods: `const file = await open(path)`. */
export const OPERATION_METHODS: ReadonlyMap<
  string,
  ReadonlyMap<string, ReadonlySet<string>>
> = new Map([
  [
    'nephrite',
    new Map([
      ['channel', new Set(['send', 'receive', 'receiveOrClosed'])],
      ['mutex', new Set(['lock'])],
      ['semaphore', new Set(['acquire'])],
      ['spawn', new Set(TASK_METHODS)],
      ['spawnLocal', new Set(TASK_METHODS)],
      ['waitToken', new Set(['wait'])],
    ]),
  ],
  ['nephrite/fs', new Map([['open', new Set(FILE_METHODS)]])],
]);
