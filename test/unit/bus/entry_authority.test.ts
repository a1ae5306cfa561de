// An entry can be the first to restrict a task of the process: its async body keeps its authority
// over an `await`. Alone in its file, since `rt.with({ capabilities })` would have switched that on.
import { expect, it } from 'vitest';
import { readFile } from '../../../lib/fs.ts';
import { Runtime, sleep } from '../../../lib/index.ts';

it('an async body that an entry has restricted is so after its first await', async () => {
  const rt = await Runtime.start();
  const body = async (): Promise<unknown> => {
    await sleep(1);
    return await readFile('/');
  };
  const entry = { opcode: 1, subcode: 0, arguments: [body, [], { rights: { files: [] } }] };
  const task = rt.bus.execute(entry) as ReturnType<typeof rt.spawn>;
  const denied = { code: 'ERR_CAPABILITY_DENIED' };
  await expect(Promise.resolve(task.join())).rejects.toMatchObject(denied);
  await rt.close({ deadline: 0 });
});
