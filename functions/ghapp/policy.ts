/**
 * Decides which Installations an App allows. The creator of an Installation chooses the installation, the repositories, and the
 * permissions of a token, so the App limits these choices. Pure.
 */

import { type LabelSelector, matchesLabels } from "../../bus/kube/labelselector.ts";
import { matchesGlob } from "../../bus/values/glob.ts";
import { ownValue } from "../../bus/values/ownvalue.ts";

/** Levels of a permission. Each includes those before it. */
export const levels = ["read", "write", "admin"] as const;
type Level = (typeof levels)[number];

/** A rule of `spec.allowed`. All of its fields must match. */
export interface Rule {
  readonly namespaces?: readonly string[] | undefined;
  readonly namespaceSelector?: LabelSelector | undefined;
  readonly installationIDs?: readonly number[] | undefined;
  readonly repositories?: readonly string[] | undefined;
  readonly permissions?: Readonly<Record<string, Level>> | undefined;
}

/** The request of an Installation. */
export interface TokenRequest {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly installationID: number;
  readonly permissions: Readonly<Record<string, string>> | undefined;
}

/** Why a rule does not allow a request; undefined when it does. */
type Refusal = string | undefined;

function refusalOfPermissions(
  most: Readonly<Record<string, Level>>,
  desired: TokenRequest["permissions"],
): Refusal {
  if (desired === undefined || Object.keys(desired).length === 0)
    return "set spec.permissions: without it, the token has all permissions of the installation";
  for (const [name, level] of Object.entries(desired)) {
    const limit = ownValue(most, name);
    if (
      limit === undefined ||
      !levels.includes(level as Level) ||
      levels.indexOf(level as Level) > levels.indexOf(limit)
    )
      return `the permission ${name}: ${level} exceeds ${limit === undefined ? "none" : `${name}: ${limit}`}`;
  }
  return undefined;
}

function refusalOfRequest(rule: Rule, request: TokenRequest): Refusal {
  const { namespaces, namespaceSelector, installationIDs, permissions } = rule;
  if (namespaces !== undefined && !namespaces.some((glob) => matchesGlob(glob, request.namespace)))
    return `the namespace ${request.namespace} does not match ${namespaces.join(", ")}`;
  if (namespaceSelector !== undefined && !matchesLabels(namespaceSelector, request.labels))
    return `the labels of the namespace ${request.namespace} do not match the selector`;
  if (installationIDs !== undefined && !installationIDs.includes(request.installationID))
    return `the installation ${request.installationID} is not one of ${installationIDs.join(", ")}`;
  return permissions === undefined ? undefined : refusalOfPermissions(permissions, request.permissions);
}

/** The rules that allow a request, checked without a token, or the reason why none does. */
export function rulesFor(rules: readonly Rule[], request: TokenRequest): readonly Rule[] | string {
  if (rules.length === 0) return "it has no rules in spec.allowed, and allows no Installation";
  const refusals = rules.map((rule) => refusalOfRequest(rule, request));
  const left = rules.filter((_, at) => refusals[at] === undefined);
  return left.length > 0 ? left : refusals.map((refusal, at) => `rule ${at + 1}: ${refusal}`).join("; ");
}

/**
 * What a token can access: repositories by full name, all repositories of a user or an organization, or more than that, such as
 * those of an enterprise or of a deleted account.
 */
export type TokenAccess =
  | { readonly repositories: readonly string[] }
  | { readonly allOf: string }
  | { readonly beyond: string };

/** Why no rule allows a token with this access; undefined when one does. */
export function refusalOfAccess(rules: readonly Rule[], access: TokenAccess): Refusal {
  const refusals: string[] = [];
  for (const { repositories } of rules) {
    if (repositories === undefined) return undefined;
    if ("beyond" in access) {
      // An enterprise and an organization can have the same name, so only a rule for all repositories allows it.
      if (repositories.includes("*/*")) return undefined;
      refusals.push(`${access.beyond} exceeds ${repositories.join(", ")}`);
      continue;
    }
    const names = "allOf" in access ? [`${access.allOf}/*`] : access.repositories;
    // A whole account is written as a name with a star, which only a star in the glob matches.
    const outside = names.filter((name) => !repositories.some((glob) => matchesGlob(glob, name)));
    if (outside.length === 0) return undefined;
    refusals.push(`${outside.slice(0, 5).join(", ")} is not among ${repositories.join(", ")}`);
  }
  return refusals.join("; ");
}
