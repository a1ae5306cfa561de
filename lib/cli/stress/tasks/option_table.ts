// The options of `nephrite stress tasks`: the one source of parsing, --help and docs/cli.md.
// Owner: this table. Invariants: what is listed exists. Not here: reading values (options.ts).
import type { CommandSpec } from '../../args.ts';
import {
  BACKEND_OPTION,
  DIR_OPTION,
  HTML_OPTION,
  JSON_OPTION,
  QUIET_OPTION,
  RAMP_OPTION,
  SEED_OPTION,
} from '../shared_options.ts';
import { DEFAULT_MIX, describeMix } from './mix.ts';

export const TASKS_COMMAND: CommandSpec = {
  name: 'stress tasks',
  usage: 'nephrite stress tasks [options]',
  summary: 'run trees of tasks that wait, read, fail and are cancelled, and lose none',
  description: [
    'Runs trees of tasks on a runtime for a while. Inner tasks spawn children and join them; leaves',
    'do what --mix says: compute with checkpoints, sleep, read a file, pass values through a channel,',
    'cancel a task that would never end, run into a timeout, throw, wait in an async function.',
    'What each task must come to is known before it is spawned. Checks that each has exactly one',
    'outcome and the right one, counted by the program and again from the bus of the runtime; that',
    'errors, values and reasons arrive as they are; that `finally` blocks run once; that every byte',
    'read is right; and that nothing is left at the end. An operation is a task, its latency the time',
    'from its spawn to its outcome.',
  ],
  options: [
    {
      name: 'mix',
      kind: 'value',
      placeholder: 'KIND=N,...',
      defaultText: describeMix(DEFAULT_MIX),
      summary: 'what leaves do, in shares; kinds that are not named do not occur',
    },
    {
      name: 'depth',
      kind: 'value',
      placeholder: 'N',
      defaultText: '16',
      summary: 'trees in flight, 1 to 10000',
    },
    {
      name: 'levels',
      kind: 'value',
      placeholder: 'N',
      defaultText: '3',
      summary: 'levels of children below the root of a tree, 0 to 8',
    },
    {
      name: 'fanout',
      kind: 'value',
      placeholder: 'N',
      defaultText: '5',
      summary: 'children of an inner task, 1 to this many, at most 64',
    },
    {
      name: 'duration',
      kind: 'value',
      placeholder: 'TIME',
      defaultText: '10s',
      summary: 'time during which trees are started (500ms, 10s, 2m)',
    },
    RAMP_OPTION,
    {
      name: 'verify',
      kind: 'flag',
      isNegatable: true,
      defaultText: 'on',
      summary: 'follow every task on the bus; --no-verify leaves the counting to the program alone',
    },
    SEED_OPTION,
    DIR_OPTION,
    BACKEND_OPTION,
    {
      name: 'fail-if',
      kind: 'value',
      placeholder: 'CONDITION',
      isRepeatable: true,
      defaultText: "'errors>0'",
      summary:
        "exit with 1 if it holds: 'p99>5ms', 'ops<10000'; metrics: ops, mib, errors, p50, p90, " +
        'p99, p99.9, p99.99, max, mean, cpu (time per task), syscalls (per task)',
    },
    JSON_OPTION,
    HTML_OPTION,
    QUIET_OPTION,
  ],
  examples: [
    ['nephrite stress tasks', '10 seconds of everything'],
    ['nephrite stress tasks --mix compute=1 --depth 1000', 'computing tasks only, many trees'],
    [
      'nephrite stress tasks --mix cancel=3,timeout=1 --seed 7',
      'cancellation, the same every time',
    ],
  ],
  notes: [
    'A task that sleeps or reads is in the latency with all its waiting: compare runs of one mix. The\n' +
      'JSON is that of `stress files`, with `checks` (`what`, `count`, `violationCount`, `violations`) in\n' +
      'the subject; `operationsByKind` counts tasks by what they did.',
  ],
};
