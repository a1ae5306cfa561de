// What is loaded with what: the library never loads the test runtime or the simulation.
// Method: what esbuild bundles for each entry.
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../support/root.ts';

async function inputsOf(entry: string): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [`lib/${entry}.ts`],
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  return Object.keys(metafile.inputs);
}

describe('entries', () => {
  it.each(['index', 'fs', 'engine'])('entries: %s does without the test runtime', async (entry) => {
    const inputs = await inputsOf(entry);
    expect(inputs.filter((path) => /^lib\/(testing|backend\/simulated)/.test(path))).toEqual([]);
  });

  it('entries: testing brings the simulation', async () => {
    const inputs = await inputsOf('testing');
    expect(inputs).toContain('lib/backend/simulated/simulated_backend.ts');
  });
});
