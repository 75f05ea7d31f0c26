/** What a new function is called, and what of the project it has to do with: checked before anything is written. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { domain } from "../../../bus/kube/domain.ts";
import * as coreKinds from "../../../bus/kube/kind.ts";
import { type Kind, kindText } from "../../../bus/kube/kind.ts";
import * as workloadKinds from "../../../bus/kube/workloads.ts";
import { defineFunction, kindsOf, type ReconcileFunction } from "../../../bus/worker/function.ts";
import { UsageError } from "../../environment/errors.ts";

/** As it stands on the command line. */
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
  /** From the root of the repository. */
  readonly module: string;
}

/** Everything that templates are filled in with. */
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

/** Names that the new files give a meaning of their own. */
const taken = ["ObjectOf"];

/** Checks what is wanted against the functions that there are in `root`. Throws {@link UsageError} on the first problem. */
export async function scaffoldOf(
  wanted: NewFunction,
  functions: readonly ReconcileFunction[],
  root: string,
): Promise<Scaffold> {
  const { name, for: kind, system = name } = wanted;
  expectName(name, functions);
  if (!/^[A-Z][A-Za-z0-9]{0,61}$/.test(kind))
    throw new UsageError(
      `expected a kind in PascalCase (letters and digits, at most 62, a capital first: Greeting), found "${kind}"`,
    );
  if (kind in globalThis || taken.includes(kind))
    throw new UsageError(
      `expected a kind other than "${kind}", which is a word of the language. Choose another name.`,
    );
  if (!/^[a-z][a-z0-9-]{0,39}$/.test(system))
    throw new UsageError(
      `expected a folder of lower-case letters, digits and dashes for --system, found "${system}"`,
    );
  const own = await exportsOf(root, `functions/${system}/kinds.ts`);
  if (kind in own)
    throw new UsageError(
      `expected a kind that there is not, but functions/${system}/kinds.ts has ${kind}. Choose another name for --for.`,
    );
  const sibling = Object.values(own).find((one) => isKind(one) && one.definition !== undefined) as
    | Kind
    | undefined;
  const group = wanted.group ?? sibling?.group ?? `${system}.${domain}`;
  expectGroup(group);
  const plural = `${kind.toLowerCase()}s`;
  const same = functions.flatMap(kindsOf).find((one) => one.group === group && one.plural === plural);
  if (same !== undefined)
    throw new UsageError(
      `expected a kind that there is not, but ${kindText(same)} has the plural ${plural} as well`,
    );
  const owns = await Promise.all((wanted.owns ?? []).map((one) => ownedKind(one, own, system)));
  return { name, kind, group, version: sibling?.version ?? "v1alpha1", system, owns };
}

function expectName(name: string, functions: readonly ReconcileFunction[]): void {
  try {
    // What it may be called is for functions to say.
    defineFunction({ name, for: coreKinds.ConfigMap, reconcile: async () => undefined });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  if (functions.some((fn) => fn.name === name))
    throw new UsageError(
      `expected a function that there is not, but functions/catalog.ts has ${name}. Choose another name.`,
    );
}

function expectGroup(group: string): void {
  const label = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?";
  if (!new RegExp(`^${label}(\\.${label})+$`).test(group) || group.length > 180)
    throw new UsageError(
      `expected a domain name for --group, such as greetings.example.com, found "${group}"`,
    );
  if (/(^|\.)(k8s|kubernetes)\.io$/.test(group))
    throw new UsageError(`expected a group of your own for --group, but ${group} is protected by Kubernetes`);
}

async function ownedKind(name: string, own: Exports, system: string): Promise<OwnedKind> {
  const modules: readonly (readonly [path: string, exports: Exports])[] = [
    [`functions/${system}/kinds.ts`, own],
    ["bus/kube/kind.ts", coreKinds],
    ["bus/kube/workloads.ts", workloadKinds],
  ];
  const namespaced = (value: unknown): value is Kind => isKind(value) && value.scope === "Namespaced";
  const module = modules.find(([, exports]) => namespaced(exports[name]))?.[0];
  if (module !== undefined) return { name, module };
  const possible = modules.flatMap(([, exports]) =>
    Object.keys(exports).filter((one) => namespaced(exports[one])),
  );
  throw new UsageError(
    `expected kinds that live in namespaces for --owns (${possible.sort().join(", ")}), found "${name}"`,
  );
}

async function exportsOf(root: string, path: string): Promise<Exports> {
  const file = join(root, path);
  return existsSync(file) ? ((await import(pathToFileURL(file).href)) as Exports) : {};
}
