/** The kinds that functions of a project can import. */
import { glob, readFile } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import type { Kind } from "denrei/kinds";
import * as coreKinds from "denrei/kinds";
import { UsageError } from "denrei/runtime";
import { didYouMean } from "denrei/values";
import { isProjectSource } from "../dev/watch.ts";
import type { Layout } from "../layout.ts";

/** A kind, and how to import it. */
export interface KnownKind {
  /** The name of the export. */
  readonly name: string;
  /** A package, or a path from the root of the project. */
  readonly module: string;
  readonly kind: Kind;
}

const isKind = (value: unknown): value is Kind =>
  typeof value === "object" && value !== null && "plural" in value && "scope" in value;

const kindsIn = (exports: object, module: string): KnownKind[] =>
  Object.entries(exports).flatMap(([name, kind]) => (isKind(kind) ? [{ name, module, kind }] : []));

/** The kinds that `denrei/kinds` exports. */
export const kubernetesKinds: readonly KnownKind[] = kindsIn(coreKinds, "denrei");

/** Kinds that the sources of a project export. Modules that are named `kinds.ts` come first. */
export async function projectKinds(root: string, { origin }: Layout): Promise<readonly KnownKind[]> {
  const found: KnownKind[] = [];
  const sources = origin === "repository" ? "functions/**/*.ts" : "**/*.ts";
  for await (const path of glob(sources, { cwd: root, exclude: ["**/node_modules/**"] })) {
    const module = path.replaceAll(sep, "/");
    if (!isProjectSource(module) || /\.(test|d)\.ts$/.test(module)) continue;
    const declares = /\b(defineKind|externalKind)\b/.test(await readFile(join(root, path), "utf8"));
    if (declares || isKindsModule(module))
      found.push(...kindsIn(await import(pathToFileURL(join(root, path)).href), module));
  }
  const rank = ({ module }: KnownKind) => `${isKindsModule(module) ? 0 : 1} ${module}`;
  return found.sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

const isKindsModule = (module: string): boolean => basename(module) === "kinds.ts";

/**
 * The kind of this name: of the system, of Kubernetes, or of another system, or undefined. Throws a
 * {@link UsageError} if several systems have different kinds of the name.
 */
export function kindNamed(name: string, known: readonly KnownKind[], system: string): KnownKind | undefined {
  const all = [...known, ...kubernetesKinds].filter((one) => one.name === name);
  const own = all.find(({ module }) => module.startsWith(`functions/${system}/`));
  const [first, ...others] = all;
  const kubernetes = all.find(({ module }) => module === "denrei");
  if (own ?? kubernetes) return own ?? kubernetes;
  const other = others.find(({ kind }) => kind.group !== first?.kind.group);
  if (other !== undefined)
    throw new UsageError(
      `${first?.module} and ${other.module} both have a kind ${name}: choose one of them with --system`,
    );
  return first;
}

/** The kind that an option names. Throws a {@link UsageError} for an unknown one. */
export function knownKind(
  option: string,
  name: string,
  known: readonly KnownKind[],
  system: string,
): KnownKind {
  const found = kindNamed(name, known, system);
  if (found !== undefined) return found;
  const names = [...new Set([...known, ...kubernetesKinds].map((one) => one.name))].sort();
  throw new UsageError(
    `${option} "${name}" is not a known kind${didYouMean(name, names)}: expected some of ${names.join(", ")}`,
  );
}
