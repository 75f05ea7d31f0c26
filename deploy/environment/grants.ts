/** Roles of the users of a local platform. */
import { ClusterRole, ClusterRoleBinding, type Kind, type KubeObject, RoleBinding } from "denrei/kinds";
import { isAlreadyExists, type KubeClient } from "denrei/kubernetes";
import { openProject } from "denrei/runtime";
import { clusterAdminRules, userRoles } from "../generate/users.ts";
import type { DashboardUser } from "./users.ts";

const rbac = "rbac.authorization.k8s.io";
/** Lets a user see the state of the bus. */
const busViewer = "denrei-bus-viewer";
/** Lets a user list namespaces, to choose one on the page. */
const namespaces = "denrei-demo-namespaces";
/** Lets an administrator write the kinds of a namespace that elsewhere only administrators of the cluster write. */
const allKinds = "denrei-demo-all-kinds";

/** Binds the role of each user in a namespace, and the cluster-wide read permissions. */
export async function grantRoles(
  client: KubeClient,
  users: readonly DashboardUser[],
  namespace: string,
): Promise<void> {
  const functions = await (await openProject()).all();
  const roles = [
    ...userRoles(functions),
    clusterRole(namespaces, namespaceRules),
    clusterRole(allKinds, clusterAdminRules(functions)),
  ];
  const names = roles.map(({ metadata }) => (metadata as { name: string }).name);
  for (const role of roles) await create(client, ClusterRole, role);
  for (const { name, role } of users) {
    for (const one of role === "admin" ? [role, allKinds] : [role])
      await create(client, RoleBinding, binding("RoleBinding", name, one, namespace));
    for (const wide of [namespaces, busViewer].filter((one) => names.includes(one)))
      await create(client, ClusterRoleBinding, binding("ClusterRoleBinding", name, wide));
  }
}

const namespaceRules = [{ apiGroups: [""], resources: ["namespaces"], verbs: ["get", "list", "watch"] }];

const clusterRole = (name: string, rules: readonly object[]) => ({
  apiVersion: `${rbac}/v1`,
  kind: "ClusterRole",
  metadata: { name },
  rules,
});

const binding = (kind: string, user: string, role: string, namespace?: string) => ({
  apiVersion: `${rbac}/v1`,
  kind,
  metadata: { name: `${role}-${user}`, ...(namespace !== undefined && { namespace }) },
  roleRef: { apiGroup: rbac, kind: "ClusterRole", name: role },
  subjects: [{ apiGroup: rbac, kind: "User", name: user }],
});

async function create(client: KubeClient, kind: Kind, object: object): Promise<void> {
  try {
    await client.create(kind, object as KubeObject, { fieldManager: "denrei-cli" });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
