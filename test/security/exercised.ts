/** Checks that tests exercise every write permission of a function. */

import type { ReconcileFunction } from "../../bus/worker/function.ts";
import { workerRules } from "../../bus/worker/rbac.ts";
import { workloadName } from "../../deploy/generate/rbac.ts";
import { type AuditedRequest, rightsOf } from "../harness/audit.ts";
import { accountUser } from "../harness/rights.ts";

/**
 * The write permissions that functions have not used: `<function>: <right>`. Reads are left out: most of them go to the bus, and
 * to the API server only where the bus is behind. The API server checks the right to finalizers itself when a child names its
 * owner.
 */
export function unwritten(
  functions: readonly ReconcileFunction[],
  asked: readonly AuditedRequest[],
): string[] {
  return functions.flatMap((fn) => {
    const own = asked.filter(({ user }) => user === accountUser(workloadName(fn)));
    const done = new Set(own.flatMap(({ right, made }) => (made ? [right, asCreation(right)] : [right])));
    // The function writes only its finalizer to the object itself.
    const itself = fn.finalize ? undefined : `patch ${fn.for.group}/${fn.for.plural}`;
    const granted = new Set(rightsOf([...workerRules(fn, "all"), ...workerRules(fn, "opted-in")]));
    return [...granted]
      .filter((right) => /^(create|delete|patch) /.test(right) && right !== itself && !done.has(right))
      .map((right) => `${fn.name}: ${right}`);
  });
}

/** An apply that creates its object also needs the right to create. */
const asCreation = (right: string): string => right.replace(/^patch /, "create ");
