/** Granting generated rights on a real API server. */
import type { KubeClient } from "../../bus/kube/client.ts";
import { externalKind } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";

const rbac = { group: "rbac.authorization.k8s.io", version: "v1" } as const;
const cluster = { ...rbac, scope: "Cluster" } as const;

/** Kinds of rights, by name. */
export const rightKinds = {
  ClusterRole: externalKind({ ...cluster, kind: "ClusterRole", plural: "clusterroles" }),
  ClusterRoleBinding: externalKind({ ...cluster, kind: "ClusterRoleBinding", plural: "clusterrolebindings" }),
  RoleBinding: externalKind({ ...rbac, kind: "RoleBinding", plural: "rolebindings" }),
};

/** Creates the roles and bindings among manifests: nobody asks whether a service account exists. */
export async function grant(
  client: KubeClient,
  manifests: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  for (const manifest of manifests) {
    const kind = rightKinds[manifest.kind as keyof typeof rightKinds];
    if (kind) await client.create(kind, manifest as unknown as KubeObject, { fieldManager: "test" });
  }
}

/** The user name of a service account of the platform (`system:serviceaccount:<namespace>:<name>`). */
export const accountUser = (name: string): string => `system:serviceaccount:denrei:${name}`;
