import { defineConfig } from "vitest/config";
import LongestFirst from "./test/harness/order.ts";
import { sizeVariable } from "./test/harness/size.ts";

/** Tests of the repository itself: `npm run check`. */
const checks = ["test/checks/**/*.test.ts", "test/docs/links.test.ts"];

/** Tests that start no server and no program but Node: `npm run test:unit`. All others stand in `test/`. */
const unit = [
  "{bus,functions,dashboard,deploy}/**/*.test.ts",
  "test/cli/commandline.test.ts",
  "test/{bench,ghapp,github,githubapi,model,mutations}/**/*.test.ts",
  "test/harness/{cleanup,durations,start/temporary}.test.ts",
  "test/ket/{changes,conversions,match}.test.ts",
  "test/kpack/{decoding,loop,names,newbuild,reference}.test.ts",
  "test/paas/charts/{builtin,names,routes}.test.ts",
  "test/pipecd/**/*.test.ts",
  "test/prove/**/{document,slope}.test.ts",
];

/** The long tail: `npm run test:nightly`, which runs the E2E and fault tests at full size as well. */
const nightly = ["test/**/*.nightly.test.ts"];

/** They need a node that runs pods, `npm run test:node`, or Docker, `npm run test:kind`. */
const withPods = ["test/{node,kind}/**"];

export default defineConfig({
  test: {
    // Node strips the types itself.
    experimental: { viteModuleRunner: false },
    // The files of a worker process share what is expensive: modules, a control plane, a browser.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: [
      "default",
      "./test/harness/failures.ts",
      "./test/harness/durations.ts",
      "./test/harness/tally.ts",
    ],
    projects: [
      {
        extends: true,
        test: { name: "check", include: checks, maxWorkers: 2, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        test: {
          name: "unit",
          include: unit,
          exclude: [...nightly],
          // No program can be obtained: a test that wants one belongs to the integration tests.
          env: { DENREI_CACHE_DIR: "/dev/null", KUBEBUILDER_ASSETS: "/dev/null" },
          // Ends a test that hangs, and none that is slow on a busy machine.
          testTimeout: 120_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "integration",
          include: ["test/**/*.test.ts"],
          exclude: [...checks, ...unit, ...nightly, ...withPods],
          globalSetup: ["test/harness/start/packages.ts", "test/harness/start/temporary.ts"],
          // The control planes are Go programs: more memory for less garbage collection, and no threads that look for work.
          env: { GOGC: process.env.GOGC ?? "400", GOMAXPROCS: process.env.GOMAXPROCS ?? "1" },
          // They wait more than they compute.
          maxWorkers: 3,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: "nightly",
          include: [
            ...nightly,
            ...(process.env[sizeVariable] === "full" ? ["test/{e2e,faults}/**/*.test.ts"] : []),
          ],
          // Some of its limits are times.
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
