// Generates the reference pages from their tables: docs/commands.md from lib/bus/commands.ts,
// docs/errors.md from ERROR_CODES in lib/base/errors.ts.
//   node scripts/generate_reference.js            compares with the committed pages; 1 if not equal
//   node scripts/generate_reference.js --write    writes them
// Invariants: nothing is written without --write; what a page says comes from its table alone.
// Not here: what commands do (lib/bus/runtime_bus.ts), who raises an error.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** @param {string} entry */
async function load(entry) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
  });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
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
function renderCommands({ COMMANDS, COMMANDS_VERSION, TRACE_FIRST }) {
  const submitted = COMMANDS.filter(({ opcode }) => opcode < TRACE_FIRST);
  const decided = COMMANDS.filter(({ opcode }) => opcode >= TRACE_FIRST);
  return `<!-- Generated from lib/bus/commands.ts by scripts/generate_reference.js. Do not edit. -->

# Commands of the RuntimeBus, version ${COMMANDS_VERSION}

The bus is the only way in which the state of a scheduler is changed. Numbers are for good: new ones
are added, none is given a second meaning.

## Commands

Each has two lowerings that mean the same: a method of the bus, and the generic entry
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

/** @param {typeof import('../lib/base/errors.ts')} loaded */
function renderErrors({ ERROR_CODES }) {
  const rows = Object.entries(ERROR_CODES).map(([code, what]) => `| \`${code}\` | ${what} |`);
  return `<!-- Generated from lib/base/errors.ts by scripts/generate_reference.js. Do not edit. -->

# Error codes

What the library itself raises: every such error has one of these as its \`code\`. Errors of the
system keep Node's codes and fields (\`ENOENT\`, \`errno\`, \`syscall\`, \`path\`, \`dest\`).

| code | when |
| --- | --- |
${rows.join('\n')}
`;
}

const pages = {
  'commands.md': renderCommands(await load('lib/bus/commands.ts')),
  'errors.md': renderErrors(await load('lib/base/errors.ts')),
};
for (const [name, text] of Object.entries(pages)) {
  const target = join(root, 'docs', name);
  if (process.argv.includes('--write')) {
    writeFileSync(target, text);
  } else if (readFileSync(target, 'utf8') !== text) {
    console.error(`docs/${name} does not equal its table: npm run generate:reference`);
    process.exitCode = 1;
  }
}
