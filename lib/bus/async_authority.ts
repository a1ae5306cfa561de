// The file authority of async bodies, whose continuations run outside of a dispatch.
// Owner: module state of io/authority.ts. Invariants: asked only once some task is restricted, so
// that path operations cost nothing more before.
// Not here: what the scheduler sets at a dispatch (scheduler/thread_host.ts).
import { operationOwner } from '../base/operation_owner.ts';
import { setAsyncFileAuthority } from '../io/authority.ts';
import { currentAsyncTask } from '../task/current.ts';
import { type Capabilities, fileAuthorityOf } from './capabilities.ts';

/** From the first restricted task on: async bodies keep their authority over an `await`. */
export function followAsyncAuthority(): void {
  setAsyncFileAuthority(() => {
    // A dispatched task has been set, or is not restricted.
    const task = operationOwner.current === undefined ? currentAsyncTask() : undefined;
    return task === undefined ? undefined : fileAuthorityOf(task.rights as Capabilities);
  });
}
