// What `nephrite bench` is, for help and docs.
// Owner: this table. Invariants: bench options are the repository's own; none are listed here that
// this command would have to keep in step with.
// Not here: starting the benchmark (command.ts), the benchmarks (bench/ of the repository).
import type { CommandSpec } from '../args.ts';

export const BENCH_COMMAND: CommandSpec = {
  name: 'bench',
  usage: 'nephrite bench NAME [options of the benchmark]',
  summary: "run one of the repository's benchmarks (needs a source checkout)",
  description: [
    'Benchmarks compare nephrite with its peers in one interleaved run. They are part of the source',
    'repository, not of the npm package. Everything behind `bench` goes to the benchmark as it is;',
    '`nephrite bench NAME --quick` ends within a minute.',
  ],
  options: [],
  examples: [['nephrite bench files --quick', 'files: nephrite, node:fs and C, within a minute']],
};
