/** The last line of a test run: `N passed, N failed`. */
import type { Reporter, TestModule } from "vitest/node";

export default class Tally implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    let passed = 0;
    let failed = errors.length;
    for (const module of modules) {
      if (module.errors().length > 0) failed++;
      for (const test of module.children.allTests()) {
        if (test.result().state === "passed") passed++;
        else if (test.result().state === "failed") failed++;
      }
    }
    // After the other reporters' summary.
    process.on("exit", () => process.stdout.write(`${passed} passed, ${failed} failed\n`));
  }
}
