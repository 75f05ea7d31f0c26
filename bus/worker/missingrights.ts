/** Says what to add to a function's declaration when the API server denies one of its requests. */
import { isMarked } from "../kube/clusterchild.ts";
import { type Action, type Denial, isOnSecrets, type Rule, ruleFor, ruleText } from "../kube/denial.ts";
import { optInCommands } from "../kube/domain.ts";
import type { Reach } from "../kube/kind.ts";
import { controllerOf, type KubeObject } from "../kube/object.ts";
import type { ReconcileFunction } from "./function.ts";
import { workerRules } from "./rbac.ts";

/** Where a function runs. In a cluster, its role is deployed; locally, it follows the declaration. */
export type RolePlace = "cluster" | "local";

/** Text that continues the error message of a denied request. The entry in it can be pasted into the declaration. */
export function missingRight(fn: ReconcileFunction, denial: Denial, place: RolePlace): string {
  const { cause, action } = denial;
  if (cause === "unknown-user") return ". The API server does not know the account of this process.";
  if (cause === "impersonation")
    return ". The user of the kubeconfig must be allowed to impersonate the service accounts of the functions.";
  if (action === undefined)
    return ". The account of this process needs the ClusterRole system:discovery, which clusters grant by default.";
  if (cause === "owner-deletion") return entry(fn, ownsEntry(fn, denial), place);
  if (cause === "escalation") return entry(fn, escalationEntry(action, denial.sent), place);
  if (isOnSecrets(action)) return secretAdvice(fn, denial, action, place);
  if (isDeclared(fn, denial, action, "all")) return olderRole(fn, place);
  return entry(fn, declarationFor(denial, action), place);
}

/** What to write into the declaration. */
function declarationFor(denial: Denial, action: Action): string {
  const permission = permissionsEntry(ruleFor(action, denial.verbs));
  const kind = childKind(denial);
  if (kind !== undefined) return `owns: [${kind}]`;
  if (action.verb !== "get" || action.resource.includes("/")) return permission;
  return `${permission}, or, to also reconcile when the object changes, its kind to watches`;
}

const permissionsEntry = (rule: Rule): string => `permissions: [${ruleText(rule)}]`;

/** The kind of the object that the request wrote, if that has a controller: then it is a child. */
function childKind({ sent }: Denial): string | undefined {
  const object = sent as KubeObject | undefined;
  if (object?.metadata === undefined) return undefined;
  const isChild = controllerOf(object) !== undefined || isMarked(object);
  return isChild ? object.kind : undefined;
}

/** Setting `blockOwnerDeletion` requires a permission for the finalizers of the owner, which `owns` grants. */
function ownsEntry({ for: { group, plural } }: ReconcileFunction, denial: Denial): string {
  const kind = childKind(denial);
  const rule = { apiGroups: [group], resources: [`${plural}/finalizers`], verbs: ["update"] };
  return kind === undefined ? permissionsEntry(rule) : `owns: [${kind}]`;
}

/** The author of a role needs its permissions, or the verb `escalate`. For a binding, this is `bind` on the role. */
function escalationEntry(action: Action, sent: unknown): string {
  const { roleRef } = (sent ?? {}) as { readonly roleRef?: { readonly kind: string } };
  if (roleRef === undefined) return permissionsEntry(ruleFor(action, ["escalate"]));
  const resource = `${roleRef.kind.toLowerCase()}s`;
  return permissionsEntry(ruleFor({ ...action, resource }, ["bind"]));
}

/** Functions use Secrets in opted-in namespaces, if they declare them. */
function secretAdvice(fn: ReconcileFunction, denial: Denial, action: Action, place: RolePlace): string {
  if (action.verb === "list" || action.verb === "watch")
    return ". Functions cannot list Secrets. Read them one by one, by name.";
  if (isDeclared(fn, denial, action, "opted-in"))
    return `. Opt the namespace in: ${optInCommands(action.namespace ?? "<namespace>")}`;
  const declaration =
    action.verb === "get" ? "Secret to watches, or, for children, owns: [Secret]" : "owns: [Secret]";
  return `${entry(fn, declaration, place)} Then opt the namespace in, if it is not: ${optInCommands(action.namespace ?? "<namespace>")}`;
}

/** Whether the declaration already grants the action. */
function isDeclared(fn: ReconcileFunction, { verbs }: Denial, action: Action, reach: Reach): boolean {
  const rules = workerRules(fn, reach);
  return verbs.every((verb) =>
    rules.some(
      ({ apiGroups, resources, verbs: granted, resourceNames }) =>
        [action.group, "*"].some((group) => apiGroups.includes(group)) &&
        [action.resource, "*"].some((resource) => resources.includes(resource)) &&
        [verb, "*"].some((one) => granted.includes(one)) &&
        (resourceNames === undefined || resourceNames.includes(action.name ?? "")),
    ),
  );
}

const entry = ({ name }: ReconcileFunction, declaration: string, place: RolePlace): string =>
  `. Add to the function ${name}: ${declaration}.${place === "cluster" ? ` Then ${rollOut(name)}` : ""}`;

const rollOut = (name: string): string => `apply its role: \`npx denrei rbac ${name} | kubectl apply -f -\``;

/** The role lacks what the declaration has. */
const olderRole = ({ name }: ReconcileFunction, place: RolePlace): string =>
  place === "cluster"
    ? `. The function ${name} declares this already, so its role is out of date: ${rollOut(name)}`
    : `. The function ${name} declares this already, so its role was changed: restart the platform.`;
