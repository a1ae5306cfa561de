// S-8, an expected failure: generators are a class of functions, and JavaScript has no other way to
// suspend one. It is met when plain functions are compiled to resumable frames (a third Execution).
// „Suspension ist Runtime-Eigenschaft, keine eigene JDL-Funktionsklasse.“
import { describe, expect, it } from 'vitest';
import { sleep } from '../../lib/index.ts';
import { useLab } from '../scheduler/lab.ts';

const lab = useLab();

describe('S-8: suspension is a property of the runtime, not a class of functions', () => {
  it.fails('a plain function waits for a sleep and goes on behind it', async () => {
    const log: string[] = [];
    await lab.rt.run(function plain() {
      const startMs = performance.now();
      void sleep(20);
      log.push(performance.now() - startMs >= 20 ? 'waited' : 'went on at once');
    });
    expect(log).toEqual(['waited']);
  });
});
