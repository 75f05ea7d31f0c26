/** A webhook posted to any gateway reconciles exactly the right objects, on any free worker. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { crdOf } from "../../bus/kube/crd.ts";
import { Branch } from "../fixtures/functions/branches.ts";
import {
  type GatewayReplica,
  type Replica,
  startTestEnvironment,
  type TestEnvironment,
} from "../harness/environment.ts";
import { hookOf, post, push } from "../harness/webhooks.ts";

const branches = fileURLToPath(new URL("../fixtures/functions/branches.ts", import.meta.url));
const deadlineMillis = 60_000;

let environment: TestEnvironment;
let workers: Replica[];
let gateways: GatewayReplica[];
beforeAll(async () => {
  environment = await startTestEnvironment({ crds: [crdOf(Branch)] });
  // One test waits for the request of a killed worker to be redelivered.
  const env = { DENREI_ACK_WAIT_SECONDS: "10" };
  await environment.bridge("bridge-1", { args: [branches], env });
  workers = await Promise.all([1, 2].map((n) => environment.worker(`worker-${n}`, [branches], { env })));
  gateways = await Promise.all([1, 2].map((n) => environment.gateway(`gateway-${n}`)));
});
afterAll(() => environment?.stop());

/** Log lines of workers about an object, in order. */
const said = (msg: string, name: string) =>
  workers.flatMap((worker) =>
    worker.log
      .records()
      .filter((record) => record.msg === msg && record.key === `default/${name}`)
      .map(({ deliveries }) => ({ worker, deliveries: deliveries as string[] })),
  );
const looks = (name: string, delivery?: string) =>
  said("looked at the branch", name).filter(
    ({ deliveries }) => delivery === undefined || deliveries.includes(delivery),
  );

async function create(name: string, spec: Branch["spec"]): Promise<void> {
  await environment.client.create(
    Branch,
    { apiVersion: "test.denrei.dev/v1", kind: "Branch", metadata: { namespace: "default", name }, spec },
    { fieldManager: "test" },
  );
  await expect.poll(() => looks(name).length, { timeout: deadlineMillis }).toBeGreaterThan(0);
}

test("reach the matching objects only, from each gateway", async () => {
  await create("main", { repository: "Acme/Web", branch: "main" });
  await create("other-branch", { repository: "acme/web", branch: "next" });
  await create("other-repository", { repository: "acme/api", branch: "main" });
  await create("twin", { repository: "acme/web", branch: "main" });
  for (const gateway of gateways) {
    // GitHub's names ignore case, and so may the spec of an object.
    const hook = hookOf("push", push("acme/WEB", "main"));
    expect(await post(gateway.hookUrl(), hook)).toBe(202);
    for (const name of ["main", "twin"])
      await expect.poll(() => looks(name, hook.delivery).length, { timeout: deadlineMillis }).toBe(1);
    for (const name of ["other-branch", "other-repository"]) expect(looks(name)).toHaveLength(1);
  }
});

test("reach an object by its new branch only, after an edit", async () => {
  await create("moving", { repository: "acme/moving", branch: "old" });
  await environment.client.mergePatch(
    Branch,
    { namespace: "default", name: "moving" },
    { spec: { branch: "new" } },
    { fieldManager: "test" },
  );
  await expect.poll(() => looks("moving").length, { timeout: deadlineMillis }).toBe(2);
  const [old, next] = [
    hookOf("push", push("acme/moving", "old")),
    hookOf("push", push("acme/moving", "new")),
  ];
  const [gateway] = gateways as [GatewayReplica];
  expect(await post(gateway.hookUrl(), old)).toBe(202);
  expect(await post(gateway.hookUrl(), next)).toBe(202);
  await expect.poll(() => looks("moving", next.delivery).length, { timeout: deadlineMillis }).toBe(1);
  // Routed before the other one, by any worker.
  const routed = () =>
    workers
      .flatMap((worker) => worker.log.records())
      .filter(({ msg, delivery }) => msg === "webhook routed" && delivery === old.delivery);
  await expect.poll(() => routed().length, { timeout: deadlineMillis }).toBe(1);
  expect(routed()[0]?.keys).toEqual([]);
});

test("are finished by another worker when the first one is killed", async () => {
  await create("slow", { repository: "acme/slow", branch: "main", webhookMillis: 10_000 });
  const hook = hookOf("push", push("acme/slow", "main"));
  const [, gateway] = gateways as [GatewayReplica, GatewayReplica];
  expect(await post(gateway.hookUrl(), hook)).toBe(202);
  const begun = () =>
    said("looking at the branch", "slow").filter(({ deliveries }) => deliveries.includes(hook.delivery));
  await expect.poll(() => begun().length, { timeout: deadlineMillis, interval: 20 }).toBe(1);
  const [taken] = begun();
  await taken?.worker.kill();
  expect(looks("slow", hook.delivery)).toHaveLength(0);
  await expect.poll(() => looks("slow", hook.delivery).length, { timeout: deadlineMillis }).toBe(1);
  expect(looks("slow", hook.delivery)[0]?.worker).not.toBe(taken?.worker);
});
