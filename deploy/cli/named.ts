/** Finding functions by name. */
import type { ReconcileFunction } from "../../bus/worker/function.ts";
import { catalog } from "../../functions/catalog.ts";
import { UsageError } from "../environment/errors.ts";
import { didYouMean } from "./nearest.ts";

/** Names of all functions. */
export const functionNames = Object.keys(catalog);

/** Returns the name. Throws a {@link UsageError} if no function has it; `others` are further words that the user may enter. */
export function functionName(name: string, others: readonly string[] = []): string {
  if (functionNames.includes(name)) return name;
  const words = others.map((word, at) => (at === others.length - 1 ? `or ${word}` : word));
  throw new UsageError(
    `unknown function "${name}"${didYouMean(name, [...functionNames, ...others])}: expected one of ${[...functionNames, ...words].join(", ")}`,
  );
}

/** Checks names, of which `all` stands for every function. Throws a {@link UsageError} for an unknown one. */
export function checkFunctionNames(names: readonly string[], others: readonly string[] = ["all"]): void {
  for (const name of names) if (!others.includes(name)) functionName(name, others);
}

/** Loads only the named functions; `all` selects every function. Throws a {@link UsageError} for an unknown name. */
export async function functionsNamed(
  selected: readonly string[],
  others: readonly string[] = ["all"],
): Promise<ReconcileFunction[]> {
  checkFunctionNames(selected, others);
  const names = selected.flatMap((name) => (name === "all" ? functionNames : name));
  const modules = await Promise.all([...new Set(names)].map((name) => catalog[name]?.()));
  return modules.flatMap((module) => module?.default ?? []);
}
