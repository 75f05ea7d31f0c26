import { defineConfig } from "vitest/config";

/** Tests with real pods. `npm run test:node` runs each file in namespaces for a node. */
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["test/node/**/*.test.ts"],
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 600_000,
    reporters: ["default", "./test/harness/tally.ts"],
  },
});
