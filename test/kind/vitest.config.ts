import { defineConfig } from "vitest/config";

/** Tests on clusters of kind: `npm run test:kind`, which needs Docker. Files run one after the other. */
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["test/kind/**/*.test.ts"],
    experimental: { viteModuleRunner: false },
    maxWorkers: 1,
    testTimeout: 600_000,
    hookTimeout: 1_800_000,
    reporters: ["default", "./test/harness/tally.ts"],
  },
});
