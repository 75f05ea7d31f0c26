/** The functions of a run. */
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { openProject, type Project, ProjectError, type ReconcileFunction } from "denrei/runtime";

/** The command-line argument for a function: the name of one of the project, or the path of a module. */
export const argumentOf = (one: string | URL): string => {
  if (one instanceof URL) return fileURLToPath(one);
  return isPath(one) ? resolve(one) : one;
};

const isPath = (text: string): boolean => isAbsolute(text) || /[/\\]|\.[cm]?[jt]s$/.test(text);

/** Loads functions. Throws, with the expectation, when a module has none. */
export async function loadFunctions(names: readonly (string | URL)[]): Promise<ReconcileFunction[]> {
  return Promise.all(names.map((one) => load(argumentOf(one))));
}

async function load(name: string): Promise<ReconcileFunction> {
  if (!isPath(name)) return loadNamed(name);
  let module: { readonly default?: Partial<ReconcileFunction> };
  try {
    module = await import(/* @vite-ignore */ pathToFileURL(name).href);
  } catch (error) {
    throw new Error(
      `expected the path of a module with a function, but ${name} cannot be loaded: ${(error as Error).message}`,
      { cause: error },
    );
  }
  const fn = module.default;
  if (typeof fn?.reconcile === "function" && typeof fn.name === "string") return fn as ReconcileFunction;
  throw new TypeError(
    `expected ${name} to have a function as its default export (defineFunction), found ${typeof fn}`,
  );
}

let project: Promise<Project> | undefined;

/** Loads a function of the project that contains the working directory. */
async function loadNamed(name: string): Promise<ReconcileFunction> {
  project ??= openProject();
  const [fn] = await (await project).load([name]);
  if (fn === undefined) throw new ProjectError(`the project has no function "${name}"`);
  return fn;
}
