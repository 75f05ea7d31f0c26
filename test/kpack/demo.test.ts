/** The program for demos, as somebody else's process. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { externalKind } from "../../bus/kube/kind.ts";
import { type Kit, startKit } from "../harness/kit.ts";
import { Lines } from "../harness/lines.ts";
import { Image, ServiceAccount } from "./kinds.ts";
import { account, accountIn, imageIn, manager } from "./scene.ts";
import { conditionOf } from "./status.ts";

const program = fileURLToPath(new URL("../demo/kpack.ts", import.meta.url));
const graceMillis = 20_000;

let kit: Kit;
beforeAll(async () => {
  kit = await startKit({ controllerManager: "run", crds: [] });
});
afterAll(() => kit?.stop());

test("it says when there is a builder, builds, and takes its webhooks with it", async () => {
  const out = new Lines();
  const child = await kit.platform.spawn({
    name: "kpack",
    command: process.execPath,
    args: [program, "--step-millis", "5"],
    env: { KUBECONFIG: kit.platform.kubeconfigPath, NODE_NO_WARNINGS: "1", VITEST: undefined },
    onLine: (line) => out.push(line),
    graceMillis,
  });
  const ready = await out.until((line) => line.startsWith("{"));
  expect(JSON.parse(ready)).toEqual({ builder: { kind: "ClusterBuilder", name: "default" } });
  await kit.client.create(ServiceAccount, accountIn("default", account), manager);
  await kit.client.create(Image, imageIn("default", "web"), manager);
  await kit.until(Image, { name: "web" }, (image) => conditionOf(image, "Ready")?.status === "True");
  const ended = child.exited();
  await child.stop("SIGTERM");
  expect(await ended).toEqual({ code: 0, signal: null });
  for (const kind of ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]) {
    const group = "admissionregistration.k8s.io";
    const plural = `${kind.toLowerCase()}s`;
    const { items } = await kit.client.list(
      externalKind({ group, version: "v1", kind, plural, scope: "Cluster" }),
    );
    expect(items).toEqual([]);
  }
});
