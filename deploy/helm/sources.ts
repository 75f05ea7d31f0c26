/** The rendered kustomizations that the chart is built from. */
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { render } from "./kustomize.ts";

/** The fields that the chart reads of every Kubernetes object. */
export interface Source {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

/** The base, the base with three NATS servers, the base with chart modules, admission hooks, and what each component adds. */
export interface Sources {
  readonly base: readonly Source[];
  readonly cluster: readonly Source[];
  readonly withModules: readonly Source[];
  /** Configurations of admission hooks; none if no kind has any. */
  readonly hooked: readonly Source[];
  readonly added: Readonly<Record<(typeof components)[number], readonly Source[]>>;
}

const components = [
  ...(["network-policies", "keda", "hpa", "ingress", "httproute"] as const),
  ...(["dashboard", "dashboard-ingress", "dashboard-httproute"] as const),
] as const;

const repository = fileURLToPath(new URL("../kubernetes", import.meta.url));

/**
 * Renders all kustomizations of a project's tree. A component that the project has no use for adds nothing. Throws when kustomize is
 * missing and cannot be obtained.
 */
export async function sources(tree: string): Promise<Sources> {
  const withComponent = async (...names: readonly string[]): Promise<Source[]> => {
    const existing = names.filter((name) => existsSync(join(tree, "components", name)));
    return withoutHashes(await site<Source>((at) => kustomizationOf(at, existing), tree));
  };
  const base = await withComponent();
  const known = new Set(base.map(identity));
  const added: Partial<Record<(typeof components)[number], readonly Source[]>> = {};
  for (const component of components)
    added[component] = (await withComponent(component)).filter((object) => !known.has(identity(object)));
  return {
    base,
    cluster: await withComponent("nats-cluster"),
    withModules: await withComponent("chart-modules"),
    hooked: existsSync(join(tree, "admission")) ? await render(join(tree, "admission")) : [],
    added: added as Sources["added"],
  };
}

/** The kind and name of an object. */
export const identity = ({ kind, metadata }: Source): string => `${kind} ${metadata.name}`;

const kustomizationOf = (at: (path: string) => string, names: readonly string[]): string =>
  JSON.stringify({
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    resources: [at("base")],
    components: names.map((name) => at(`components/${name}`)),
  });

/**
 * Renders a kustomization written to a temporary folder; `at` returns relative paths to the kustomizations in `kubernetes`, by default
 * those of this repository.
 */
export async function site<T>(
  text: (at: (path: string) => string) => string,
  kubernetes = repository,
): Promise<T[]> {
  const folder = await mkdtemp(join(tmpdir(), "denrei-site-"));
  try {
    const at = (path: string) => relative(folder, join(kubernetes, path));
    await writeFile(join(folder, "kustomization.yaml"), text(at));
    return await render<T>(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The same objects, without the content hashes that kustomize appends to names of ConfigMaps. */
export function withoutHashes<T extends Source>(objects: readonly T[]): T[] {
  const names = new Map(
    objects
      .filter(({ kind }) => kind === "ConfigMap")
      .map(({ metadata }) => [metadata.name, metadata.name.replace(/-[bcdfghkmt2456789]{10}$/, "")]),
  );
  return objects.map((object) => mapStrings(object, (text) => names.get(text) ?? text));
}

/** A copy with its strings mapped; `change` also receives the name of the field. */
export function mapStrings<T>(value: T, change: (text: string, key: string) => string, key = ""): T {
  if (typeof value === "string") return change(value, key) as T;
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change, key)) as T;
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, mapStrings(inner, change, name)]),
  ) as T;
}
