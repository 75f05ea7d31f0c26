/** Functions by name. */
import type { ReconcileFunction } from "../../bus/worker/function.ts";
import { catalog } from "../../functions/catalog.ts";
import { UsageError } from "../environment/errors.ts";

/** Names of all functions. */
export const functionNames = Object.keys(catalog);

/** The same name. Throws {@link UsageError} when no function has it. */
export function functionName(name: string, others = ""): string {
  if (functionNames.includes(name)) return name;
  throw new UsageError(
    `expected the name of a function (${functionNames.join(", ")})${others}, found "${name}"`,
  );
}

/** Loads functions by name, and no other; `all` is every one. Throws {@link UsageError} for a name that there is not. */
export async function functionsNamed(
  wanted: readonly string[],
  others = " or all",
): Promise<ReconcileFunction[]> {
  const names = wanted.flatMap((name) => (name === "all" ? functionNames : [functionName(name, others)]));
  const modules = await Promise.all([...new Set(names)].map((name) => catalog[name]?.()));
  return modules.flatMap((module) => module?.default ?? []);
}
