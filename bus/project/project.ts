/** The project that a command runs in: the folder of the nearest `denrei.config.ts`, and its functions. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { didYouMean } from "../values/nearest.ts";
import { definedKinds } from "../worker/definedkinds.ts";
import type { ReconcileFunction } from "../worker/function.ts";
import { bundleFolder } from "./bundle.ts";
import { enabledComponents } from "./components.ts";
import type { Component, FunctionModules, ProjectConfig } from "./config.ts";
import { ProjectError } from "./errors.ts";
import { checkedGroups, type Groups, groupsWithin } from "./groups.ts";
import { defaultName } from "./name.ts";

/** Names of the file, in the order of preference. A bundle has the last one. */
const fileNames = ["denrei.config.ts", "denrei.config.js"];

/** A project. */
export interface Project {
  /** Distinguishes the project from others on the same bus. */
  readonly name: string;
  readonly folder: string;
  /** Path of the configuration. */
  readonly file: string;
  /** Names of all functions: those of the project first, then those of each component. */
  readonly functionNames: readonly string[];
  /** Names of functions that share workers, by the name of their group. */
  readonly groups: Groups;
  /** Names of functions of the enabled components, by the name of the component. */
  readonly components: ReadonlyMap<string, readonly string[]>;
  /** Name of the project's image, without a tag, if the configuration has one. */
  readonly image: string | undefined;
  /**
   * Loads functions, each once. The name of a group selects its functions, and `all` every function. Throws a {@link ProjectError}
   * for an unknown name.
   */
  load(names: readonly string[]): Promise<ReconcileFunction[]>;
  /** Loads every function. Throws a `TypeError` if they define a kind in two ways. */
  all(): Promise<readonly ReconcileFunction[]>;
}

/**
 * Opens the project that contains `from`, by default the bundle that this process runs from or the working directory, with the
 * components that `DENREI_COMPONENTS` names. Throws a {@link ProjectError} that says what is missing or wrong.
 */
export async function openProject(
  from: string = bundleFolder() ?? process.cwd(),
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Project> {
  const file = findConfig(from);
  const { default: config } = (await import(pathToFileURL(file).href)) as { readonly default?: unknown };
  if (typeof config !== "object" || config === null)
    throw new ProjectError(`${file} has no configuration: write \`export default defineConfig({ … })\``);
  return projectOf(file, config as ProjectConfig, env);
}

function findConfig(from: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = fileNames.map((name) => join(folder, name)).find((file) => existsSync(file));
    if (found !== undefined) return found;
    if (folder === dirname(folder))
      throw new ProjectError(
        `${from} is not in a Denrei project: found no ${fileNames[0]} there or in a folder above. ` +
          "Run the command in a project, or create one: npx denrei init my-operator",
      );
  }
}

function projectOf(
  file: string,
  { name, functions: own = {}, components = [], groups: listed = {}, image }: ProjectConfig,
  env: Readonly<Record<string, string | undefined>>,
): Project {
  const modulesWith = (some: readonly Component[]): Modules =>
    merge(file, [
      Array.isArray(own) ? modulesOf(own) : (own as FunctionModules),
      ...some.map((component) => component.functions),
    ]);
  const enabled = enabledComponents(components, env);
  const modules = modulesWith(enabled);
  const functionNames = [...modules.keys()];
  // A group may list functions of a disabled component.
  const groups = groupsWithin(
    checkedGroups(file, listed, [...modulesWith(components).keys()]),
    functionNames,
  );
  const load = async (names: readonly string[]): Promise<ReconcileFunction[]> => {
    const selected = names.flatMap((name) => (name === "all" ? functionNames : (groups.get(name) ?? [name])));
    const known = [...functionNames, ...groups.keys()];
    return Promise.all([...new Set(selected)].map((name) => loadOne({ file, modules, known }, name)));
  };
  return {
    name: name ?? defaultName(dirname(file)),
    folder: dirname(file),
    file,
    functionNames,
    groups,
    components: new Map(enabled.map(({ name, functions }) => [name, Object.keys(functions)])),
    image,
    load,
    async all() {
      const all = await load(["all"]);
      definedKinds(all);
      return all;
    },
  };
}

const modulesOf = (functions: readonly ReconcileFunction[]): FunctionModules =>
  Object.fromEntries(functions.map((fn) => [fn.name, async () => ({ default: fn })]));

type Modules = ReadonlyMap<string, FunctionModules[string]>;

function merge(file: string, parts: readonly FunctionModules[]): Modules {
  const merged = new Map<string, FunctionModules[string]>();
  for (const [name, load] of parts.flatMap((part) => Object.entries(part))) {
    if (merged.has(name))
      throw new ProjectError(`${file} lists two functions with the name ${name}: rename one of them`);
    merged.set(name, load);
  }
  return merged;
}

interface ProjectModules {
  readonly file: string;
  readonly modules: Modules;
  /** Names that the user may enter. */
  readonly known: readonly string[];
}

async function loadOne({ file, modules, known }: ProjectModules, name: string): Promise<ReconcileFunction> {
  const load = modules.get(name);
  if (load === undefined)
    throw new ProjectError(
      modules.size === 0
        ? `unknown function "${name}": ${file} lists none`
        : `unknown function "${name}"${didYouMean(name, known)}: expected one of ${known.join(", ")}, or all`,
    );
  const { default: fn } = await load();
  if (typeof fn?.reconcile !== "function")
    throw new ProjectError(
      `the module of ${name} in ${file} exports no function: write \`export default defineFunction({ … })\``,
    );
  if (fn.name !== name)
    throw new ProjectError(`${file} lists the function ${fn.name} as ${name}: use the same name in both`);
  return fn;
}
