/** Installs webhook configurations on a control plane of this machine. */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { apiVersionOf, externalKind, type Kind, type KubeObject, Namespace } from "denrei/kinds";
import { ApiError, isNotFound, type KubeClient } from "denrei/kubernetes";
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
 * webhooks, and no others. Rejects with the reason of `signal`.
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
    const removed = await removeOthers(client, kind, wanted, signal);
    if (wanted.length + removed > 0) await untilFollowed(client, kind, signal);
  }
}

/** Returns how many it has removed. */
async function removeOthers(
  client: KubeClient,
  kind: Kind,
  wanted: readonly KubeObject[],
  signal: AbortSignal,
): Promise<number> {
  const labelSelector = Object.entries(configurationLabels)
    .map((pair) => pair.join("="))
    .join(",");
  const { items } = await client.list(kind, undefined, { labelSelector }, signal);
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  const others = items.filter(({ metadata }) => !names.has(metadata.name));
  for (const { metadata } of others) await remove(client, kind, metadata.name, signal);
  return others.length;
}

/** Another worker may have removed it. */
async function remove(client: KubeClient, kind: Kind, name: string, signal: AbortSignal): Promise<void> {
  await client.delete(kind, { name }, { signal }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

const probeLabel = "denrei.dev/admission-probe";

/**
 * The API server learns of changes in their order. When it calls the webhook of a later configuration, which only a request of this
 * function matches, it knows the earlier changes too.
 */
async function untilFollowed(client: KubeClient, kind: Kind, signal: AbortSignal): Promise<void> {
  const name = `denrei-admission-probe-${randomBytes(4).toString("hex")}`;
  const probe = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels: { [probeLabel]: name } } };
  const options = { ...writer, signal, force: "take-ownership" } as const;
  await client.apply(kind, unreachable(kind, name) as unknown as KubeObject, options);
  while (!(await isRejected(client, probe, signal))) await sleep(pollMillis, undefined, { signal });
  await remove(client, kind, name, signal);
}

/** A configuration whose webhook no server answers. */
const unreachable = (kind: Kind, name: string) => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  metadata: { name },
  webhooks: [
    {
      name: "probe.admission.denrei.dev",
      admissionReviewVersions: ["v1"],
      clientConfig: { url: "https://127.0.0.1:1/" },
      rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["namespaces"], operations: ["CREATE"] }],
      objectSelector: { matchLabels: { [probeLabel]: name } },
      sideEffects: "None",
      timeoutSeconds: 1,
    },
  ],
});

async function isRejected(client: KubeClient, probe: object, signal: AbortSignal): Promise<boolean> {
  try {
    await client.create(Namespace, probe as KubeObject, { ...writer, signal, dryRun: "All" });
    return false;
  } catch (error) {
    if (error instanceof ApiError && error.message.includes("failed calling webhook")) return true;
    throw error;
  }
}
