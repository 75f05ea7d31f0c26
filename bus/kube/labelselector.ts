/**
 * Label selectors, as an object and as text: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
 * Pure.
 */
import { ownValue } from "../values/ownvalue.ts";

/** A label selector as in Kubernetes (`metav1.LabelSelector`). All requirements must hold; an empty one matches all. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?:
    | readonly {
        readonly key: string;
        readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
        /** For `In` and `NotIn`: at least one. */
        readonly values?: readonly string[] | undefined;
      }[]
    | undefined;
}

type Expression = NonNullable<LabelSelector["matchExpressions"]>[number];

/** Whether a selector matches labels. An empty one matches all. */
export const selects = (
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Readonly<Record<string, string>>,
): boolean =>
  Object.entries(matchLabels).every(([key, value]) => ownValue(labels, key) === value) &&
  matchExpressions.every((expression) => holds(expression, ownValue(labels, expression.key)));

function holds({ operator, values = [] }: Expression, value: string | undefined): boolean {
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
  }
}

/**
 * Reads a selector in either form. The text form is that of `kubectl get --selector`:
 * `app=web,tier in (front,back),stage!=test,owner,!canary`. Throws a `RangeError` on a selector that the API server rejects.
 */
export function labelSelectorOf(given: LabelSelector | string): LabelSelector {
  const selector = typeof given === "string" ? parsedSelector(given) : given;
  const unknown = Object.keys(selector).find((name) => !["matchLabels", "matchExpressions"].includes(name));
  if (unknown !== undefined)
    throw new RangeError(`expected matchLabels or matchExpressions in a label selector, found "${unknown}"`);
  for (const expression of expressionsOf(selector)) {
    const problem = problemOf(expression);
    if (problem) throw new RangeError(`invalid label selector ${JSON.stringify(given)}: ${problem}`);
  }
  return selector;
}

/** The text form of a selector, for the query of a list or watch; empty for one that matches all. */
export const labelSelectorText = (selector: LabelSelector): string =>
  expressionsOf(selector).map(expressionText).join(",");

const expressionsOf = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector): Expression[] => [
  ...Object.entries(matchLabels).map(([key, value]) => ({ key, operator: "In" as const, values: [value] })),
  ...matchExpressions,
];

function expressionText({ key, operator, values = [] }: Expression): string {
  switch (operator) {
    case "In":
      return `${key} in (${values.join(",")})`;
    case "NotIn":
      return `${key} notin (${values.join(",")})`;
    case "Exists":
      return key;
    case "DoesNotExist":
      return `!${key}`;
  }
}

const qualifiedName =
  /^(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?$/;
const labelValue = /^(?:[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?)?$/;

/** Why the API server rejects an expression; undefined if it accepts it. */
function problemOf({ key, operator, values = [] }: Expression): string | undefined {
  if (!qualifiedName.test(key)) return `"${key}" is not the key of a label`;
  const wrong = values.find((value) => !labelValue.test(value));
  if (wrong !== undefined) return `"${wrong}" is not the value of a label`;
  if (operator === "In" || operator === "NotIn")
    return values.length === 0 ? `${operator} needs at least one value` : undefined;
  if (operator !== "Exists" && operator !== "DoesNotExist")
    return `expected the operator In, NotIn, Exists, or DoesNotExist, found "${operator}"`;
  return values.length > 0 ? `${operator} takes no values` : undefined;
}

/** One requirement in text: the operator stands before the key, or after it with its values. */
const requirement =
  /^(?:(?<absent>!)\s*)?(?<key>[^\s!=(),<>]+)(?:\s*(?<equality>==?|!=)\s*(?<value>[^\s!=(),<>]*)|\s+(?<set>in|notin)\s*\((?<values>[^()]*)\))?$/;

function parsedSelector(text: string): LabelSelector {
  if (text.trim() === "") return {};
  // Commas in parentheses separate values.
  const matchExpressions = text.split(/,(?![^(]*\))/).map((part) => {
    const { absent, key, equality, value, set, values } = requirement.exec(part.trim())?.groups ?? {};
    if (key === undefined || (absent && (equality || set)))
      throw new RangeError(
        `invalid label selector ${JSON.stringify(text)}: expected requirements such as app=web, ` +
          `stage!=test, tier in (front,back), tier notin (db), owner, or !canary, found "${part.trim()}"`,
      );
    if (absent) return { key, operator: "DoesNotExist" } as const;
    if (equality === undefined && set === undefined) return { key, operator: "Exists" } as const;
    const isNegative = equality === "!=" || set === "notin";
    const all = set === undefined ? [value ?? ""] : (values ?? "").split(",").map((one) => one.trim());
    return { key, operator: isNegative ? "NotIn" : "In", values: all } as const;
  });
  return { matchExpressions };
}
