/** The functions of a run. */
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { catalog } from "@denrei/functions/catalog";
import type { ReconcileFunction } from "denrei/runtime";

/** The command-line argument for a function: the name of a shipped one, or the path of a module. */
export const argumentOf = (one: string | URL): string => {
  if (one instanceof URL) return fileURLToPath(one);
  return one in catalog || isAbsolute(one) ? one : resolve(one);
};

/** Loads functions. Throws, with the expectation, when a module has none. */
export async function loadFunctions(names: readonly (string | URL)[]): Promise<ReconcileFunction[]> {
  return Promise.all(names.map((one) => load(argumentOf(one))));
}

async function load(name: string): Promise<ReconcileFunction> {
  const shipped = catalog[name];
  if (shipped !== undefined) return (await shipped()).default;
  let module: { readonly default?: Partial<ReconcileFunction> };
  try {
    module = await import(/* @vite-ignore */ pathToFileURL(name).href);
  } catch (error) {
    throw new Error(
      `expected the name of a function (${Object.keys(catalog).join(", ")}) or the path of a module, but ` +
        `${name} cannot be loaded: ${(error as Error).message}`,
      { cause: error },
    );
  }
  const fn = module.default;
  if (typeof fn?.reconcile === "function" && typeof fn.name === "string") return fn as ReconcileFunction;
  throw new TypeError(
    `expected ${name} to have a function as its default export (defineFunction), found ${typeof fn}`,
  );
}
