/** Namespaces that are opted in or out. */

import type { KubeClient } from "../../bus/kube/client.ts";
import { optInLabel } from "../../bus/kube/domain.ts";
import { Namespace } from "../../bus/kube/kind.ts";

const manager = { fieldManager: "test" };

async function label(client: KubeClient, name: string, value: string | null): Promise<void> {
  await client.mergePatch(Namespace, { name }, { metadata: { labels: { [optInLabel]: value } } }, manager);
}

/** Sets the label that lets bridges read the namespace's Secrets. */
export const optIn = (client: KubeClient, name: string): Promise<void> => label(client, name, "true");

/** Removes the label. */
export const optOut = (client: KubeClient, name: string): Promise<void> => label(client, name, null);

/** Creates a namespace. */
export async function createNamespace(client: KubeClient, name: string): Promise<void> {
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name }, spec: {} };
  await client.create(Namespace, namespace, manager);
}
