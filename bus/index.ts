/**
 * `denrei`: the library for functions. It exports everything that docs/functions.md imports from below `bus/`, and what else an
 * author needs: Kubernetes' own kinds, the errors of its API server, and the types of arguments.
 */
export { z } from "zod";
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
export { github } from "./webhooks/github/github.ts";
export type { GitHubEventName } from "./webhooks/github/names.ts";
export type { WebhookEventName, WebhookPayload } from "./webhooks/github/payloads.ts";
export {
  type AttributeFields,
  defineProvider,
  type Place,
  type Provider,
  type ProviderOptions,
  type Webhook,
  type WebhookProvider,
  type WebhookTrigger,
} from "./webhooks/provider.ts";
export { bitbucket } from "./webhooks/providers/bitbucket.ts";
export { hmacWebhooks, standardWebhooks } from "./webhooks/providers/generic.ts";
export { type GiteaEventName, gitea } from "./webhooks/providers/gitea.ts";
export { gitlab } from "./webhooks/providers/gitlab.ts";
export { type HmacOptions, type SignatureScheme, signatures } from "./webhooks/signatures.ts";
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
} from "./worker/function.ts";
