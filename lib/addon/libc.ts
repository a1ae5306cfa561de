// Which C library runs this process, for the load report: a glibc prebuild does not load on musl.
// Invariants: asks the running process, not the distribution's files; never throws.
// Not here: choosing a prebuild by it (node-gyp-build).

/** `glibc 2.36`, `musl`, or `none` where Node has no such notion (macOS, Windows). */
export function detectLibc(): string {
  if (process.platform !== 'linux') return 'none';
  const version = glibcVersion();
  return version === undefined ? 'musl' : `glibc ${version}`;
}

function glibcVersion(): string | undefined {
  const report: (NodeJS.ProcessReport & { excludeNetwork?: boolean }) | undefined = process.report;
  if (report === undefined) return undefined;
  const before = report.excludeNetwork ?? false;
  try {
    // The report would otherwise resolve the names of all open sockets: seconds on a busy server.
    report.excludeNetwork = true;
    const { header } = report.getReport() as { header?: { glibcVersionRuntime?: string } };
    return header?.glibcVersionRuntime;
  } catch {
    return undefined;
  } finally {
    report.excludeNetwork = before;
  }
}
