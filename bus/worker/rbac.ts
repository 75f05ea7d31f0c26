/**
 * Derives RBAC from declarations: exactly the permissions that a function's worker and the bridge need. For kinds that are
 * restricted to opted-in namespaces they are granted in each of those namespaces, for all others in the whole cluster.
 */
import { type Kind, Namespace, type Reach } from "../kube/kind.ts";
import { kindsOf, type PolicyRule, type ReconcileFunction } from "./function.ts";

const owning = ["create", "delete", "get", "patch"];
const watching = ["list", "watch"];

/** Rules for a function's worker: reads and writes of single objects, never list or watch. */
export function workerRules(fn: ReconcileFunction, reach: Reach): PolicyRule[] {
  const watched = fn.watches.map(({ kind }) => kind).filter((kind) => !fn.owns.includes(kind));
  const events = { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create"] };
  return mergedRules([
    ...(fn.for.reach === reach ? ownRules(fn) : []),
    ...withReach(fn.owns, reach).map((kind) => rule(kind, owning)),
    ...withReach(watched, reach).map((kind) => rule(kind, ["get"])),
    ...(reach === "all" ? [events, ...fn.permissions] : []),
  ]);
}

/** Rules for a worker and the bridge, for kinds that an installation lists. */
export const listedRules = (kinds: readonly Kind[]): Readonly<Record<"worker" | "bridge", PolicyRule[]>> => ({
  worker: mergedRules(kinds.map((kind) => rule(kind, owning))),
  bridge: mergedRules(kinds.map((kind) => rule(kind, watching))),
});

/** Rules for the reconciled objects. */
function ownRules({ for: { group, plural, definition }, owns }: ReconcileFunction): PolicyRule[] {
  return [
    { apiGroups: [group], resources: [plural], verbs: ["get", "patch"] },
    ...(definition?.status
      ? [{ apiGroups: [group], resources: [`${plural}/status`], verbs: ["get", "patch"] }]
      : []),
    // Children block the deletion of their owner; OwnerReferencesPermissionEnforcement requires this permission for that.
    ...(owns.length > 0
      ? [{ apiGroups: [group], resources: [`${plural}/finalizers`], verbs: ["update"] }]
      : []),
  ];
}

/** Rules for the bridge: list and watch for every kind of every function, and no writes. */
export function bridgeRules(functions: readonly ReconcileFunction[], reach: Reach): PolicyRule[] {
  const kinds = functions.flatMap(kindsOf);
  const listsNamespaces = reach === "all" && withReach(kinds, "opted-in").length > 0;
  return mergedRules([
    ...withReach(kinds, reach).map((kind) => rule(kind, watching)),
    // To find the opted-in namespaces.
    ...(listsNamespaces ? [rule(Namespace, ["list"])] : []),
  ]);
}

const withReach = (kinds: readonly Kind[], reach: Reach): Kind[] =>
  kinds.filter((kind) => kind.reach === reach);

const rule = ({ group, plural }: Kind, verbs: string[]): PolicyRule => ({
  apiGroups: [group],
  resources: [plural],
  verbs,
});

/** The same rules, with one per group and set of verbs, in a stable order. */
export function mergedRules(rules: readonly PolicyRule[]): PolicyRule[] {
  const byKey = new Map<string, PolicyRule>();
  for (const next of rules) {
    const verbs = [...next.verbs].sort();
    const key = JSON.stringify([next.apiGroups, verbs, next.resourceNames]);
    const before = byKey.get(key);
    const resources = [...new Set([...(before?.resources ?? []), ...next.resources])].sort();
    byKey.set(key, { ...next, verbs, resources });
  }
  return [...byKey.values()];
}
