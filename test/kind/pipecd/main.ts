/** `npm run test:pipecd`: runs the contract tests and the E2E tests against a released PipeCD. They need Docker. */
import { runOnPipecd } from "./onkind.ts";

const vitest = ["node_modules/vitest/vitest.mjs", "run"];
process.exitCode = await runOnPipecd([
  [process.execPath, ...vitest, "--project", "unit", "test/pipecd/contract"],
  [process.execPath, ...vitest, "--project", "nightly", "test/e2e/pipecd-server.nightly.test.ts"],
]);
