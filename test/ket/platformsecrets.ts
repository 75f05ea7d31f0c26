import { clusterRoles } from "@denrei/cli/authorization";
import { certificateManifests } from "@denrei/cli/generate/certificates";
import { needWebhook } from "@denrei/cli/generate/crds";
import { openProject } from "denrei/runtime";
import type { Manifest } from "./manifest.ts";

/**
 * New certificates for the bus and its users, as `denrei certificates` prints them, and webhook secrets by the name of their hook: what
 * `skaffold.before` of `startKet` needs after the namespace.
 */
export async function platformSecrets({
  namespace = "denrei",
  webhooks = {},
}: {
  readonly namespace?: string;
  readonly webhooks?: Readonly<Record<string, string>>;
} = {}): Promise<Manifest[]> {
  const functions = await (await openProject()).all();
  const roles = clusterRoles(functions, "default").map(({ name }) => name);
  const secrets = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "denrei-webhook-secrets", namespace },
    stringData: webhooks,
  };
  return [
    ...(certificateManifests(
      roles,
      namespace,
      needWebhook(functions) ? "webhook" : "no webhook",
    ) as unknown as Manifest[]),
    secrets,
  ];
}
