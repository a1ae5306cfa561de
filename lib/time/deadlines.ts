// Deadlines: one-shot timers for operations, all on one Node timer per thread.
// Owner: one thread. Invariants: never early (the real clock is read again when the timer fires,
// since libuv's cached time can be ahead); right beyond 2^31 ms, where setTimeout would fire at
// once; O(log n) to arm and to cancel; nothing ticks when nothing is armed.
// Not here: periodic work and sleeping tasks (they get a timer wheel).

// Node's timers hold 31 bits; longer waits are re-armed.
const TIMER_MS_MAX = 2 ** 31 - 1;

export interface Deadline {
  readonly atMs: number;
  readonly onExpired: () => void;
  /** Position in the heap, -1 when not armed. */
  index: number;
}

const heap: Deadline[] = [];
let timer: NodeJS.Timeout | undefined;
let timerAtMs = Infinity;

function place(deadline: Deadline, index: number): void {
  heap[index] = deadline;
  deadline.index = index;
}

function siftUp(deadline: Deadline): void {
  let index = deadline.index;
  while (index > 0) {
    const parentIndex = (index - 1) >> 1;
    const parent = heap[parentIndex];
    if (parent.atMs <= deadline.atMs) break;
    place(parent, index);
    index = parentIndex;
  }
  place(deadline, index);
}

function siftDown(deadline: Deadline): void {
  let index = deadline.index;
  for (;;) {
    let childIndex = 2 * index + 1;
    if (childIndex >= heap.length) break;
    const right = childIndex + 1;
    if (right < heap.length && heap[right].atMs < heap[childIndex].atMs) childIndex = right;
    if (heap[childIndex].atMs >= deadline.atMs) break;
    place(heap[childIndex], index);
    index = childIndex;
  }
  place(deadline, index);
}

function schedule(nowMs: number): void {
  const first = heap[0];
  if (first === undefined) {
    clearTimeout(timer);
    timer = undefined;
    timerAtMs = Infinity;
    return;
  }
  // A timer that is early is left alone: it looks again. One re-arm serves many cancels.
  if (timer !== undefined && timerAtMs <= first.atMs) return;
  clearTimeout(timer);
  const delayMs = Math.min(Math.max(Math.ceil(first.atMs - nowMs), 1), TIMER_MS_MAX);
  timerAtMs = nowMs + delayMs;
  timer = setTimeout(expire, delayMs);
}

function expire(): void {
  timer = undefined;
  timerAtMs = Infinity;
  const nowMs = performance.now();
  try {
    for (let first = heap[0]; first !== undefined && first.atMs <= nowMs; first = heap[0]) {
      cancelDeadline(first);
      first.onExpired();
    }
  } finally {
    // Also when one of them throws: the others have not expired for nothing.
    schedule(nowMs);
  }
}

/** Calls `onExpired` once, `delayMs` from now or later. Infinity never expires. */
export function armDeadline(delayMs: number, onExpired: () => void): Deadline {
  const nowMs = performance.now();
  const deadline = { atMs: nowMs + delayMs, onExpired, index: -1 };
  if (delayMs === Infinity) return deadline;
  deadline.index = heap.length;
  heap.push(deadline);
  siftUp(deadline);
  schedule(nowMs);
  return deadline;
}

/** No effect when it has expired or was cancelled. */
export function cancelDeadline(deadline: Deadline): void {
  const { index } = deadline;
  if (index < 0) return;
  deadline.index = -1;
  const last = heap.pop();
  if (last !== undefined && last !== deadline) {
    last.index = index;
    siftUp(last);
    siftDown(last);
  }
  if (heap.length === 0) schedule(0);
}

/** Armed deadlines of this thread. */
export function deadlineCount(): number {
  return heap.length;
}
