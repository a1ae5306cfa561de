// A runtime that is idle, or done, in a process of its own. Argument: what it has to do.
// Prints 'ready' when there is nothing left to run. Not here: what is measured (s04.test.ts).
import * as fs from '../../../lib/fs.ts';
import { Runtime, sleep, waitToken } from '../../../lib/index.ts';

const rt = await Runtime.start({ engines: [{ engineId: 'other', timerWheelConfig: {} }] });
const what = process.argv[2];

// The poller has been in use.
await rt.run(function* () {
  yield* fs.readFile(process.argv[1]);
  yield* sleep(1);
});

if (what === 'idle') {
  for (let count = 0; count < 1000; count++) {
    rt.spawn(function* () {
      yield* waitToken().wait();
    });
  }
  rt.spawn(function* () {
    yield* sleep(Infinity);
  });
  rt.spawn(async () => {
    await waitToken().wait();
  });
  // Something of the user's that keeps the process alive and does nothing.
  setTimeout(() => {}, 2 ** 30);
} else if (what === 'deadline') {
  const deadline = rt.clock.now() + 180_000;
  await rt.with({ deadline }).run(function* () {
    yield* sleep(1);
  });
} else if (what === 'engines') {
  rt.with({ engine: 'other' }).spawn(function* () {
    yield* sleep(200);
    console.log('other is done');
  });
  await rt.run(function* () {
    yield* sleep(10);
  });
} else if (what === 'tokens') {
  rt.spawn(function* () {
    yield* waitToken().wait();
  });
}
setImmediate(() => setImmediate(() => console.log('ready')));
