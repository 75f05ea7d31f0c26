import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["bus/**/*.test.ts", "functions/**/*.test.ts", "deploy/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["test/harness/binaries.ts"],
    // Each file with real parts starts its own; two at a time is what two cores carry.
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ["default", "./test/harness/tally.ts"],
  },
});
