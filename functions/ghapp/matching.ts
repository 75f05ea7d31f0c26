/** Label selectors, which a rule names namespaces by. Pure. */

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
