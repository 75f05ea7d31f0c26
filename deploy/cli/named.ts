/** Finding functions by name. */
/** Functions of the project, by name. */
import type { ReconcileFunction } from "denrei";
import { openProject, UsageError } from "denrei/runtime";

/** Names of all functions of the project. */
export const functionNames = async (): Promise<readonly string[]> => (await openProject()).functionNames;

/** Returns the name. Throws a {@link UsageError} if no function has it; `others` names what else the user may enter. */
export async function functionName(name: string, others = ""): Promise<string> {
  const names = await functionNames();
  if (names.includes(name)) return name;
  throw new UsageError(`unknown function "${name}": expected one of ${names.join(", ")}${others}`);
}

/** Loads all functions of the project. */
export const allFunctions = async (): Promise<readonly ReconcileFunction[]> => (await openProject()).all();

/** Loads only the named functions; `all` selects every function. Throws a {@link UsageError} for an unknown name. */
export async function functionsNamed(
  selected: readonly string[],
  others = ", or all",
): Promise<ReconcileFunction[]> {
  for (const name of selected) if (name !== "all") await functionName(name, others);
  return (await openProject()).load(selected);
}
