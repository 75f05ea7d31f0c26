/** Globs and label selectors, which a rule names repositories and namespaces by. Pure. */

/** A label selector, as everywhere in Kubernetes. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?:
    | readonly {
        readonly key: string;
        readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
        readonly values?: readonly string[] | undefined;
      }[]
    | undefined;
}

/** What a map has by a name, and not what every object of JavaScript has. */
export const valueIn = <T>(map: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(map, name) ? map[name] : undefined;

/** Whether a glob, in which `*` stands for any letters but a slash, matches. GitHub's names ignore case. */
export function matchesGlob(glob: string, text: string): boolean {
  const parts = text.toLowerCase().split("/");
  const patterns = glob.toLowerCase().split("/");
  return (
    patterns.length === parts.length && patterns.every((pattern, at) => matches(pattern, parts[at] ?? ""))
  );
}

/** Without a regular expression: of many stars it makes one that takes for ever, and holds up all that the process does. */
function matches(pattern: string, text: string): boolean {
  const [first = "", ...between] = pattern.split("*");
  const last = between.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let from = first.length;
  for (const part of between) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return from + last.length <= text.length;
}

type Expression = NonNullable<LabelSelector["matchExpressions"]>[number];

/** Whether labels are those that a selector asks for; an empty one asks for none. */
export const selects = (
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Readonly<Record<string, string>>,
): boolean =>
  Object.entries(matchLabels).every(([key, value]) => valueIn(labels, key) === value) &&
  matchExpressions.every((expression) => holds(expression, valueIn(labels, expression.key)));

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
