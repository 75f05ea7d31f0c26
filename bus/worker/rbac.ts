/** RBAC from declarations: exactly what a function's worker and the bridge need. */
import type { Kind } from "../kube/kind.ts";
import { kindsOf, type PolicyRule, type ReconcileFunction } from "./function.ts";

/** Rules of the worker that runs a function: reads and writes of single objects, never list or watch. */
export function workerRules(fn: ReconcileFunction): PolicyRule[] {
  const { group, plural, definition } = fn.for;
  return merged([
    { apiGroups: [group], resources: [plural], verbs: ["get", "patch"] },
    ...(definition?.status
      ? [{ apiGroups: [group], resources: [`${plural}/status`], verbs: ["get", "patch"] }]
      : []),
    // Children block the deletion of their owner, which clusters with OwnerReferencesPermissionEnforcement check.
    ...(fn.owns.length > 0
      ? [{ apiGroups: [group], resources: [`${plural}/finalizers`], verbs: ["update"] }]
      : []),
    ...fn.owns.map((kind) => rule(kind, ["create", "delete", "get", "patch"])),
    ...fn.watches.map(({ kind }) => rule(kind, ["get"])),
    { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create"] },
    ...fn.permissions,
  ]);
}

/** Rules of the bridge: it lists and watches every kind of every function, and writes nothing. */
export const bridgeRules = (functions: readonly ReconcileFunction[]): PolicyRule[] =>
  merged(functions.flatMap(kindsOf).map((kind) => rule(kind, ["list", "watch"])));

const rule = ({ group, plural }: Kind, verbs: string[]): PolicyRule => ({
  apiGroups: [group],
  resources: [plural],
  verbs,
});

/** One rule per group and set of verbs, in a stable order. */
function merged(rules: readonly PolicyRule[]): PolicyRule[] {
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
