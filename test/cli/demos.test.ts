/** Usage errors of the demos that need simulators. */
import { expect, test } from "vitest";
import { runHere } from "./here.ts";

test.for([
  ["paas", "docs/paas.md"],
  ["pipecd", "docs/pipecd.md"],
  ["dashboard", "docs/dashboard.md"],
] as const)("the demo %s refuses an existing cluster and names %s", async ([name, page]) => {
  const env = { KUBECONFIG: "/nowhere", NATS_URL: "nats://127.0.0.1:1" };
  const { code, stdout, stderr } = await runHere(["demo", name], { env });
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toBe(
    `denrei: the demo ${name} uses simulators and runs on a local platform only. Unset KUBECONFIG and NATS_URL. To use a cluster, see ${page}\n`,
  );
});
