/** The namespace of a demo. */
import { apiVersionOf, Namespace, optInLabel, type Stored } from "denrei/kinds";
import { isConflict, isNotFound, type KubeClient } from "denrei/kubernetes";
import { say } from "denrei/runtime";
import type { DemoEnvironment } from "./environment.ts";

/** Time limit for the deletion of the namespace. Milliseconds. */
const removeMillis = 2000;

/** Creates an opted-in namespace and calls `run`. In an existing cluster, deletes the namespace afterwards. */
export async function inNamespace(
  { client, origin }: DemoEnvironment,
  name: string,
  run: () => Promise<void>,
): Promise<void> {
  const metadata = { name, labels: { [optInLabel]: "true" } };
  const namespace = { apiVersion: apiVersionOf(Namespace), kind: Namespace.kind, metadata, spec: {} };
  const created = await client.create(Namespace, namespace, { fieldManager: "denrei-cli" });
  try {
    await run();
  } finally {
    if (origin === "existing") await removeNamespace(client, created);
  }
}

async function removeNamespace(client: KubeClient, { metadata }: Stored): Promise<void> {
  const { name, uid } = metadata;
  try {
    await client.delete(Namespace, { name }, { uid, signal: AbortSignal.timeout(removeMillis) });
    say(`\nThe namespace ${name} is deleted; the CRDs stay in the cluster.`);
  } catch (error) {
    // Another user has deleted it.
    if (isNotFound(error) || isConflict(error)) return;
    say(`\nFailed to delete the namespace ${name}: ${(error as Error).message}`);
  }
}
