/** Prints the reason as soon as a test fails. Vitest's summary comes only after a long run, and never after Ctrl-C. */
import type { Reporter, TestCase } from "vitest/node";

/** Enough for a message; the summary has the rest. */
const maxLength = 4000;

export default class Failures implements Reporter {
  onTestCaseResult(test: TestCase): void {
    for (const { message, stack } of test.result().errors ?? []) {
      const frame = stack?.split("\n").find((line) => line.includes(test.module.moduleId)) ?? "";
      process.stdout.write(
        `\n✗ ${test.module.relativeModuleId} > ${test.fullName}\n${message.slice(0, maxLength)}\n${frame}\n`,
      );
    }
  }
}
