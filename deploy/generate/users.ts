/**
 * What people may do with the kinds of functions, as parts of the roles that every cluster has: view, edit and admin.
 * https://kubernetes.io/docs/reference/access-authn-authz/rbac/#user-facing-roles
 */
import { domain } from "../../bus/kube/domain.ts";
import type { Kind } from "../../bus/kube/kind.ts";
import { definedKinds, type PolicyRule, type ReconcileFunction } from "../../bus/worker/function.ts";
import { Build, Image } from "../../functions/paas/kinds/kpack.ts";
import { labelsOf } from "./rbac.ts";

type Manifest = Record<string, unknown>;

const name = "denrei-users";
const read = ["get", "list", "watch"];
const write = ["create", "delete", "deletecollection", "patch", "update"];

/** What kpack makes of RemoteSyncs. It has no such roles of its own, and whoever waits for a build wants to see it. */
const seenAsWell: readonly Kind[] = [Build, Image];

/** The roles: reading all namespaced kinds; writing those that editors may write; writing the others; seeing the whole bus. */
export function userRoles(functions: readonly ReconcileFunction[]): Manifest[] {
  const kinds = definedKinds(functions).filter(({ scope }) => scope === "Namespaced");
  const writtenBy = (role: "edit" | "admin") =>
    kinds.filter(({ definition }) => definition?.writers === role);
  return [
    // Whoever may edit may view by another role, and so on.
    role(
      "view",
      ["view", "edit", "admin"],
      [...rulesOf([...kinds, ...seenAsWell], read), busRule(["activity", "deadletters"], "list")],
    ),
    role(
      "edit",
      ["edit", "admin"],
      [
        ...rulesOf(writtenBy("edit"), write),
        // An annotation has another one made; what a Build is made of can not be changed, says kpack.
        ...rulesOf([Build], ["patch"]),
        busRule(["deadletters/replay"], "create"),
      ],
    ),
    role("admin", ["admin"], rulesOf(writtenBy("admin"), write)),
    // Of the whole cluster, so it is part of no role of a namespace.
    role("bus-viewer", [], [busRule(["functions"], "get")]),
  ];
}

const rulesOf = (kinds: readonly Kind[], verbs: readonly string[]): PolicyRule[] =>
  [...Map.groupBy(kinds, ({ group }) => group)].map(([group, of]) => ({
    apiGroups: [group],
    resources: of
      .flatMap(({ plural, definition }) => [plural, ...(definition?.scale ? [`${plural}/scale`] : [])])
      .sort(),
    verbs,
  }));

/** What the dashboard asks about when it shows the bus. No API server serves it. */
const busRule = (resources: readonly string[], verb: string): PolicyRule => ({
  apiGroups: [domain],
  resources,
  verbs: [verb],
});

const role = (suffix: string, partOf: readonly string[], rules: readonly PolicyRule[]): Manifest => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: {
    name: `denrei-${suffix}`,
    labels: {
      ...labelsOf(name),
      ...Object.fromEntries(partOf.map((part) => [`rbac.authorization.k8s.io/aggregate-to-${part}`, "true"])),
    },
  },
  rules,
});
