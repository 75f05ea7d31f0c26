/** Rollouts of a control plane's servers: what answers while pods of two configurations run. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Secret } from "../../bus/kube/kind.ts";
import { ControlPlane } from "../../functions/pipecd/kinds.ts";
import { secretKeys } from "../../functions/pipecd/names.ts";
import { type Pipecd, startPipecd } from "../harness/pipecd.ts";
import { names, patience, type Stack, startStack } from "../harness/pipecdstack.ts";
import { bearer } from "../pipecd/contract/tokens.ts";
import { openWire, type Wire } from "../pipecd/contract/wire.ts";

let pipecd: Pipecd;
let stack: Stack;
beforeAll(async () => {
  // Replaced servers run until the test ends them.
  pipecd = await startPipecd({ lingerMillis: 3_600_000 });
  stack = await startStack(pipecd, "c", "rollout");
});
afterAll(() => pipecd?.stop());

/** Calls the server over a new connection, and returns the status code. */
async function caller(): Promise<(project: string) => Promise<number>> {
  const wire: Wire = openWire();
  onTestFinished(() => wire.close());
  const { data } = await stack.get(Secret, "pipecd");
  const key = Buffer.from(data?.[secretKeys.encryptionKey] ?? "", "base64");
  const path = "/grpc.service.webservice.WebService/ListPipeds";
  return async (project) =>
    (await wire.call(pipecd.pods.web, path, bearer({ project, key }), new Uint8Array())).code;
}

test("the replaced server answers on its connections, without the new project, until it is gone", async () => {
  const [before, later] = [await caller(), await caller()];
  expect(await before("quickstart")).toBe(0);
  const { config } = (await stack.get(ControlPlane, names.plane)).spec;
  await stack.edit(ControlPlane, names.plane, {
    config: { projects: [...(config.projects ?? []), { id: "added" }] },
  });
  await stack.ready(ControlPlane, names.plane);
  await expect.poll(async () => (await caller())("added"), patience).toBe(0);
  expect([await before("added"), await before("quickstart"), await later("added")]).toEqual([7, 0, 0]);
  stack.server().endReplaced();
  expect(await before("added")).toBe(0);
});
