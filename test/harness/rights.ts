/** Grants generated rights on a real API server. */
import type { KubeClient } from "../../bus/kube/client.ts";
import { externalKind } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import type { PolicyRule } from "../../bus/worker/function.ts";
import { poll } from "../../deploy/local/run/poll.ts";

const rbac = { group: "rbac.authorization.k8s.io", version: "v1" } as const;
const cluster = { ...rbac, scope: "Cluster" } as const;

/** Kinds of RBAC objects, by name. */
export const rightKinds = {
  ClusterRole: externalKind({ ...cluster, kind: "ClusterRole", plural: "clusterroles" }),
  ClusterRoleBinding: externalKind({ ...cluster, kind: "ClusterRoleBinding", plural: "clusterrolebindings" }),
  RoleBinding: externalKind({ ...rbac, kind: "RoleBinding", plural: "rolebindings" }),
};

/**
 * Creates the roles and bindings among manifests, and resolves when the API server applies them: it reads its own rules through a
 * watch, a moment later. It does not check whether a service account exists.
 */
export async function grant(
  client: KubeClient,
  manifests: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  for (const manifest of manifests) {
    const kind = rightKinds[manifest.kind as keyof typeof rightKinds];
    if (kind) await client.create(kind, manifest as unknown as KubeObject, { fieldManager: "test" });
  }
  const bindings = manifests.filter(({ kind }) => String(kind).endsWith("RoleBinding"));
  await Promise.all(bindings.map((binding) => untilInForce(client, binding as unknown as Binding)));
}

/** Lets a user see the whole bus in the dashboard. */
export const grantBus = (client: KubeClient, user: string): Promise<void> =>
  grant(client, [
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: `${user}-bus` },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "denrei-bus-viewer" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }],
    },
  ]);

interface Binding {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly roleRef: { readonly name: string };
  /** A service account has a namespace, a user has none. */
  readonly subjects: readonly { readonly namespace?: string; readonly name: string }[];
}

/** Checks the right in the first rule of a binding's role. */
async function untilInForce(client: KubeClient, { metadata, roleRef, subjects }: Binding): Promise<void> {
  const role = await client.get(rightKinds.ClusterRole, { name: roleRef.name });
  const [rule] = (role as unknown as { rules?: PolicyRule[] } | undefined)?.rules ?? [];
  if (rule === undefined) return;
  const [resource = "", subresource] = rule.resources[0]?.split("/") ?? [];
  const resourceAttributes = {
    ...{ verb: rule.verbs[0], group: rule.apiGroups[0], resource, subresource },
    ...{ name: rule.resourceNames?.[0], namespace: metadata.namespace },
  };
  for (const { namespace, name } of subjects) {
    const user = namespace === undefined ? name : `system:serviceaccount:${namespace}:${name}`;
    await poll(
      `${metadata.name} to take effect`,
      async () => {
        const { status } = await client.request<{ status: { allowed: boolean } }>({
          method: "POST",
          path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
          body: {
            apiVersion: "authorization.k8s.io/v1",
            kind: "SubjectAccessReview",
            spec: { user, resourceAttributes },
          },
        });
        if (!status.allowed) throw new Error(`${user} may not ${JSON.stringify(resourceAttributes)}`);
      },
      { timeoutMillis: 30_000 },
    );
  }
}

/** The user name of a service account of the platform (`system:serviceaccount:<namespace>:<name>`). */
export const accountUser = (name: string): string => `system:serviceaccount:denrei:${name}`;
