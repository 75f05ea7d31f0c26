/** Where the objects of a run are. */

import type { KubeClient } from "../../bus/kube/client.ts";
import { optInLabel } from "../../bus/kube/domain.ts";
import { isAlreadyExists } from "../../bus/kube/errors.ts";
import { Namespace } from "../../bus/kube/kind.ts";

/** Makes an opted-in namespace; false when it is there already and somebody else's. */
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
