/** Names and imports of a new function, checked before anything is written. */
import { ConfigMap, kindText, type Scope } from "denrei/kinds";
import { defineFunction, kindsOf, type ReconcileFunction, UsageError } from "denrei/runtime";
import type { Layout } from "../layout.ts";
import { type KnownKind, knownKind } from "./knownkinds.ts";
import { type Subject, type SubjectOptions, subjectOf } from "./subject.ts";

/** Options of the command line. */
export interface NewFunction extends SubjectOptions {
  readonly name: string;
  readonly system?: string | undefined;
  readonly owns?: readonly string[] | undefined;
  readonly watches?: readonly string[] | undefined;
  /** A provider of webhooks. */
  readonly webhook?: string | undefined;
}

/** The content of the templates' placeholders. */
export interface Scaffold {
  readonly name: string;
  /** The kind that the function reconciles. */
  readonly subject: Subject;
  readonly system: string;
  /** The label with which the function marks objects whose status is not its own. */
  readonly label: string;
  readonly owns: readonly KnownKind[];
  readonly watches: readonly KnownKind[];
  readonly webhook: string | undefined;
}

/** The project that the function is for. */
export interface Target {
  readonly root: string;
  readonly layout: Layout;
  /** The name of its configuration. */
  readonly config: string;
  readonly functions: readonly ReconcileFunction[];
  /** Kinds of its sources. */
  readonly kinds: readonly KnownKind[];
}

/** Checks the options against a project. Throws a {@link UsageError} for the first problem. */
export function scaffoldOf(options: NewFunction, target: Target): Scaffold {
  const { name, system = name } = options;
  expectName(name, target);
  if (!/^[a-z][a-z0-9-]{0,39}$/.test(system))
    throw new UsageError(
      `--system "${system}" is not a folder name: expected lower-case letters, digits, and dashes`,
    );
  const domain = domainOf(target);
  const subject = subjectOf(options, { system, domain, known: target.kinds });
  if (subject.origin === "new") expectNewPlural(subject, target.functions);
  const named = (option: string, names: readonly string[] = []) =>
    names.map((one) => knownKind(option, one, target.kinds, system));
  const owns = named("--owns", options.owns);
  for (const one of owns) expectChild(one, subject.scope);
  const watches = named("--watches", options.watches);
  expectDifferentNames([subject, ...owns, ...watches]);
  return { name, subject, system, label: `${domain}/${name}`, owns, watches, webhook: options.webhook };
}

function expectName(name: string, { functions, config }: Target): void {
  try {
    // `defineFunction` checks the name.
    defineFunction({ name, for: ConfigMap, reconcile: async () => undefined });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  if (functions.some((fn) => fn.name === name))
    throw new UsageError(`${config} already has the function ${name}. Choose another name.`);
}

/** The domain of the project: without its first label, the group of the kinds that it defines. */
function domainOf({ kinds, layout }: Target): string {
  if (layout.origin === "repository") return layout.domain;
  const group = kinds.find(({ kind }) => kind.definition !== undefined)?.kind.group;
  if (group === undefined) return layout.domain;
  const [, ...rest] = group.split(".");
  return rest.length > 1 ? rest.join(".") : group;
}

function expectNewPlural(
  { kind: { group, plural } }: Subject,
  functions: readonly ReconcileFunction[],
): void {
  const same = functions.flatMap(kindsOf).find((one) => one.group === group && one.plural === plural);
  if (same !== undefined)
    throw new UsageError(
      `${kindText(same)} already has the plural ${plural}. Choose another name for --for, or set --plural.`,
    );
}

/** The API server does not delete a cluster-scoped child with its namespaced owner. */
function expectChild({ name, kind }: KnownKind, scope: Scope): void {
  if (kind.scope === "Cluster" && scope === "Namespaced")
    throw new UsageError(
      `--owns ${name}: the kind is cluster-scoped, and a namespaced object cannot own it. Use --watches instead`,
    );
}

function expectDifferentNames(imported: readonly Pick<KnownKind, "name" | "module">[]): void {
  for (const one of imported) {
    const other = imported.find(({ name, module }) => name === one.name && module !== one.module);
    if (other !== undefined)
      throw new UsageError(
        `the function would import ${one.name} from ${one.module} and from ${other.module}. Choose another name for --for.`,
      );
  }
}
