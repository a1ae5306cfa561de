// The options of `nephrite stress timers`: the one source of parsing, --help and docs/cli.md.
// Owner: this table. Invariants: what is listed exists. Not here: reading values (options.ts).
import type { CommandSpec } from '../../args.ts';
import {
  BACKEND_OPTION,
  HTML_OPTION,
  JSON_OPTION,
  QUIET_OPTION,
  RAMP_OPTION,
  SEED_OPTION,
} from '../shared_options.ts';

export const TIMERS_COMMAND: CommandSpec = {
  name: 'stress timers',
  usage: 'nephrite stress timers [options]',
  summary: 'arm, cancel and fire timers by the million, and miss none',
  description: [
    'Keeps a number of timers armed on a runtime for a while: each waits a delay that is drawn from',
    'a distribution, some are cancelled before, the rest fire. Checks that none fires early, that',
    'each one ends exactly once, and that the runtime says the same on its bus. Reports the rate,',
    'and how late timers were. Timers that would outlive the run are always cancelled.',
    '',
    'Delays: short (0 to 20 ms), mixed (a tenth 0 ms, half short or up to a second, the rest up to',
    '30 days), long (1 s to 800 days; all but a few are cancelled).',
  ],
  options: [
    {
      name: 'delays',
      kind: 'value',
      placeholder: 'NAME',
      defaultText: 'mixed',
      summary: 'short, mixed or long',
    },
    {
      name: 'depth',
      kind: 'value',
      placeholder: 'N',
      defaultText: '10000',
      summary: 'timers armed at a time, 1 to 1m',
    },
    {
      name: 'cancel',
      kind: 'value',
      placeholder: 'PERCENT',
      defaultText: '50',
      summary: 'share of timers that are cancelled although they would fire in time',
    },
    {
      name: 'rate',
      kind: 'value',
      placeholder: 'N',
      defaultText: 'as fast as --depth allows',
      summary: 'timers armed per second at most, so that the thread has time to spare',
    },
    {
      name: 'duration',
      kind: 'value',
      placeholder: 'TIME',
      defaultText: '10s',
      summary: 'time during which timers are armed (500ms, 10s, 2m)',
    },
    RAMP_OPTION,
    SEED_OPTION,
    BACKEND_OPTION,
    {
      name: 'fail-if',
      kind: 'value',
      placeholder: 'CONDITION',
      isRepeatable: true,
      defaultText: "'errors>0'",
      summary:
        "exit with 1 if it holds: 'p99>5ms', 'ops<10000'; metrics: ops, errors, p50, p90, p99, " +
        'p99.9, p99.99, max, mean (lateness), cpu (time per timer)',
    },
    JSON_OPTION,
    HTML_OPTION,
    QUIET_OPTION,
  ],
  examples: [
    ['nephrite stress timers', '10 seconds, 10,000 timers at a time'],
    [
      'nephrite stress timers --delays short --rate 100k --fail-if "p99>3ms"',
      'how late, not busy?',
    ],
    ['nephrite stress timers --delays long --depth 1m', 'a million that are nearly all cancelled'],
  ],
  notes: [
    'Without `--rate` the thread arms as fast as it can and is never idle: lateness then contains the\n' +
      'work of arming and cancelling. The JSON is that of `stress files`, with `checks` (`what`, `count`,\n' +
      '`violationCount`, `violations`) in the subject; latencies are the lateness of timers that fired.',
  ],
};
