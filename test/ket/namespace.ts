/** The namespace of a run. */
import { Namespace, optInLabel } from "denrei/kinds";
import { isAlreadyExists, type KubeClient } from "denrei/kubernetes";

/** Creates an opted-in namespace; false when it already exists. */
export async function makeNamespace(client: KubeClient, name: string): Promise<boolean> {
  const metadata = { name, labels: { [optInLabel]: "true" } };
  try {
    await client.create(
      Namespace,
      { apiVersion: "v1", kind: "Namespace", metadata, spec: {} },
      { fieldManager: "denrei-test" },
    );
    return true;
  } catch (error) {
    if (isAlreadyExists(error)) return false;
    throw error;
  }
}
