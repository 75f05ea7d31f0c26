/**
 * `denrei`: the library for functions. It exports everything that docs/functions.md imports from below `bus/`, and what else an
 * author needs: Kubernetes' own kinds, the errors of its API server, and the types of arguments.
 */
import "./nodeversion.ts";

export { z } from "zod";
export type { WebhookEventName, WebhookPayload } from "./events/github/payloads.ts";
export { isMarkedBy } from "./kube/clusterchild.ts";
export type { ConditionUpdate } from "./kube/conditions.ts";
export { type CelRule, cel, crdOf, listMap } from "./kube/crd.ts";
export { optInCommands } from "./kube/domain.ts";
export {
  ApiError,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
} from "./kube/errors.ts";
export { age, conditions, objectName, observedGeneration, quantity, ready, time } from "./kube/fields.ts";
export {
  ConfigMap,
  type ConfigMapObject,
  checkObject,
  defineKind,
  externalKind,
  InvalidObjectError,
  type Kind,
  Namespace,
  type ObjectOf,
  Pod,
  Secret,
  type SecretObject,
} from "./kube/kind.ts";
export {
  type Condition,
  controllerOf,
  controllerReference,
  type KubeObject,
  type ObjectMeta,
  type OwnerReference,
  type Stored,
} from "./kube/object.ts";
export { ClusterRole, ClusterRoleBinding } from "./kube/rbac.ts";
export { type Rollout, rolloutOf } from "./kube/rollout.ts";
export { Deployment, Service, ServiceAccount, StatefulSet } from "./kube/workloads.ts";
export type { Find } from "./objects/indexes.ts";
export type { Cause } from "./queue/request.ts";
export { keyText, type ObjectKey } from "./subjects.ts";
export type { Webhook } from "./webhooks/received.ts";
export { BlockedError, TerminalError } from "./worker/errors.ts";
export {
  type Context,
  defineFunction,
  type FunctionOptions,
  type Keys,
  type NewChild,
  type Outbound,
  type PolicyRule,
  type Reads,
  type ReconcileFunction,
  type Result,
  type Watch,
  type Webhooks,
} from "./worker/function.ts";
