/** The classes of `imports/k8s`: what `cdk8s import k8s` generates is 13,000 lines of types, which are gone when a chart runs. */
import { ApiObject } from "cdk8s";
import type { Construct } from "constructs";
import { type KubeClass, kubeClasses } from "./k8skinds.ts";
import { modernIngress } from "./oldingress.ts";

type Props = Readonly<Record<string, unknown>>;

/** A value of a field that may be of two types. */
class FieldValue {
  readonly value: number | string;
  constructor(value: number | string) {
    this.value = value;
  }
  static fromNumber(value: number): FieldValue {
    return new FieldValue(value);
  }
  static fromString(value: string): FieldValue {
    return new FieldValue(value);
  }
}

/** Renders values in fields. Objects of cdk8s, such as values that are computed later, are left to it. */
function plainFields(value: unknown): unknown {
  if (value instanceof FieldValue) return value.value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plainFields);
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, plainFields(field)]));
}

function classOf({ name, apiVersion, kind }: KubeClass, change: (fields: Props) => Props = (same) => same) {
  const GVK = { apiVersion, kind };
  const fields = (props: Props): Props => change(plainFields(props) as Props);
  const made = class extends ApiObject {
    static readonly GVK = GVK;
    /** A manifest without an object, for fields that hold one. */
    static manifest(props: Props = {}): Props {
      return { ...GVK, ...fields(props) };
    }
    constructor(scope: Construct, id: string, props: Props = {}) {
      super(scope, id, { ...fields(props), ...GVK });
    }
  };
  Object.defineProperty(made, "name", { value: name });
  return made;
}

/** Everything that `imports/k8s` exports, by name. */
export const k8s: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(
    kubeClasses.flatMap((one) => [
      [`Kube${one.name}`, classOf(one)],
      [one.name, classOf(one, one.kind === "Ingress" ? modernIngress : undefined)],
    ]),
  ),
  IntOrString: FieldValue,
  Quantity: FieldValue,
};
