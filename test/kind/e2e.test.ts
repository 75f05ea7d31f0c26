/** E2E tests on a cluster of kind. The other E2E tests need a control plane that they can stop or configure. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, test } from "vitest";
import { startKet } from "../harness/startket.ts";
import type { Ket } from "../ket/index.ts";

let ket: Ket;
beforeAll(async () => {
  ket = await startKet({ cluster: "kind", crds: [] });
});
afterAll(() => ket?.stop());

test.each(["zundoko", "signposts", "webhooks"])("test/e2e/%s.test.ts passes", async (name) => {
  const args = [
    "node_modules/vitest/vitest.mjs",
    "run",
    "--project",
    "integration",
    `test/e2e/${name}.test.ts`,
  ];
  const env = { ...process.env, VITEST: undefined, DENREI_TEST_KUBECONFIG: ket.kubeconfigPath };
  await promisify(execFile)(process.execPath, args, { env, maxBuffer: 1 << 26 });
});
