// io_uring refused, as containers and old kernels do it: the package falls back to epoll, says why,
// and files work the same. And the calls that make things fast refused one by one (old Docker
// profiles): slower, with the same results.
// Method: seccomp_launcher starts programs/refused.ts under a filter; setpriv and ulimit under a
// memory limit. Not here: what doctor prints (test/cli).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ChildLab } from '../support/child.ts';
import { refusalOf } from '../support/child_backends.ts';

const IS_LINUX = process.platform === 'linux';
const lab = new ChildLab('refused');
let launcher: string;
beforeAll(() => {
  if (IS_LINUX) launcher = lab.compile('seccomp_launcher.c');
});
afterAll(() => lab.remove());

const noUring = refusalOf('io_uring');
const under = (error: string, ...calls: string[]): string[] => [launcher, error, ...calls, '--'];
const ERRORS: Readonly<Record<string, number>> = {
  EPERM: 1,
  ENOSYS: 38,
  EOPNOTSUPP: 95,
  EACCES: 13,
};

describe.skipIf(!IS_LINUX).concurrent('refused by a filter (seccomp is Linux)', () => {
  it.each(Object.entries(ERRORS))(
    '%s for io_uring: epoll, with the reason',
    async (name, errno) => {
      const found = await lab.json('refused', { args: ['suite'], launcher: under(name) });
      expect(found).toMatchObject({ name: 'epoll', openedCount: 2 });
      const [refusal, ...more] = found.refused as Record<string, unknown>[];
      expect(more).toEqual([]);
      expect(refusal).toMatchObject({ name: 'io_uring', errno });
      expect(refusal?.reason).toContain('io_uring_setup failed');
      // libuv calls 95 ENOTSUP.
      expect(refusal?.reason).toContain(name === 'EOPNOTSUPP' ? 'ENOTSUP' : name);
      expect(refusal?.remedy).toContain('seccomp');
      expect(refusal?.remedy).toContain('io_uring_setup');
    },
  );

  it.each(['EPERM', 'ENOSYS'])('%s for io_uring by name: an error that says why', async (name) => {
    const options = { args: ['named'], launcher: under(name), backend: 'io_uring' };
    const { code, message } = await lab.json('refused', options);
    expect(code).toBe('ERR_BACKEND_UNAVAILABLE');
    expect(message).toContain("'io_uring'");
    expect(message).toContain('io_uring_setup failed');
    expect(message).toContain('seccomp');
  });

  it.skipIf(noUring !== undefined)('only io_uring_enter refused: the no-op finds it', async () => {
    const options = { args: ['suite'], launcher: under('EPERM', 'io_uring_enter') };
    const found = await lab.json('refused', options);
    expect(found).toMatchObject({ name: 'epoll', openedCount: 2 });
    const [refusal] = found.refused as Record<string, unknown>[];
    expect(refusal).toMatchObject({ name: 'io_uring', errno: 1 });
    expect(refusal?.reason).toContain('io_uring_enter');
  });

  it.skipIf(noUring !== undefined)('only io_uring_register refused: epoll', async () => {
    const options = { args: ['suite'], launcher: under('EACCES', 'io_uring_register') };
    const found = await lab.json('refused', options);
    expect(found).toMatchObject({ name: 'epoll', openedCount: 2 });
    expect(found.refused).toMatchObject([{ name: 'io_uring', errno: 13 }]);
  });

  it('four workers: epoll on each', async () => {
    const { found } = await lab.json('refused', { args: ['workers'], launcher: under('EPERM') });
    expect((found as { name: string }[]).map(({ name }) => name)).toEqual(
      Array.from({ length: 4 }, () => 'epoll'),
    );
  });

  const profiles = [
    ['EPERM', 'openat2 preadv2 pwritev2 statx renameat2'],
    ['ENOSYS', 'openat2 preadv2 pwritev2 statx renameat2'],
    ['EPERM', 'openat2'],
    ['EPERM', 'statx'],
    ['EPERM', 'preadv2 pwritev2'],
  ] as const;
  for (const backend of ['io_uring', 'epoll'] as const) {
    it.skipIf(refusalOf(backend) !== undefined).each(profiles)(
      `${backend}, %s for %s: the same results`,
      async (error, calls) => {
        const options = { args: ['suite'], launcher: under(error, ...calls.split(' ')), backend };
        expect(await lab.json('refused', options)).toMatchObject({ name: backend });
      },
    );
  }
});

const asOrdinary =
  process.getuid?.() === 0
    ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--']
    : [];

it.skipIf(noUring !== undefined)(
  'no more threads (RLIMIT_NPROC): what io_uring cannot start a worker for is done all the same',
  async () => {
    // The kernel answers ECANCELED for what waited for that worker; nobody has cancelled it.
    const options = { args: ['no-more-threads'], launcher: asOrdinary, backend: 'io_uring' };
    const found = await lab.json('refused', options);
    expect(found).toEqual({ name: 'io_uring', status: 0, mayStartProcess: false });
  },
);

describe.skipIf(noUring !== undefined).concurrent('refused by a limit (RLIMIT_MEMLOCK)', () => {
  const limited = (kib: number): string[] => [
    ...asOrdinary,
    'sh',
    '-c',
    `ulimit -l ${kib}; exec "$@"`,
    'sh',
  ];
  type Found = { name: string; refused: { remedy: string; errno: number }[] };

  function expectLimitNamed({ name, refused }: Found): void {
    expect(['io_uring', 'epoll']).toContain(name);
    if (name === 'io_uring') return;
    expect(refused).toMatchObject([{ name: 'io_uring', errno: 12 }]);
    expect(refused[0]?.remedy).toContain('RLIMIT_MEMLOCK');
    expect(refused[0]?.remedy).toContain('ulimit -l');
  }

  it('64 KiB as an ordinary user: starts', async () => {
    const found = await lab.json('refused', { args: ['suite'], launcher: limited(64) });
    expectLimitNamed(found as unknown as Found);
  });

  it('64 KiB as an ordinary user, four workers: all start', async () => {
    const { found } = await lab.json('refused', { args: ['workers'], launcher: limited(64) });
    expect(found).toHaveLength(4);
    for (const one of found as Found[]) expectLimitNamed(one);
  });

  it('no locked memory at all: epoll, and the text names the limit', async () => {
    const found = await lab.json('refused', { args: ['suite'], launcher: limited(0) });
    expectLimitNamed(found as unknown as Found);
    // Kernels from 5.12 to before 6.x did not count rings; there it stays io_uring.
    if (found.name === 'io_uring') expect(found.refused).toEqual([]);
  });
});
