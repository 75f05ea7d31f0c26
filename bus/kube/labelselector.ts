/** Label selectors of Kubernetes. Pure. */
import { ownValue } from "../values/ownvalue.ts";

/** A label selector (`LabelSelector` of `meta/v1`). An empty one matches all objects. */
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

type Expression = NonNullable<LabelSelector["matchExpressions"]>[number];

/** Whether a selector matches labels. Unknown operators match nothing. */
export const matchesLabels = (
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Readonly<Record<string, string>> = {},
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
