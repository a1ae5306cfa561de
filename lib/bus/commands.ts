// Commands: every id of the RuntimeBus, in one file (S-19). Numbers are for good: new ones are
// added, none is reused. docs/commands.md is generated from this table.
// Owner: none, constants. Invariants: opcodes below TRACE_FIRST can be submitted; those from it on
// are what the scheduler decides itself, written to the tap so that a recorded run replays exactly.
// Not here: what they do (runtime_bus.ts).

/** Raised when the meaning of an id changes. Recordings carry it. */
export const COMMANDS_VERSION = 1;

export const TRACE_FIRST = 64;

export interface CommandDefinition {
  readonly opcode: number;
  readonly name: string;
  /** Subcodes by number. */
  readonly subcodes: readonly string[];
  /** Arguments of the generic entry, in order. */
  readonly arguments: readonly string[];
  readonly what: string;
  /** The capability that the issuer needs. */
  readonly capability?: 'spawn' | 'cancelOthers' | 'configure';
}

export const OP_SPAWN = 1;
export const OP_WAIT = 2;
export const OP_YIELD = 3;
export const OP_WAKE = 4;
export const OP_RESUME = 5;
export const OP_CANCEL = 6;
export const OP_QUERY_CANCELLATION = 7;
export const OP_REGISTER_ENGINE = 8;
export const OP_UPDATE_ENGINE = 9;

export const OP_DISPATCH = 64;
export const OP_PREEMPT = 65;
export const OP_COMPLETE = 66;
export const OP_EXPIRE = 67;
export const OP_PARK = 68;
export const OP_GO_ON = 69;
export const OP_CLOSE = 70;

/** Why a task gave way. */
export const PREEMPT_REDUCTIONS = 0;
export const PREEMPT_TIME = 1;

export const WAKE_SETTLED = 0;
export const WAKE_TOKEN = 1;

export const COMMANDS: readonly CommandDefinition[] = [
  {
    opcode: OP_SPAWN,
    name: 'spawn',
    subcodes: ['local'],
    arguments: ['body', 'args', 'settings'],
    what: 'Creates a task and makes it runnable. Result: the task.',
    capability: 'spawn',
  },
  {
    opcode: OP_WAIT,
    name: 'wait',
    subcodes: ['operation'],
    arguments: ['taskId', 'waitable'],
    what: 'Registers what the running task waits for; it becomes waiting.',
  },
  {
    opcode: OP_YIELD,
    name: 'yield',
    subcodes: ['checkpoint'],
    arguments: ['taskId'],
    what: 'The running task gives way and goes to the end of its queue.',
  },
  {
    opcode: OP_WAKE,
    name: 'wake',
    subcodes: ['settled', 'token'],
    arguments: ['taskId | token', 'value'],
    what: 'What a task waits for has settled (it becomes runnable), or a wait token is woken.',
  },
  {
    opcode: OP_RESUME,
    name: 'resume',
    subcodes: ['async'],
    arguments: [],
    what: 'An async body that passed a checkpoint gets its turn.',
  },
  {
    opcode: OP_CANCEL,
    name: 'cancel',
    subcodes: ['request'],
    arguments: ['taskId', 'reason'],
    what: 'Requests cancellation; sticky. Result: whether the request was new.',
    capability: 'cancelOthers',
  },
  {
    opcode: OP_QUERY_CANCELLATION,
    name: 'query cancellation',
    subcodes: ['requested'],
    arguments: ['taskId'],
    what: 'Whether cancellation of the task was requested.',
  },
  {
    opcode: OP_REGISTER_ENGINE,
    name: 'register engine',
    subcodes: ['config'],
    arguments: ['config'],
    what: 'Registers an EngineRuntimeConfig.',
    capability: 'configure',
  },
  {
    opcode: OP_UPDATE_ENGINE,
    name: 'update engine',
    subcodes: ['config'],
    arguments: ['engineId', 'changes'],
    what: 'Changes the configuration of a registered engine, from its tasks’ next slice on.',
    capability: 'configure',
  },
  {
    opcode: OP_DISPATCH,
    name: 'dispatch',
    subcodes: ['first', 'again'],
    arguments: ['taskId'],
    what: 'The scheduler gives the task a slice.',
  },
  {
    opcode: OP_PREEMPT,
    name: 'preempt',
    subcodes: ['reductions', 'time'],
    arguments: ['taskId', 'reductions'],
    what: 'The budget of the slice was spent.',
  },
  {
    opcode: OP_COMPLETE,
    name: 'complete',
    subcodes: ['success', 'failure', 'trap', 'cancelled'],
    arguments: ['taskId'],
    what: 'The task has its outcome.',
  },
  {
    opcode: OP_EXPIRE,
    name: 'expire',
    subcodes: ['timers'],
    arguments: ['count'],
    what: 'Timers of an engine have fired.',
  },
  {
    opcode: OP_PARK,
    name: 'park',
    subcodes: ['idle'],
    arguments: [],
    what: 'Nothing is runnable: the thread returns to its event loop.',
  },
  {
    opcode: OP_GO_ON,
    name: 'go on',
    subcodes: ['async'],
    arguments: ['count'],
    what: 'Async bodies at a checkpoint get their turn.',
  },
  {
    opcode: OP_CLOSE,
    name: 'close',
    subcodes: ['begin'],
    arguments: [],
    what: 'The runtime takes no more tasks.',
  },
];

const byOpcode = new Map(COMMANDS.map((command) => [command.opcode, command]));

export function commandOf(opcode: number): CommandDefinition | undefined {
  return byOpcode.get(opcode);
}
