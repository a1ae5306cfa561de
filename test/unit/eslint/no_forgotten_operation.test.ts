// Rule no-forgotten-operation: every way to wait or to handle is left alone, every way to import is
// seen, and what syntax cannot tell is not guessed.
import { noForgottenOperation } from '../../../lib/eslint/no_forgotten_operation.ts';
import { ruleTester } from './rule_tester.ts';

const TASK = `import { race, sleep, channel, mutex, semaphore, spawn, waitToken } from 'nephrite';`;
const FS = `import * as fs from 'nephrite/fs'; import { open } from 'nephrite/fs';`;

/** A report without a suggestion, of the call named. */
function forgotten(code: string, name: string) {
  return { code, errors: [{ messageId: 'forgotten', data: { name } }] };
}

/** A report whose suggestion puts `word` in front of the statement. */
function waits(head: string, statement: string, tail: string, word: 'await' | 'yield*') {
  const messageId = word === 'await' ? 'addAwait' : 'addYield';
  const suggestions = [{ messageId, output: `${head}${word} ${statement}${tail}` }];
  return { code: head + statement + tail, errors: [{ messageId: 'forgotten', suggestions }] };
}

ruleTester.run('no-forgotten-operation', noForgottenOperation, {
  valid: [
    `${TASK} await sleep(1);`,
    `${TASK} function* t() { yield* sleep(1); }`,
    `${TASK} function t() { return sleep(1); }`,
    `${TASK} const t = () => sleep(1);`,
    `${TASK} const pause = sleep(1);`,
    `${TASK} let pause; pause = sleep(1);`,
    `${TASK} f(sleep(1)); f([sleep(1)]);`,
    `${TASK} sleep(1).catch(report);`,
    `${TASK} sleep(1).then(done, report);`,
    `${TASK} sleep(1).then(done).catch(report);`,
    `${TASK} sleep(1).cancel();`,
    `${TASK} void sleep(1);`,
    `${TASK} spawn(function* () {});`,
    `${TASK} ready && (await sleep(1));`,
    `${FS} fs.watch('a'); fs.buffers.alloc(1);`,
    `${FS} const file = await open('a'); file.fd; await file.read(buffer);`,
    `${FS} let file = await open('a'); file = other; file.read();`,
    `function f(file) { file.read(); } ${FS}`,
    `import { sleep } from 'elsewhere'; sleep(1);`,
    `import { readFile } from 'node:fs'; readFile('a', done);`,
    `${TASK} { const sleep = () => {}; sleep(1); }`,
    `${TASK} function f(sleep) { sleep(1); }`,
    `const { sleep } = require('elsewhere'); sleep(1);`,
  ],
  invalid: [
    waits(`${TASK} `, 'sleep(1);', '', 'await'),
    waits(`${TASK} function* t() { `, 'sleep(1);', ' }', 'yield*'),
    waits(`${TASK} async function t() { `, 'race([]);', ' }', 'await'),
    waits(`${TASK} async function* t() { `, 'race([]);', ' }', 'await'),
    waits(`${TASK} `, 'sleep(1).then(done);', '', 'await'),
    waits(`${TASK} `, 'sleep(1).then(g).finally(h);', '', 'await'),
    forgotten(`${TASK} function t() { sleep(1); }`, 'sleep'),
    forgotten(`${TASK} a && sleep(1);`, 'sleep'),
    forgotten(`${FS} const file = await open('a'); a && file?.close();`, 'file.close'),
    forgotten(`${TASK} a ? sleep(1) : b;`, 'sleep'),
    forgotten(`${TASK} sleep(1), a;`, 'sleep'),
    forgotten(`${TASK} class A { static { sleep(1); } }`, 'sleep'),
    waits(`${FS} `, `fs.unlink('a');`, '', 'await'),
    waits(`${FS} `, `fs['unlink']('a');`, '', 'await'),
    waits(`${FS} const file = await open('a'); `, 'file.close();', '', 'await'),
    waits(`${FS} const file = await open('a'); `, 'file?.close();', '', 'await'),
    waits(`${FS} function* t() { const f = yield* open('a'); `, 'f.sync();', ' }', 'yield*'),
    waits(
      `${FS} async function t() { await using f = await open('a'); `,
      'f.sync();',
      ' }',
      'await',
    ),
    waits(`import fs from 'nephrite/fs'; `, `fs.mkdir('a');`, '', 'await'),
    waits(`import { sleep as pause } from 'nephrite'; `, 'pause(1);', '', 'await'),
    waits(`const fs = await import('nephrite/fs'); `, `fs.mkdir('a');`, '', 'await'),
    waits(`const { mkdir: make } = await import('nephrite/fs'); `, `make('a');`, '', 'await'),
    waits(`${TASK} const lane = channel(1); `, 'lane.send(1);', '', 'await'),
    waits(`${TASK} const door = mutex(); `, 'door.lock();', '', 'await'),
    waits(`${TASK} const places = semaphore(2); `, 'places.acquire();', '', 'await'),
    waits(`${TASK} const task = spawn(body); `, 'task.join();', '', 'await'),
    waits(`${TASK} const token = waitToken(); `, 'token.wait();', '', 'await'),
    {
      code: `const { sleep } = require('nephrite'); sleep(1);`,
      languageOptions: { sourceType: 'commonjs' },
      errors: [{ messageId: 'forgotten' }],
    },
  ],
});
