/** Whether a test has a function do all that it has a right to. */

import type { ReconcileFunction } from "../../bus/worker/function.ts";
import { workerRules } from "../../bus/worker/rbac.ts";
import { workloadName } from "../../deploy/generate/rbac.ts";
import { type Asked, rightsOf } from "../harness/audit.ts";
import { accountUser } from "../harness/rights.ts";

/**
 * What functions may write, and have not: `<function>: <right>`. Reads are left out: most of them are of the bus, and of the
 * API server only where the bus is behind. The API server looks at finalizers itself, when a child names its owner.
 */
export function unwritten(functions: readonly ReconcileFunction[], asked: readonly Asked[]): string[] {
  return functions.flatMap((fn) => {
    const own = asked.filter(({ user }) => user === accountUser(workloadName(fn)));
    const done = new Set(own.flatMap(({ right, made }) => (made ? [right, asCreation(right)] : [right])));
    // Nothing else is written to an object itself than the finalizer of the function.
    const itself = fn.finalize ? undefined : `patch ${fn.for.group}/${fn.for.plural}`;
    const granted = new Set(rightsOf([...workerRules(fn, "all"), ...workerRules(fn, "opted-in")]));
    return [...granted]
      .filter((right) => /^(create|delete|patch) /.test(right) && right !== itself && !done.has(right))
      .map((right) => `${fn.name}: ${right}`);
  });
}

/** What is applied and was not there needs the right to create it as well. */
const asCreation = (right: string): string => right.replace(/^patch /, "create ");
