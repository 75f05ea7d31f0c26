/** The kind that a new function reconciles: a new one, a known one, or one of another project. */
import { type Kind, kindText, pluralOf, type Scope } from "denrei/kinds";
import { UsageError } from "denrei/runtime";
import { didYouMean } from "denrei/values";
import { type KnownKind, kindNamed, kubernetesKinds } from "./knownkinds.ts";

/** Options of the command line. */
export interface SubjectOptions {
  readonly for?: string | undefined;
  /** `group/version/Kind`, or `version/Kind` for the core group. */
  readonly external?: string | undefined;
  readonly group?: string | undefined;
  readonly plural?: string | undefined;
  readonly scope?: Scope | undefined;
}

/** The kind. */
export interface Subject extends Pick<KnownKind, "name" | "module"> {
  /** Whether its declaration is written: with a schema, or, for a kind of another project, without one. */
  readonly origin: "new" | "external" | "known";
  readonly kind: Pick<Kind, "group" | "version" | "kind" | "plural" | "scope" | "definition">;
  readonly scope: Scope;
}

/** The project, as far as the kind depends on it. */
export interface SubjectContext {
  readonly system: string;
  /** Ends the default group. */
  readonly domain: string;
  readonly known: readonly KnownKind[];
}

/** Finds or describes the kind. Throws a {@link UsageError} for the first problem. */
export function subjectOf(options: SubjectOptions, context: SubjectContext): Subject {
  const { for: name, external } = options;
  if (name !== undefined && external !== undefined)
    throw new UsageError("--for and --external both name the kind: use one of them");
  if (external !== undefined) return externalSubject(external, options, context);
  if (name === undefined)
    throw new UsageError("the kind is missing: expected --for <Kind>, or --external <group/version/Kind>");
  const found = kindNamed(name, context.known, context.system);
  if (found !== undefined && options.group === undefined) return knownSubject(found, options);
  return newSubject(name, options, context);
}

function knownSubject({ name, module, kind }: KnownKind, { scope, plural }: SubjectOptions): Subject {
  if (scope !== undefined && scope !== kind.scope)
    throw new UsageError(`--scope ${scope}: ${name} of ${module} has the scope ${kind.scope}`);
  if (plural !== undefined && plural !== kind.plural)
    throw new UsageError(`--plural ${plural}: ${name} of ${module} has the plural ${kind.plural}`);
  return { origin: "known", name, module, kind, scope: kind.scope };
}

function newSubject(
  kind: string,
  options: SubjectOptions,
  { system, domain, known }: SubjectContext,
): Subject {
  expectKindName(kind, [...known, ...kubernetesKinds]);
  // A longer word that resembles a kind of Kubernetes is more often mistyped than meant.
  const meant =
    kind.length < 7
      ? ""
      : didYouMean(
          kind,
          kubernetesKinds.map(({ name }) => name),
        );
  if (meant !== "" && options.group === undefined)
    throw new UsageError(
      `no kind is named "${kind}"${meant}. To define a new kind of that name, add --group.`,
    );
  const module = `functions/${system}/kinds.ts`;
  const own = known.filter((one) => one.module === module);
  const sibling = own.find((one) => one.kind.definition !== undefined)?.kind;
  const { scope = "Namespaced", plural = pluralOf(kind) } = options;
  const group = options.group ?? sibling?.group ?? `${system}.${domain}`;
  expectGroup(group);
  expectPlural(plural);
  const same = known.find((one) => one.name === kind && (one.module === module || one.kind.group === group));
  if (same !== undefined)
    throw new UsageError(
      `${same.module} already has the kind ${kind}. Choose another name for --for, or omit --group to use that kind.`,
    );
  const version = sibling?.version ?? "v1alpha1";
  return { origin: "new", name: kind, module, kind: { group, version, kind, plural, scope }, scope };
}

function externalSubject(text: string, options: SubjectOptions, { system, known }: SubjectContext): Subject {
  const [, group = "", version = "", kind = ""] =
    /^(?:([a-z0-9.-]+)\/)?(v[0-9][a-z0-9]*)\/([A-Za-z0-9]+)$/.exec(text) ?? [];
  if (kind === "")
    throw new UsageError(
      `--external "${text}" is not a kind: expected group/version/Kind, such as cert-manager.io/v1/Certificate`,
    );
  if (options.group !== undefined)
    throw new UsageError("--group does not go with --external, which has the group");
  const isSame = (one: KnownKind) => one.kind.group === group && one.kind.kind === kind;
  const found = [...known, ...kubernetesKinds].find(isSame);
  if (found !== undefined && found.kind.version === version) return knownSubject(found, options);
  expectKindName(kind, []);
  const module = `functions/${system}/kinds.ts`;
  const { scope = "Namespaced", plural = pluralOf(kind) } = options;
  expectPlural(plural);
  const same = known.find((one) => one.name === kind && one.module === module);
  if (same !== undefined)
    throw new UsageError(
      `${module} already has ${kindText(same.kind)}. Choose another folder with --system.`,
    );
  return { origin: "external", name: kind, module, kind: { group, version, kind, plural, scope }, scope };
}

/** Names that the new files import. */
const reserved = ["ObjectOf"];

function expectKindName(kind: string, known: readonly KnownKind[]): void {
  if (!/^[A-Z][A-Za-z0-9]{0,61}$/.test(kind)) {
    const meant = didYouMean(
      kind,
      known.map(({ name }) => name),
    );
    throw new UsageError(
      `the kind "${kind}" is not in PascalCase${meant}: expected at most 62 letters and digits, a capital first, such as Greeting`,
    );
  }
  if (kind in globalThis || reserved.includes(kind))
    throw new UsageError(
      `the kind cannot be "${kind}", which has a meaning in TypeScript. Choose another name.`,
    );
}

function expectGroup(group: string): void {
  const label = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?";
  if (!new RegExp(`^${label}(\\.${label})+$`).test(group) || group.length > 180)
    throw new UsageError(`--group "${group}" is not a domain name, such as greetings.example.com`);
  if (/(^|\.)(k8s|kubernetes)\.io$/.test(group))
    throw new UsageError(`--group ${group} is reserved for Kubernetes. Use your own domain.`);
}

function expectPlural(plural: string): void {
  if (!/^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/.test(plural))
    throw new UsageError(
      `--plural "${plural}" is not a plural: expected lower-case letters, digits, and dashes`,
    );
}

/** Whether the function reports in the status of the objects: they have a status that no other program writes. */
export const hasOwnStatus = ({ origin }: Subject): boolean => origin === "new";
