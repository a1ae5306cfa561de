// S-19. Not here: that both lowerings of a command mean the same (test of the bus).
// „Intrinsic-Encoding und IDs werden zentral in VM-/Intrinsic-Spezifikationen festgelegt.“
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as commands from '../../lib/bus/commands.ts';
import { checkpoint, sleep, spawn } from '../../lib/index.ts';
import { useLab } from '../scheduler/lab.ts';
import { ROOT } from '../support/root.ts';
import { sourcesOf } from './sources.ts';

const lab = useLab();

describe('S-19: encoding and ids of commands are laid down in one place', () => {
  it('each opcode has one meaning, and each constant is in the table', () => {
    const opcodes = commands.COMMANDS.map(({ opcode }) => opcode);
    expect(new Set(opcodes).size).toBe(opcodes.length);
    const names = commands.COMMANDS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const constants = Object.entries(commands).filter(([name]) => name.startsWith('OP_'));
    expect(constants.map(([, opcode]) => opcode).sort()).toEqual([...opcodes].sort());
    expect(commands.COMMANDS_VERSION).toBeGreaterThanOrEqual(1);
  });

  it('no other source names an id of its own', () => {
    for (const folder of ['scheduler', 'bus', 'task', 'testing']) {
      for (const { path, text } of sourcesOf(folder)) {
        if (path === join('bus', 'commands.ts')) continue;
        expect(text, path).not.toMatch(/\bopcode\s*(===?|:)\s*\d/);
        expect(text, path).not.toMatch(/\bconst (OP|PREEMPT|WAKE)_[A-Z_]+\s*=/);
      }
    }
  });

  it('all that happens is told with an id of the table', async () => {
    const unknown: unknown[] = [];
    const seen = new Set<string>();
    const stop = lab.rt.bus.tap((event) => {
      seen.add(event.command);
      const definition = commands.commandOf(event.opcode);
      const isKnown = definition?.name === event.command;
      if (!isKnown || definition.subcodes[event.subcode] === undefined) unknown.push(event);
    });
    const task = lab.rt.spawn(function* () {
      yield* sleep(1);
      yield* checkpoint(10_000);
      yield* spawn(() => 1).join();
    });
    await task.join();
    task.cancel();
    void task.cancellationRequested;
    stop();
    expect(unknown).toEqual([]);
    expect(seen.size).toBeGreaterThanOrEqual(9);
  });

  it('an id that is not laid down is refused', () => {
    for (const opcode of [0, 63, 64, 255, -1, 1.5, Number.NaN]) {
      const entry = { opcode, subcode: 0, arguments: [] };
      expect(() => lab.rt.bus.execute(entry)).toThrow(/opcode/);
    }
  });

  it('the reference in docs/ is that of the table', () => {
    const text = readFileSync(join(ROOT, 'docs', 'commands.md'), 'utf8');
    for (const { name, opcode } of commands.COMMANDS) {
      expect(text).toContain(name);
      expect(text).toContain(String(opcode));
    }
  });
});
