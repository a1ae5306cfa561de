// vitest's JSON report plus what it leaves out: errors outside any test (unhandled rejections),
// which fail a run without failing a test. Read by scripts/report.js (readVitest).
// Invariants: the fields of vitest's own report stay as they are; `--outputFile.json` names the file.
import { JsonReporter } from 'vitest/node';

/** Adds `unhandledErrors: string[]` to vitest's JSON report. */
class Reporter extends JsonReporter {
  /** @type {string[]} */
  #unhandledErrors = [];

  /**
   * @override
   * @param {readonly import('vitest/node').TestModule[]} testModules
   * @param {readonly { stack?: string, message?: string }[]} [unhandledErrors]
   */
  async onTestRunEnd(testModules, unhandledErrors = []) {
    this.#unhandledErrors = unhandledErrors.map(({ stack, message }) => stack ?? message ?? '');
    await super.onTestRunEnd([...testModules]);
  }

  /**
   * @override
   * @param {string} text
   */
  async writeReport(text) {
    const report = { ...JSON.parse(text), unhandledErrors: this.#unhandledErrors };
    await super.writeReport(JSON.stringify(report));
  }
}

// biome-ignore lint/style/noDefaultExport: vitest loads reporters by their default export.
export default Reporter;
