/** A real API server accepts the objects of the built-in chart without warnings, at both levels of pod security. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type KubeConnection, loadKubeconfig, openConnection } from "../../../bus/kube/connection.ts";
import { type LocalPlatform, startLocalPlatform } from "../../../deploy/local/index.ts";
import { builtinChart } from "../../../functions/paas/charts/builtin.ts";
import type { ChartApplication } from "../../../functions/paas/charts/chart.ts";
import { checkedObjects } from "../../../functions/paas/charts/validate.ts";
import { accepted, apply, dryRunPod } from "../../deploy/apply.ts";
import type { Manifest } from "../../deploy/manifests.ts";
import { platformPrograms, programs } from "../../harness/programs.ts";
import { application } from "./expected.ts";
import { site } from "./sites.ts";
import { generous } from "./sources.ts";

await programs(...platformPrograms);

let platform: LocalPlatform;
let connection: KubeConnection;

beforeAll(async () => {
  platform = await startLocalPlatform({ controllerManager: "omit" });
  connection = await openConnection(loadKubeconfig({ path: platform.kubeconfigPath }));
  for (const level of ["baseline", "restricted"]) {
    const labels = { "pod-security.kubernetes.io/enforce": level };
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: level, labels } };
    expect(await apply(connection, namespace, "for-real")).toEqual(accepted);
    // The API server refuses a pod without its account, and no controller creates it here.
    const account = {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "default", namespace: level },
    };
    expect(await apply(connection, account, "for-real")).toEqual(accepted);
  }
}, 900_000);
afterAll(async () => {
  await connection?.close();
  await platform?.stop();
});

/** An application with all fields. */
const full: Partial<ChartApplication["spec"]> = {
  domains: ["web.example.com", "*.example.com"],
  command: ["node"],
  args: ["server.js"],
  port: 80,
  replicas: 0,
  attributes: { "modoki.tsuzu.dev/oauth2": "default" },
  imagePullSecret: "registry",
  imagePullSecrets: [{ name: "mirror" }],
  env: [
    { name: "A", value: "$(PORT)" },
    { name: "B", valueFrom: { secretKeyRef: { name: "s", key: "k", optional: true } } },
  ],
  envFrom: [{ prefix: "P_", configMapRef: { name: "c" } }],
  resources: { requests: { cpu: 1, memory: "64Mi" }, limits: { memory: "128Mi" } },
  healthCheck: { path: "/healthz", initialDelaySeconds: 1, timeoutSeconds: 2 },
};

test.each([
  ["baseline", "the minimal spec", {}, {}],
  ["baseline", "all fields", full, { className: "nginx", tlsSecretName: "tls" }],
  ["restricted", "the minimal spec", {}, {}],
  ["restricted", "all fields", full, { className: "nginx", annotations: { "example.com/a": "b" } }],
] as const)("accepts at level %s an application with %s", async (namespace, _, spec, ingress) => {
  for (const name of ["web", "1.web"]) {
    const app = application(spec, { name, namespace });
    const config = site({ podSecurity: namespace, ingress, terminationGracePeriodSeconds: 10 });
    const objects = checkedObjects(await builtinChart.render(app, config, generous()), { namespace });
    expect(objects.length).toBeGreaterThanOrEqual(3);
    for (const object of objects) {
      expect([object.kind, await apply(connection, object as Manifest, "dry-run")]).toEqual([
        object.kind,
        accepted,
      ]);
    }
    const { template } = objects[0]!.spec as { template: { metadata: object; spec: object } };
    const metadata = { ...template.metadata, name: "pod", namespace };
    const pod = { apiVersion: "v1", kind: "Pod", metadata, spec: template.spec };
    expect(await dryRunPod(connection, pod as Manifest)).toEqual(accepted);
  }
});
