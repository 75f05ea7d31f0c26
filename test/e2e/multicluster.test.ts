/** Two clusters with different `DENREI_CLUSTER` share a bus. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { crdOf } from "../../bus/kube/crd.ts";
import { Branch } from "../fixtures/functions/branches.ts";
import {
  type GatewayReplica,
  type Replica,
  startLocalTestEnvironment,
  startOwnTestEnvironment,
  type TestEnvironment,
} from "../harness/environment.ts";
import { hookOf, post, push } from "../harness/webhooks.ts";

const branches = fileURLToPath(new URL("../fixtures/functions/branches.ts", import.meta.url));
const names = ["east", "west"] as const;
type ClusterName = (typeof names)[number];

let clusters: Record<ClusterName, TestEnvironment>;
let workers: Record<ClusterName, Replica>;
let gateway: GatewayReplica;
beforeAll(async () => {
  const crds = [crdOf(Branch)];
  const [east, west] = await Promise.all([
    startLocalTestEnvironment({ crds }),
    startOwnTestEnvironment({ crds }),
  ]);
  clusters = { east, west };
  const settings = (cluster: ClusterName) => ({
    env: { NATS_URL: east.platform.natsUrl, DENREI_CLUSTER: cluster },
  });
  for (const name of names)
    await clusters[name].bridge(`bridge-${name}`, { args: [branches], ...settings(name) });
  const started = names.map((name) => clusters[name].worker(`worker-${name}`, [branches], settings(name)));
  const [first, second] = (await Promise.all(started)) as [Replica, Replica];
  workers = { east: first, west: second };
  gateway = await clusters.west.gateway("gateway-1", settings("west"));
});
afterAll(() => Promise.all(Object.values(clusters ?? {}).map((environment) => environment.stop())));

/** Objects that the worker of a cluster has reconciled, with the deliveries that caused it. */
const reconciled = (name: ClusterName): string[] =>
  workers[name].log
    .records()
    .filter(({ msg }) => msg === "looked at the branch")
    .map(({ key, deliveries }) => [key, ...(deliveries as string[])].join(" "));

const create = (cluster: ClusterName, name: string, branch: string) =>
  clusters[cluster].client.create(
    Branch,
    {
      apiVersion: "test.denrei.dev/v1",
      kind: "Branch",
      metadata: { namespace: "default", name },
      spec: { repository: "acme/web", branch },
    },
    { fieldManager: "test" },
  );

test("each cluster reconciles only its own objects, and a webhook reaches the objects of both", async () => {
  await create("east", "same", "main");
  await create("west", "same", "main");
  await create("west", "other", "next");
  const first = { east: ["default/same"], west: ["default/other", "default/same"] };
  for (const name of names) await expect.poll(() => reconciled(name).sort()).toEqual(first[name]);

  const hook = hookOf("push", push("acme/web", "main"));
  expect(await post(gateway.hookUrl(), hook)).toBe(202);
  for (const name of names)
    await expect
      .poll(() => reconciled(name).sort())
      .toEqual([...first[name], `default/same ${hook.delivery}`].sort());
});
