/** Functions by name. */
import type { ReconcileFunction } from "../../bus/worker/function.ts";
import { functions } from "../../functions/index.ts";
import { UsageError } from "./usage.ts";

const names = functions.map((fn) => fn.name).join(", ");

/** The function of that name. Throws {@link UsageError} when there is none. */
export function functionNamed(name: string, others = ""): ReconcileFunction {
  const found = functions.find((fn) => fn.name === name);
  if (found) return found;
  throw new UsageError(`expected the name of a function (${names})${others}, found "${name}"`);
}

/** Functions by name; `all` is every one. Throws {@link UsageError} for a name that there is not. */
export function functionsNamed(wanted: readonly string[], others = " or all"): ReconcileFunction[] {
  const found = [...new Set(wanted)].flatMap((name) =>
    name === "all" ? functions : [functionNamed(name, others)],
  );
  return [...new Set(found)];
}
