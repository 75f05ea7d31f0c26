import { defineConfig } from "vitest/config";

const timed = "test/prove/short.test.ts";
/** They need a node that runs pods: `npm run test:node`. */
const withPods = "test/node/**";

export default defineConfig({
  test: {
    globalSetup: ["test/harness/binaries.ts", "test/harness/page.ts"],
    // Each file with real parts starts its own; two at a time is what two cores carry.
    maxWorkers: 2,
    testTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 120_000,
    reporters: ["default", "./test/harness/tally.ts"],
    projects: [
      {
        extends: true,
        test: {
          name: "all",
          include: [
            "bus/**/*.test.ts",
            "functions/**/*.test.ts",
            "dashboard/**/*.test.ts",
            "deploy/**/*.test.ts",
            "test/**/*.test.ts",
          ],
          exclude: [timed, withPods],
        },
      },
      {
        extends: true,
        // Its limits are times: it has the machine to itself, after the others.
        test: { name: "proof", include: [timed], sequence: { groupOrder: 1 } },
      },
    ],
  },
});
