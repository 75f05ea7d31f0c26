/** `denrei`: what functions are written with. */
export { z } from "zod";
export type { ConditionUpdate } from "./kube/conditions.ts";
export { age, conditions, objectName, observedGeneration, quantity, ready, time } from "./kube/fields.ts";
export {
  ConfigMap,
  defineKind,
  externalKind,
  type Kind,
  type ObjectOf,
  Pod,
  Secret,
} from "./kube/kind.ts";
export type { Condition, KubeObject, Stored } from "./kube/object.ts";
export { BlockedError, TerminalError } from "./worker/errors.ts";
export {
  type Context,
  defineFunction,
  type FunctionOptions,
  type PolicyRule,
  type ReconcileFunction,
  type Result,
  type Watch,
} from "./worker/function.ts";
