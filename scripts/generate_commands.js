// Generates docs/commands.md from the table of commands in lib/bus/commands.ts.
//   node scripts/generate_commands.js            compares with the committed page; 1 if not equal
//   node scripts/generate_commands.js --write    writes it
// Invariants: nothing is written without --write; what the page says comes from the table alone.
// Not here: what commands do (lib/bus/runtime_bus.ts).
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = join(root, 'docs', 'commands.md');

async function loadCommands() {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['lib/bus/commands.ts'],
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
  });
  /** @type {typeof import('../lib/bus/commands.ts')} */
  const loaded = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
  return loaded;
}

/** @param {readonly import('../lib/bus/commands.ts').CommandDefinition[]} commands */
function table(commands) {
  const rows = commands.map((command) => {
    const subcodes = command.subcodes.map((name, code) => `${code} ${name}`).join(', ');
    const given = command.arguments.join(', ').replaceAll('|', 'or') || 'none';
    const { opcode, name, capability = 'none', what } = command;
    return `| ${opcode} | ${name} | ${subcodes} | ${given} | ${capability} | ${what} |`;
  });
  return [
    '| opcode | command | subcodes | arguments | capability | what it does |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

/** @param {typeof import('../lib/bus/commands.ts')} loaded */
function render({ COMMANDS, COMMANDS_VERSION, TRACE_FIRST }) {
  const submitted = COMMANDS.filter(({ opcode }) => opcode < TRACE_FIRST);
  const decided = COMMANDS.filter(({ opcode }) => opcode >= TRACE_FIRST);
  return `<!-- Generated from lib/bus/commands.ts by scripts/generate_commands.js. Do not edit. -->

# Commands of the RuntimeBus, version ${COMMANDS_VERSION}

The bus is the only way in which the state of a scheduler is changed. Numbers are for good: new ones
are added, none is given a second meaning.

## Commands

Each has two lowerings that mean the same: a method of \`rt.bus\`, and the generic entry
\`rt.bus.execute({ opcode, subcode, arguments })\` (at once) or \`rt.bus.submit(...)\` (in the next
turn). The capability is the one that the issuing task needs; code outside of tasks has the
runtime's own.

${table(submitted)}

## Decisions

What the scheduler decides itself. They cannot be submitted (ERR_COMMAND_UNKNOWN);
\`rt.bus.tap()\` shows them, so that a recorded run can be replayed.

${table(decided)}
`;
}

const text = render(await loadCommands());
if (process.argv.includes('--write')) {
  writeFileSync(target, text);
} else if (readFileSync(target, 'utf8') !== text) {
  console.error('docs/commands.md does not equal lib/bus/commands.ts: npm run generate:commands');
  process.exitCode = 1;
}
