/** Names and imports of a new function, checked before anything is written. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import * as coreKinds from "denrei/kinds";
import { domain, type Kind, kindText } from "denrei/kinds";
import { defineFunction, kindsOf, type ReconcileFunction, UsageError } from "denrei/runtime";

/** Options of the command line. */
export interface NewFunction {
  readonly name: string;
  readonly for: string;
  readonly group?: string | undefined;
  readonly system?: string | undefined;
  readonly owns?: readonly string[] | undefined;
}

/** A kind that a function owns, and the module that it is imported from. */
export interface OwnedKind {
  readonly name: string;
  /** A package, or a path from the root of the repository. */
  readonly module: string;
}

/** The content of the templates' placeholders. */
export interface Scaffold {
  readonly name: string;
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  readonly system: string;
  readonly owns: readonly OwnedKind[];
}

type Exports = Readonly<Record<string, unknown>>;

const isKind = (value: unknown): value is Kind =>
  typeof value === "object" && value !== null && "plural" in value && "scope" in value;

/** Names that the new files import. */
const reserved = ["ObjectOf"];

/** Checks the options against the existing functions in `root`. Throws a {@link UsageError} for the first problem. */
export async function scaffoldOf(
  options: NewFunction,
  functions: readonly ReconcileFunction[],
  root: string,
): Promise<Scaffold> {
  const { name, for: kind, system = name } = options;
  expectName(name, functions);
  if (!/^[A-Z][A-Za-z0-9]{0,61}$/.test(kind))
    throw new UsageError(
      `the kind "${kind}" is not in PascalCase: expected at most 62 letters and digits, a capital first, such as Greeting`,
    );
  if (kind in globalThis || reserved.includes(kind))
    throw new UsageError(
      `the kind cannot be "${kind}", which has a meaning in TypeScript. Choose another name.`,
    );
  if (!/^[a-z][a-z0-9-]{0,39}$/.test(system))
    throw new UsageError(
      `--system "${system}" is not a folder name: expected lower-case letters, digits, and dashes`,
    );
  const own = await exportsOf(root, `functions/${system}/kinds.ts`);
  if (kind in own)
    throw new UsageError(
      `functions/${system}/kinds.ts already has the kind ${kind}. Choose another name for --for.`,
    );
  const sibling = Object.values(own).find((one) => isKind(one) && one.definition !== undefined) as
    | Kind
    | undefined;
  const group = options.group ?? sibling?.group ?? `${system}.${domain}`;
  expectGroup(group);
  const plural = `${kind.toLowerCase()}s`;
  const same = functions.flatMap(kindsOf).find((one) => one.group === group && one.plural === plural);
  if (same !== undefined)
    throw new UsageError(
      `${kindText(same)} already has the plural ${plural}. Choose another name for --for.`,
    );
  const owns = await Promise.all((options.owns ?? []).map((one) => ownedKind(one, own, system)));
  return { name, kind, group, version: sibling?.version ?? "v1alpha1", system, owns };
}

function expectName(name: string, functions: readonly ReconcileFunction[]): void {
  try {
    // `defineFunction` checks the name.
    defineFunction({ name, for: coreKinds.ConfigMap, reconcile: async () => undefined });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  if (functions.some((fn) => fn.name === name))
    throw new UsageError(`denrei.config.ts already has the function ${name}. Choose another name.`);
}

function expectGroup(group: string): void {
  const label = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?";
  if (!new RegExp(`^${label}(\\.${label})+$`).test(group) || group.length > 180)
    throw new UsageError(`--group "${group}" is not a domain name, such as greetings.example.com`);
  if (/(^|\.)(k8s|kubernetes)\.io$/.test(group))
    throw new UsageError(`--group ${group} is reserved for Kubernetes. Use your own domain.`);
}

async function ownedKind(name: string, own: Exports, system: string): Promise<OwnedKind> {
  const modules: readonly (readonly [path: string, exports: Exports])[] = [
    [`functions/${system}/kinds.ts`, own],
    ["denrei", coreKinds],
  ];
  const namespaced = (value: unknown): value is Kind => isKind(value) && value.scope === "Namespaced";
  const module = modules.find(([, exports]) => namespaced(exports[name]))?.[0];
  if (module !== undefined) return { name, module };
  const possible = modules.flatMap(([, exports]) =>
    Object.keys(exports).filter((one) => namespaced(exports[one])),
  );
  throw new UsageError(
    `--owns "${name}" is not a known namespaced kind: expected some of ${possible.sort().join(", ")}`,
  );
}

async function exportsOf(root: string, path: string): Promise<Exports> {
  const file = join(root, path);
  return existsSync(file) ? ((await import(pathToFileURL(file).href)) as Exports) : {};
}
