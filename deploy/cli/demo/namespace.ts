/** The namespace of a demo. */

import type { KubeClient } from "../../../bus/kube/client.ts";
import { optInLabel } from "../../../bus/kube/domain.ts";
import { isConflict, isNotFound } from "../../../bus/kube/errors.ts";
import { apiVersionOf, Namespace } from "../../../bus/kube/kind.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import { say } from "../output.ts";
import type { DemoEnvironment } from "./environment.ts";

/** How long taking the namespace away may take, in milliseconds. */
const removeMillis = 2000;

/** Makes a namespace in which Secrets are looked at; one in somebody's own cluster is taken away again. */
export async function inNamespace(
  { client, origin }: DemoEnvironment,
  name: string,
  play: () => Promise<void>,
): Promise<void> {
  const metadata = { name, labels: { [optInLabel]: "true" } };
  const namespace = { apiVersion: apiVersionOf(Namespace), kind: Namespace.kind, metadata, spec: {} };
  const made = await client.create(Namespace, namespace, { fieldManager: "denrei-cli" });
  try {
    await play();
  } finally {
    if (origin === "existing") await removeNamespace(client, made);
  }
}

async function removeNamespace(client: KubeClient, { metadata }: Stored): Promise<void> {
  const { name, uid } = metadata;
  try {
    await client.delete(Namespace, { name }, { uid, signal: AbortSignal.timeout(removeMillis) });
    say(`\nThe namespace ${name} is deleted; the CRDs stay in the cluster.`);
  } catch (error) {
    // Somebody else has taken it away.
    if (isNotFound(error) || isConflict(error)) return;
    say(`\nThe namespace ${name} could not be deleted: ${(error as Error).message}`);
  }
}
