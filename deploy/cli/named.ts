/** Finding functions by name. */
import type { ReconcileFunction } from "../../bus/worker/function.ts";
import { catalog } from "../../functions/catalog.ts";
import { UsageError } from "../environment/errors.ts";

/** Names of all functions. */
export const functionNames = Object.keys(catalog);

/** Returns the name. Throws a {@link UsageError} if no function has it; `others` names what else the user may enter. */
export function functionName(name: string, others = ""): string {
  if (functionNames.includes(name)) return name;
  throw new UsageError(`unknown function "${name}": expected one of ${functionNames.join(", ")}${others}`);
}

/** Loads only the named functions; `all` selects every function. Throws a {@link UsageError} for an unknown name. */
export async function functionsNamed(
  selected: readonly string[],
  others = ", or all",
): Promise<ReconcileFunction[]> {
  const names = selected.flatMap((name) => (name === "all" ? functionNames : [functionName(name, others)]));
  const modules = await Promise.all([...new Set(names)].map((name) => catalog[name]?.()));
  return modules.flatMap((module) => module?.default ?? []);
}
