/** The simulator's command, run as a separate process. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { externalKind } from "../../bus/kube/kind.ts";
import { Image, ServiceAccount } from "../../deploy/simulators/kpack/kinds.ts";
import { conditionOf } from "../../deploy/simulators/kpack/status.ts";
import { startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { Lines } from "../ket/lines.ts";
import { account, accountIn, imageIn, manager } from "./environment.ts";

const program = fileURLToPath(new URL("../../deploy/simulators/kpack/main.ts", import.meta.url));
const readyMillis = 60_000;
const graceMillis = 20_000;

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await startTestEnvironment();
});
afterAll(() => environment?.stop());

const webhookKinds = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"].map((kind) =>
  externalKind({
    group: "admissionregistration.k8s.io",
    version: "v1",
    kind,
    plural: `${kind.toLowerCase()}s`,
    scope: "Cluster",
  }),
);
const registered = async () =>
  (
    await Promise.all(webhookKinds.map(async (kind) => (await environment.client.list(kind)).items.length))
  ).join();

test("reports a ready builder, also after SIGKILL and a restart, and removes its webhooks at the end", async () => {
  const out = new Lines();
  let life = 0;
  const child = await environment.platform.spawn({
    name: "kpack",
    command: process.execPath,
    args: [program, "--step-millis", "5"],
    env: { KUBECONFIG: environment.platform.kubeconfigPath, NODE_NO_WARNINGS: "1", VITEST: undefined },
    onLine: (line) => out.push(line),
    ready: () => out.until((line) => line.startsWith("{"), readyMillis, life),
    readyMillis,
    graceMillis,
  });
  expect(JSON.parse(out.all.findLast((line) => line.startsWith("{")) ?? "")).toEqual({
    builder: { kind: "ClusterBuilder", name: "default" },
  });
  await child.stop("SIGKILL");
  await environment.client.create(ServiceAccount, accountIn("default", account), manager);
  const image = imageIn("default", "web");
  await expect(environment.client.create(Image, image, manager)).rejects.toThrow("failed calling webhook");
  life = out.all.length;
  await child.start();
  await environment.client.create(Image, image, manager);
  await environment.until(Image, { name: "web" }, (image) => conditionOf(image, "Ready")?.status === "True");
  expect(await registered()).toBe("1,1");
  const exited = child.exited();
  await child.stop("SIGTERM");
  expect(await exited).toEqual({ code: 0, signal: null });
  expect(await registered()).toBe("0,0");
});
