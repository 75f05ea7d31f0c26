/** A provider that only a project knows, from a signed request to a reconcile, with the real command lines. */
import { createHmac, randomUUID } from "node:crypto";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { crdOf } from "../../bus/kube/crd.ts";
import { Mirror } from "../fixtures/functions/mirrors.ts";
import { type GatewayReplica, startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { ask } from "./requests.ts";

const mirrors = fileURLToPath(new URL("../fixtures/functions/mirrors.ts", import.meta.url));
const secret = "only acme knows it";

let environment: TestEnvironment;
let gateway: GatewayReplica;
beforeAll(async () => {
  environment = await startTestEnvironment({ crds: [crdOf(Mirror)] });
  await environment.bridge("bridge-1", { args: [mirrors] });
  await environment.worker("worker-1", [mirrors]);
  const folder = await mkdtemp(join(tmpdir(), "denrei-acme-"));
  await writeFile(join(folder, "acme.builds"), secret);
  const env = { DENREI_WEBHOOK_SECRETS: folder };
  gateway = await environment.gateway("gateway-1", { args: [mirrors], env });
});
afterAll(() => environment?.stop());

/** Sends a webhook to acme's hook, signed with this secret. */
function send(payload: object, key = secret) {
  const body = JSON.stringify(payload);
  const signature = createHmac("sha256", key).update(body).digest("base64");
  const headers = { "content-type": "application/json", "x-acme-signature": signature };
  return ask(new URL("/acme/builds", gateway.hookUrl()).href, { body, headers });
}

const built = (tag: string, region = "EU") => ({
  id: randomUUID(),
  kind: "artifact.built",
  store: { name: "Web", region, url: "https://acme.example.com/web" },
  artifact: { tag, author: "kaito@example.com" },
});

test("a signed webhook reconciles the objects that its address and its selected fields name", async () => {
  const at = { namespace: "default", name: "web" };
  await environment.client.create(
    Mirror,
    { apiVersion: "test.denrei.dev/v1", kind: "Mirror", metadata: at, spec: { repository: "eu/web" } },
    { fieldManager: "test" },
  );
  const webhooks = (count: number) =>
    environment.until(Mirror, at, ({ status }) => status?.webhooks?.length === count);
  await webhooks(0);
  const [latest, next] = [built("latest"), built("latest")];
  expect(await send(latest, "another")).toMatchObject({ status: 401 });
  for (const other of [built("v1"), built("latest", "US")])
    expect(await send(other)).toMatchObject({ status: 202, text: "stored" });
  expect(await send({ ...latest, kind: "artifact.deleted" })).toMatchObject({ status: 200 });
  expect(await send({ ...latest, artifact: {} })).toMatchObject({ status: 422 });
  expect(await send(latest)).toMatchObject({ status: 202, text: "stored" });
  expect(await send(latest)).toMatchObject({ status: 202, text: "duplicate" });
  await webhooks(1);
  expect(await send(next)).toMatchObject({ status: 202, text: "stored" });
  const { status } = await webhooks(2);
  expect(status?.webhooks).toEqual([`artifact.built ${latest.id}`, `artifact.built ${next.id}`]);
  // What no function selects appears nowhere.
  expect(gateway.log.all.join("\n")).not.toContain("kaito@example.com");
});
