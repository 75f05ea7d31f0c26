/** The classes of `imports/k8s`. `cdk8s import k8s` generates 13,000 lines for them, but almost all are types. */
import { ApiObject } from "cdk8s";
import type { Construct } from "constructs";
import { type KubeClass, kubeClasses } from "./k8skinds.ts";
import { modernIngress } from "./oldingress.ts";

type Props = Readonly<Record<string, unknown>>;

/** A value of a field with two possible types. */
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

/** Converts values in fields. Objects of cdk8s, such as lazy values, stay unchanged. */
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
    /** A manifest without an object, for fields that contain one. */
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

/** All exports of `imports/k8s`, by name. */
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
