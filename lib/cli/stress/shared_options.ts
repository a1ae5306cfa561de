// Options that every target of `nephrite stress` has, with the same words.
// Owner: these tables. Invariants: an option means the same for all targets.
// Not here: --fail-if and --duration, whose words differ from target to target.
import type { OptionSpec } from '../args.ts';

export const SEED_OPTION: OptionSpec = {
  name: 'seed',
  kind: 'value',
  placeholder: 'N',
  defaultText: 'random, printed; or NEPHRITE_SEED',
  summary: 'content and order of operations, 0 to 4294967295',
};

export const DIR_OPTION: OptionSpec = {
  name: 'dir',
  kind: 'value',
  placeholder: 'FOLDER',
  defaultText: "the system's temporary folder",
  summary: 'where to make the temporary folder: this chooses the disk under test',
};

export const JSON_OPTION: OptionSpec = {
  name: 'json',
  kind: 'optionalValue',
  placeholder: 'FILE',
  summary: 'write the result as JSON to FILE, or to standard output',
};

export const HTML_OPTION: OptionSpec = {
  name: 'html',
  kind: 'value',
  placeholder: 'FILE',
  summary: 'write a self-contained page with the latency distribution and rate over time',
};

export const QUIET_OPTION: OptionSpec = {
  name: 'quiet',
  kind: 'flag',
  short: 'q',
  summary: 'no progress, and no report unless something failed',
};

export const BACKEND_OPTION: OptionSpec = {
  name: 'backend',
  kind: 'value',
  placeholder: 'NAME',
  defaultText: 'the best that works; or NEPHRITE_BACKEND',
  summary: 'io_uring, epoll or node; a named backend is never replaced silently',
};

export const RAMP_OPTION: OptionSpec = {
  name: 'ramp',
  kind: 'value',
  placeholder: 'TIME',
  defaultText: '500ms',
  summary: 'warm-up before measuring, checked but not counted',
};
