// `doctor` as a user runs it, and its judgement on surroundings that this machine does not have.
// Not here: real refusals by a seccomp filter, which need its launcher (integration tests).
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Findings } from '../../lib/cli/doctor/examine.ts';
import { namesOfBits, OPCODES } from '../../lib/cli/doctor/io_uring_names.ts';
import { isOlderThan, remediesFor, type Surroundings } from '../../lib/cli/doctor/remedies.ts';
import { IO_URING_CALLS, makeSeccompProfile } from '../../lib/cli/doctor/seccomp.ts';
import { readCgroupLimits } from '../../lib/cli/host/cgroup.ts';
import { readProcessLimits } from '../../lib/cli/host/limits.ts';
import { makeTestFolder, runCli } from './run_cli.ts';

let folder: ReturnType<typeof makeTestFolder>;
beforeEach(() => {
  folder = makeTestFolder();
});
afterEach(() => folder.remove());

async function examineWith(env: Readonly<Record<string, string>>): Promise<Findings> {
  const { code, stdout } = await runCli(['doctor', '--json'], { env });
  expect(code).toBe(0);
  return JSON.parse(stdout) as Findings;
}

describe('the command', () => {
  test('normally: a backend, the addon or where it was looked for, limits, kernel', async () => {
    const findings = await examineWith({ NEPHRITE_BACKEND: '' });
    expect(['io_uring', 'epoll', 'node']).toContain(findings.library.backend);
    expect(findings.isDegraded).toBe(findings.library.backend !== findings.bestBackend);
    const { addon } = findings.library;
    if (addon.path === null) expect(addon.attempts.length).toBeGreaterThan(0);
    else expect(addon.abiVersion).toBeGreaterThan(0);
    for (const { reason } of findings.refused) expect(reason).not.toBe('');
    if (process.platform === 'linux') expect(findings.limits.openFiles?.soft).not.toBe(0);
  });

  test('text says the same as JSON, and --strict turns a degraded backend into exit code 1', async () => {
    const env = { NEPHRITE_BACKEND: '' };
    const { library, isDegraded } = await examineWith(env);
    const { code, stdout } = await runCli(['doctor', '--strict'], { env });
    expect(code).toBe(isDegraded ? 1 : 0);
    expect(stdout).toContain(`\n${library.backend}`);
    expect(stdout).toContain('open files (ulimit -n)');
    expect(stdout).toContain('locked memory (ulimit -l)');
  });

  test('NEPHRITE_BACKEND=node: works, degraded, and says what would work here', async () => {
    const env = { NEPHRITE_BACKEND: 'node' };
    const { library, isDegraded } = await examineWith(env);
    expect(library).toMatchObject({ backend: 'node', requested: 'node', failure: null });
    expect(isDegraded).toBe(true);
    const { code, stdout } = await runCli(['doctor', '--strict'], { env });
    expect(code).toBe(1);
    expect(stdout).toContain('node, as NEPHRITE_BACKEND asks: works, slower than');
    for (const name of library.alsoWorking) expect(stdout).toContain(`${name}: works here`);
  });

  test('a backend that cannot be had is a finding with exit code 1, not a crash', async () => {
    const env = { NEPHRITE_BACKEND: 'nonsense' };
    const { code, stdout, stderr } = await runCli(['doctor'], { env });
    expect(code).toBe(1);
    expect(stdout).toContain("no backend runs: backend 'nonsense'");
    expect(stderr).toBe('');
  });

  test('without an addon: every place that was looked at, libc, architecture, what to do', async () => {
    const path = join(folder.path, 'missing.node');
    const env = { NEPHRITE_BACKEND: '', NEPHRITE_NATIVE_PATH: path };
    const { library, refused } = await examineWith(env);
    expect(library.backend).toBe('node');
    expect(library.addon).toMatchObject({ path: null, arch: process.arch });
    expect(library.addon.attempts[0].path).toContain(path);
    expect(library.addon.remedy).not.toBe('');
    expect(refused.every(({ reason }) => reason.startsWith('no native addon'))).toBe(true);
    const { stdout } = await runCli(['doctor'], { env });
    expect(stdout).toContain(`looked at ${path}`);
    expect(stdout).toMatch(/for \w+-\w+, (glibc|musl|none)/);
  });
});

describe('seccomp profile', () => {
  const BASE = {
    defaultAction: 'SCMP_ACT_ERRNO',
    archMap: [{ architecture: 'SCMP_ARCH_X86_64', subArchitectures: ['SCMP_ARCH_X86'] }],
    syscalls: [
      { names: ['read', 'write'], action: 'SCMP_ACT_ALLOW' },
      { names: ['io_uring_setup', 'keyctl'], action: 'SCMP_ACT_ERRNO' },
      { names: ['io_uring_enter'], action: 'SCMP_ACT_ERRNO' },
    ],
  };

  test('a base becomes a complete profile; what forbids the calls is taken out', async () => {
    const base = join(folder.path, 'default.json');
    const out = join(folder.path, 'profile.json');
    writeFileSync(base, JSON.stringify(BASE));
    const { code, stderr } = await runCli([
      ...['doctor', '--seccomp-base', base, '--seccomp', out],
    ]);
    expect(code).toBe(0);
    expect(stderr).toContain(`docker run --security-opt seccomp=${out}`);
    const profile = JSON.parse(readFileSync(out, 'utf8'));
    expect(profile).toMatchObject({ defaultAction: 'SCMP_ACT_ERRNO', archMap: BASE.archMap });
    expect(profile.syscalls).toMatchObject([
      BASE.syscalls[0],
      { names: ['keyctl'], action: 'SCMP_ACT_ERRNO' },
      { names: IO_URING_CALLS, action: 'SCMP_ACT_ALLOW' },
    ]);
  });

  test('without a base: the fragment, and what it is', () => {
    const profile = makeSeccompProfile(undefined, [join(folder.path, 'none.json')]);
    expect(profile.isComplete).toBe(false);
    const json = JSON.parse(profile.json);
    expect(json).not.toHaveProperty('defaultAction');
    expect(json.syscalls).toMatchObject([{ names: IO_URING_CALLS, action: 'SCMP_ACT_ALLOW' }]);
    expect(profile.usage.join('\n')).toContain('--seccomp-base default.json');
  });

  test('to standard output it is JSON and nothing else', async () => {
    const { code, stdout } = await runCli(['doctor', '--seccomp']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toHaveProperty('syscalls');
  });

  test('a base that is no profile is refused', async () => {
    const base = join(folder.path, 'default.json');
    writeFileSync(base, '{}');
    const { code, stderr } = await runCli(['doctor', '--seccomp-base', base, '--seccomp']);
    expect(code).toBe(1);
    expect(stderr).toContain('not a seccomp profile (it has no defaultAction)');
  });
});

describe('remedies', () => {
  const around = (changes: Partial<Surroundings['sandbox']>): Surroundings => ({
    sandbox: {
      seccomp: 'none',
      ioUringDisabled: 0,
      ioUringGroup: -1,
      container: undefined,
      isRoot: false,
      isSelinuxEnforcing: false,
      ...changes,
    },
    limits: {
      openFiles: { soft: 1024, hard: 1024 },
      lockedMemoryBytes: { soft: 65536, hard: 65536 },
      processes: undefined,
    },
    kernel: '6.1.0-13-amd64',
    platform: 'linux',
  });
  const steps = (errno: string, changes: Partial<Surroundings['sandbox']> = {}): string =>
    remediesFor({ name: 'io_uring', reason: '', errno }, around(changes)).join('\n');

  test.each(['EPERM', 'ENOSYS', 'EOPNOTSUPP', 'ENOTSUP', 'EACCES'])(
    '%s under a filter: seccomp',
    (errno) => {
      const docker = steps(errno, { seccomp: 'filter', container: 'docker' });
      expect(docker).toContain('docker run --security-opt seccomp=profile.json');
      expect(steps(errno, { seccomp: 'filter', container: 'kubernetes' })).toContain('Localhost');
      expect(steps(errno, { seccomp: 'filter' })).toContain('io_uring_register');
    },
  );

  test('the sysctl is named when it is the cause', () => {
    expect(steps('EPERM', { ioUringDisabled: 2 })).toContain('sysctl kernel.io_uring_disabled=0');
    expect(steps('EPERM', { ioUringDisabled: 1, ioUringGroup: 44 })).toContain('group 44');
    expect(steps('EPERM', { ioUringDisabled: 1, isRoot: true })).not.toContain('io_uring_disabled');
  });

  test('memlock: what it is, its value, how to raise it', () => {
    const text = steps('ENOMEM');
    expect(text).toContain('`ulimit -l`, 64 KiB');
    expect(text).toContain('LimitMEMLOCK=');
  });

  test('an old kernel is told from one without io_uring', () => {
    expect(steps('ENOSYS')).toContain('built without CONFIG_IO_URING');
    const old = { ...around({}), kernel: '4.19.0-25-amd64' };
    expect(remediesFor({ name: 'io_uring', reason: '', errno: 'ENOSYS' }, old)[0]).toContain(
      'too old',
    );
    expect(isOlderThan('5.5.19', 5, 6)).toBe(true);
    expect(isOlderThan('5.6.0-rc1', 5, 6)).toBe(false);
    expect(isOlderThan('6.18.44-fc', 5, 6)).toBe(false);
  });
});

describe('the surroundings', () => {
  test('limits are read as the kernel writes them', () => {
    const path = join(folder.path, 'limits');
    writeFileSync(
      path,
      [
        'Limit                     Soft Limit           Hard Limit           Units     ',
        'Max open files            1024                 1048576              files     ',
        'Max locked memory         8388608              unlimited            bytes     ',
      ].join('\n'),
    );
    expect(readProcessLimits(path)).toEqual({
      openFiles: { soft: 1024, hard: 1048576 },
      lockedMemoryBytes: { soft: 8388608, hard: null },
      processes: undefined,
    });
    expect(readProcessLimits(join(folder.path, 'none')).openFiles).toBeUndefined();
  });

  test('the tightest CPU quota on the way up wins', async () => {
    const { mkdirSync } = await import('node:fs');
    const root = join(folder.path, 'cgroup');
    mkdirSync(join(root, 'a', 'b'), { recursive: true });
    writeFileSync(join(root, 'a', 'cpu.max'), '150000 100000\n');
    writeFileSync(join(root, 'a', 'b', 'cpu.max'), 'max 100000\n');
    writeFileSync(join(root, 'a', 'b', 'memory.max'), '1073741824\n');
    const self = join(folder.path, 'self');
    writeFileSync(self, '0::/a/b\n');
    expect(readCgroupLimits(root, self)).toEqual({ cpuQuota: 1.5, memoryBytes: 1024 ** 3 });
    expect(readCgroupLimits(root, join(folder.path, 'none'))).toEqual({
      cpuQuota: null,
      memoryBytes: null,
    });
  });

  test('bits of masks become names, unknown ones numbers', () => {
    expect(namesOfBits(0b1011, ['A', 'B', 'C'])).toEqual(['A', 'B', '#3']);
    expect(OPCODES[22]).toBe('READ');
    expect(namesOfBits(2 ** 31, OPCODES)).toEqual(['PROVIDE_BUFFERS']);
    expect(namesOfBits(1 << 23, OPCODES, 32)).toEqual(['FTRUNCATE']);
  });
});
