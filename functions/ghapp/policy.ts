/**
 * Which Installations an App gives tokens to. Whoever may create an Installation chooses which installation, which
 * repositories and which permissions it is about, so the App says what it may choose. Pure.
 */
import { matchesGlob } from "../../bus/values/glob.ts";
import { ownValue } from "../../bus/values/ownvalue.ts";
import { type LabelSelector, selects } from "./matching.ts";

/** Levels of a permission, each with those before it. */
export const levels = ["read", "write", "admin"] as const;
type Level = (typeof levels)[number];

/** A rule of `spec.allowed`: everything in it has to hold. */
export interface Rule {
  readonly namespaces?: readonly string[] | undefined;
  readonly namespaceSelector?: LabelSelector | undefined;
  readonly installationIDs?: readonly number[] | undefined;
  readonly repositories?: readonly string[] | undefined;
  readonly permissions?: Readonly<Record<string, Level>> | undefined;
}

/** What an Installation asks for. */
export interface Wish {
  readonly namespace: string;
  /** Of the namespace. */
  readonly labels: Readonly<Record<string, string>>;
  readonly installationID: number;
  readonly permissions: Readonly<Record<string, string>> | undefined;
}

/** Why a rule does not allow something; undefined when it does. */
type Refusal = string | undefined;

function refusalOfPermissions(most: Readonly<Record<string, Level>>, wanted: Wish["permissions"]): Refusal {
  if (wanted === undefined || Object.keys(wanted).length === 0)
    return "spec.permissions have to be named: without them the token may do all that the installation may";
  for (const [name, level] of Object.entries(wanted)) {
    const limit = ownValue(most, name);
    if (
      limit === undefined ||
      !levels.includes(level as Level) ||
      levels.indexOf(level as Level) > levels.indexOf(limit)
    )
      return `the permission ${name}: ${level} is more than ${limit === undefined ? "none" : `${name}: ${limit}`}`;
  }
  return undefined;
}

function refusalBefore(rule: Rule, wish: Wish): Refusal {
  const { namespaces, namespaceSelector, installationIDs, permissions } = rule;
  if (namespaces !== undefined && !namespaces.some((glob) => matchesGlob(glob, wish.namespace)))
    return `the namespace ${wish.namespace} is none of ${namespaces.join(", ")}`;
  if (namespaceSelector !== undefined && !selects(namespaceSelector, wish.labels))
    return `the labels of the namespace ${wish.namespace} are not those of the selector`;
  if (installationIDs !== undefined && !installationIDs.includes(wish.installationID))
    return `the installation ${wish.installationID} is none of ${installationIDs.join(", ")}`;
  return permissions === undefined ? undefined : refusalOfPermissions(permissions, wish.permissions);
}

/** The rules that allow a wish as far as can be told without asking GitHub, or why none does. */
export function rulesFor(rules: readonly Rule[], wish: Wish): readonly Rule[] | string {
  if (rules.length === 0) return "it has no rule in spec.allowed, and so allows nobody";
  const refusals = rules.map((rule) => refusalBefore(rule, wish));
  const left = rules.filter((_, at) => refusals[at] === undefined);
  return left.length > 0 ? left : refusals.map((refusal, at) => `rule ${at + 1}: ${refusal}`).join("; ");
}

/**
 * What a token is good for: repositories by their full names, or all of a user's or an organization's; anything else is of an
 * enterprise, or of an account that is gone.
 */
export type Reach =
  | { readonly repositories: readonly string[] }
  | { readonly allOf: string }
  | { readonly beyond: string };

/** Why none of the rules allows a token of that reach; undefined when one does. */
export function refusalOfReach(rules: readonly Rule[], reach: Reach): Refusal {
  const refusals: string[] = [];
  for (const { repositories } of rules) {
    if (repositories === undefined) return undefined;
    if ("beyond" in reach) {
      // An enterprise may be called like an organization: only what allows every repository allows it.
      if (repositories.includes("*/*")) return undefined;
      refusals.push(`${reach.beyond} is more than ${repositories.join(", ")}`);
      continue;
    }
    const names = "allOf" in reach ? [`${reach.allOf}/*`] : reach.repositories;
    // All of an account's are a name with a star, which only a star in the glob matches.
    const outside = names.filter((name) => !repositories.some((glob) => matchesGlob(glob, name)));
    if (outside.length === 0) return undefined;
    refusals.push(`${outside.slice(0, 5).join(", ")} is not among ${repositories.join(", ")}`);
  }
  return refusals.join("; ");
}
