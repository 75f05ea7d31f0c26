import { certificateManifests } from "@denrei/cli/generate/certificates";
import { separateLayout } from "@denrei/cli/generate/layout";
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
  const secrets = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "denrei-webhook-secrets", namespace },
    stringData: webhooks,
  };
  return [...(certificateManifests(separateLayout(functions), namespace) as unknown as Manifest[]), secrets];
}
