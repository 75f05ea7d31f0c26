/**
 * Rights of users on the kinds of functions, aggregated into the standard roles view, edit, and admin.
 * https://kubernetes.io/docs/reference/access-authn-authz/rbac/#user-facing-roles
 */
import { Build, Image } from "@denrei/functions/paas/kinds/kpack";
import { domain, type Kind, kindText } from "denrei/kinds";
import { definedKinds, kindsOf, type PolicyRule, type ReconcileFunction } from "denrei/runtime";
import { labelsOf } from "./rbac.ts";

type Manifest = Record<string, unknown>;

const name = "denrei-users";
const read = ["get", "list", "watch"];
const write = ["create", "delete", "deletecollection", "patch", "update"];

/**
 * Rules to write the namespaced kinds that only administrators of the cluster may write. No role in {@link userRoles} has them. For
 * users of a local platform, who may change everything in their namespace.
 */
export const clusterAdminRules = (functions: readonly ReconcileFunction[]): PolicyRule[] =>
  rulesOf(
    definedKinds(functions).filter(
      ({ scope, definition }) => scope === "Namespaced" && definition?.writers === "cluster-admin",
    ),
    write,
  );

/** The kinds of kpack that functions use. kpack ships no user-facing roles, and users want to see their builds. */
const kpackKinds = (functions: readonly ReconcileFunction[]): Kind[] => {
  const used = functions.flatMap(kindsOf).map(kindText);
  return [Build, Image].filter((kind) => used.includes(kindText(kind)));
};

/** Roles to read all namespaced kinds, to write those for editors, to write those for administrators, and to view the whole bus. */
export function userRoles(functions: readonly ReconcileFunction[]): Manifest[] {
  const kinds = definedKinds(functions).filter(({ scope }) => scope === "Namespaced");
  const kpack = kpackKinds(functions);
  const writtenBy = (role: "edit" | "admin") =>
    kinds.filter(({ definition }) => definition?.writers === role);
  return [
    // Editors get the read rules from the view role, and administrators get both.
    role(
      "view",
      ["view", "edit", "admin"],
      [...rulesOf([...kinds, ...kpack], read), busRule(["activity", "deadletters"], "list")],
    ),
    role(
      "edit",
      ["edit", "admin"],
      [
        ...rulesOf(writtenBy("edit"), write),
        // An annotation on a Build requests a rebuild. kpack rejects other changes.
        ...rulesOf(
          kpack.filter(({ kind }) => kind === Build.kind),
          ["patch"],
        ),
        busRule(["deadletters/replay"], "create"),
      ],
    ),
    role("admin", ["admin"], rulesOf(writtenBy("admin"), write)),
    // Covers the whole cluster, so no role for namespaces includes it.
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

/** Resources that exist only for authorization checks of the dashboard. No API server serves them. */
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
