// SchedulerHost: what a scheduler needs of the thread around it: turns, alarms, the poller. The
// real one is ThreadHost (thread_host.ts); the test runtime has another, on virtual time.
// Owner: none, types only.
import type { Task } from '../task/task.ts';
import type { Clock } from '../time/timer_port.ts';

export interface SchedulerHost {
  readonly clock: Clock;
  /** Calls `turn` soon; the event loop need not come first. */
  arm(turn: () => void): void;
  /** Calls `turn` after the event loop had its turn. */
  armAfterEventLoop(turn: () => void): void;
  /** A turn is wanted at that time of the clock, or a little later. */
  setAlarm(deadlineMs: number): void;
  /** Whether alarms keep the process alive. */
  keepAlive(isKept: boolean): void;
  enterTurn(): void;
  leaveTurn(): void;
  /** Around the slices of tasks with fewer capabilities than all: the authority over files. */
  enterTask(task: Task): void;
  leaveTask(): void;
  /** Phase 1: completions that are there. */
  drainCompletions(): void;
  /** Phase 5: what tasks have started goes to the kernel. */
  submit(): void;
  /** A failure that nobody has asked for so far; reported if that stays so. */
  reportLater(task: Task): void;
  /** The last task has ended. */
  becameIdle(): void;
}
