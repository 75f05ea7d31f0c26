/** Installs webhook configurations on a control plane of this machine. */
import { setTimeout as sleep } from "node:timers/promises";
import { apiVersionOf, externalKind, type Kind, type KubeObject, Namespace } from "denrei/kinds";
import { ApiError, type KubeClient } from "denrei/kubernetes";
import { configurationLabels } from "../generate/webhookconfigurations.ts";

const group = { group: "admissionregistration.k8s.io", version: "v1", scope: "Cluster" } as const;

/** MutatingWebhookConfigurations. */
export const MutatingWebhookConfiguration = externalKind({
  ...group,
  kind: "MutatingWebhookConfiguration",
  plural: "mutatingwebhookconfigurations",
});
/** ValidatingWebhookConfigurations. */
export const ValidatingWebhookConfiguration = externalKind({
  ...group,
  kind: "ValidatingWebhookConfiguration",
  plural: "validatingwebhookconfigurations",
});
const kinds = [MutatingWebhookConfiguration, ValidatingWebhookConfiguration];

const writer = { fieldManager: "denrei-cli" };
const pollMillis = 20;

/**
 * Makes these the only configurations of Denrei in a cluster that no other project uses. Resolves when the API server calls their
 * webhooks. Rejects with the reason of `signal`.
 */
export async function syncConfigurations(
  client: KubeClient,
  manifests: readonly Record<string, unknown>[],
  signal: AbortSignal,
): Promise<void> {
  for (const kind of kinds) {
    const wanted = manifests.filter((one) => one.kind === kind.kind) as unknown as KubeObject[];
    for (const manifest of wanted)
      await client.apply(kind, manifest, { ...writer, signal, force: "take-ownership" });
    await removeOthers(client, kind, wanted, signal);
    if (wanted.length > 0) await untilActive(client, kind, signal);
  }
}

async function removeOthers(
  client: KubeClient,
  kind: Kind,
  wanted: readonly KubeObject[],
  signal: AbortSignal,
): Promise<void> {
  const labelSelector = Object.entries(configurationLabels)
    .map((pair) => pair.join("="))
    .join(",");
  const { items } = await client.list(kind, undefined, { labelSelector }, signal);
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  for (const { metadata } of items)
    if (!names.has(metadata.name)) await client.delete(kind, { name: metadata.name }, { signal });
}

const probeName = "denrei-admission-probe";
const probeLabel = "denrei.dev/admission-probe";

/**
 * The API server learns of configurations in their order. When it calls the webhook of a later one, which only a request of this
 * function matches, it calls the earlier ones too.
 */
async function untilActive(client: KubeClient, kind: Kind, signal: AbortSignal): Promise<void> {
  const labels = { [probeLabel]: kind.kind };
  const probe = { apiVersion: "v1", kind: "Namespace", metadata: { name: probeName, labels } };
  const unreachable = {
    name: "probe.admission.denrei.dev",
    admissionReviewVersions: ["v1"],
    clientConfig: { url: "https://127.0.0.1:1/" },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["namespaces"], operations: ["CREATE"] }],
    objectSelector: { matchLabels: labels },
    sideEffects: "None",
    timeoutSeconds: 1,
  };
  const configuration = {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: { name: probeName },
    webhooks: [unreachable],
  };
  await client.apply(kind, configuration as unknown as KubeObject, {
    ...writer,
    signal,
    force: "take-ownership",
  });
  while (!(await isRejected(client, probe, signal))) await sleep(pollMillis, undefined, { signal });
  await client.delete(kind, { name: probeName }, { signal });
}

async function isRejected(client: KubeClient, probe: object, signal: AbortSignal): Promise<boolean> {
  try {
    await client.create(Namespace, probe as KubeObject, { ...writer, signal, dryRun: "All" });
    return false;
  } catch (error) {
    if (error instanceof ApiError && error.message.includes("failed calling webhook")) return true;
    throw error;
  }
}
