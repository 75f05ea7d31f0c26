/** Registers the simulated webhooks with the API server, with the names and rules of kpack's own. */
import { setTimeout as sleep } from "node:timers/promises";
import { externalKind, type KubeObject } from "denrei/kinds";
import { ApiError, isAbsence, isNotFound, type KubeClient } from "denrei/kubernetes";
import { group, Image, version } from "./kinds.ts";

const configurations = [
  {
    kind: "MutatingWebhookConfiguration",
    name: "defaults.webhook.kpack.io",
    path: "/defaults",
    operations: ["CREATE", "UPDATE"],
  },
  {
    kind: "ValidatingWebhookConfiguration",
    name: "validation.webhook.kpack.io",
    path: "/validate",
    operations: ["CREATE", "UPDATE", "DELETE"],
  },
] as const;

/** Validated resources. kpack does not validate SourceResolvers. */
const resources = ["images", "builds", "builders", "clusterbuilders"];
const fieldManager = "kpack";
const probeMillis = 20;

const kindOf = (kind: string) =>
  externalKind({
    group: "admissionregistration.k8s.io",
    version: "v1",
    kind,
    plural: `${kind.toLowerCase()}s`,
    scope: "Cluster",
  });

/** Registers the webhooks at that URL and resolves when the API server calls them. */
export async function registerWebhooks(
  client: KubeClient,
  { url, ca }: { readonly url: string; readonly ca: string },
  signal: AbortSignal,
): Promise<void> {
  for (const { kind, name, path, operations } of configurations) {
    const webhook = {
      name,
      admissionReviewVersions: ["v1"],
      clientConfig: { url: `${url}${path}`, caBundle: Buffer.from(ca).toString("base64") },
      failurePolicy: "Fail",
      matchPolicy: "Exact",
      sideEffects: "None",
      timeoutSeconds: 10,
      rules: [
        {
          apiGroups: [group],
          apiVersions: [version],
          operations,
          resources: resources.flatMap((one) => [one, `${one}/status`]),
          scope: "*",
        },
      ],
    };
    const object = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind,
      metadata: { name },
      webhooks: [webhook],
    } as unknown as KubeObject;
    await client.apply(kindOf(kind), object, { fieldManager, signal, force: "take-ownership" });
  }
  while (!(await isActive(client, signal))) await sleep(probeMillis, undefined, { signal });
}

/** Whether the last webhook rejects an invalid Image. */
async function isActive(client: KubeClient, signal: AbortSignal): Promise<boolean> {
  const probe = {
    apiVersion: `${group}/${version}`,
    kind: Image.kind,
    metadata: { name: "kpack-webhook-probe", namespace: "default" },
    spec: {},
  } as unknown as Image;
  try {
    await client.create(Image, probe, { fieldManager, signal, dryRun: "All" });
    return false;
  } catch (error) {
    if (error instanceof ApiError && error.message.includes("denied the request")) return true;
    if (signal.aborted) throw error;
    return false;
  }
}

/** Deletes the configurations, because the API server rejects all writes while it cannot call the webhooks. */
export async function unregisterWebhooks(client: KubeClient): Promise<void> {
  for (const { kind, name } of configurations) {
    try {
      await client.delete(kindOf(kind), { name }, {});
    } catch (error) {
      // An unavailable API server calls no webhooks.
      if (!isNotFound(error) && !isAbsence(error)) throw error;
    }
  }
}
