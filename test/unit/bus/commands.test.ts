// The table of commands: ids are unique, named once, and the page in docs/ is made from it.
// Not here: what commands do (lowerings.test.ts), entries (entries.test.ts).
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as commands from '../../../lib/bus/commands.ts';
import { ROOT } from '../../support/root.ts';

describe('commands', () => {
  it('commands: opcodes and names are unique, and every opcode constant has its row', () => {
    const opcodes = commands.COMMANDS.map(({ opcode }) => opcode);
    const names = commands.COMMANDS.map(({ name }) => name);
    expect(new Set(opcodes).size).toBe(opcodes.length);
    expect(new Set(names).size).toBe(names.length);
    const constants = Object.entries(commands).filter(([name]) => name.startsWith('OP_'));
    expect(constants.map(([, opcode]) => opcode).sort()).toEqual([...opcodes].sort());
  });

  it('commands: commandOf() finds every row and nothing else', () => {
    for (const row of commands.COMMANDS) expect(commands.commandOf(row.opcode)).toBe(row);
    for (const opcode of [0, -1, 63, 1000, Number.NaN]) {
      expect(commands.commandOf(opcode)).toBeUndefined();
    }
  });

  it('commands: docs/commands.md is what the generator makes of the table', () => {
    execFileSync(process.execPath, [join(ROOT, 'scripts', 'generate_reference.js')]);
  });
});
