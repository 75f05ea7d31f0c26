/**
 * `denrei`: the library for functions. It exports everything that docs/functions.md imports from below `bus/`, and what else an
 * author needs: Kubernetes' own kinds, the errors of its API server, and the types of arguments.
 */
/**
 * `denrei`: the library for functions. It exports everything that docs/functions.md imports, and what else an author needs:
 * Kubernetes' own kinds, the errors of its API server, and the types of arguments.
 */
export { ConfigError } from "./config/config.ts";
export * from "./entrypoints/kinds.ts";
export {
  type Component,
  defineConfig,
  type FunctionModules,
  type ProjectConfig,
} from "./entrypoints/project.ts";
export type { WebhookEventName, WebhookPayload } from "./events/github/payloads.ts";
export { refusalReasonOf } from "./kube/blocker.ts";
export { isMarkedBy } from "./kube/clusterchild.ts";
export {
  ApiError,
  isAlreadyExists,
  isConflict,
  isDistrust,
  isForbidden,
  isInvalid,
  isNotFound,
} from "./kube/errors.ts";
export type { ListedKinds } from "./kube/listedkinds.ts";
export { amountOf, matchesDesired } from "./kube/matchesdesired.ts";
export { hasImage, type Rollout, rolloutOf, rolloutOfAll, selectorText } from "./kube/rollout.ts";
export type { Find } from "./objects/indexes.ts";
export { platformNamespace } from "./process/namespace.ts";
export type { Cause } from "./queue/request.ts";
export { keyText, type ObjectKey } from "./subjects.ts";
export { digestOf } from "./values/digest.ts";
export { Recent } from "./values/recent.ts";
export { redacted, redactorOf } from "./values/redact.ts";
export type { Webhook } from "./webhooks/received.ts";
export type { ListOptions, NewChild, StatusFields } from "./worker/arguments.ts";
export { BlockedError, TerminalError } from "./worker/errors.ts";
export {
  type Context,
  defineFunction,
  type FunctionOptions,
  type Keys,
  type Outbound,
  type PolicyRule,
  type Reads,
  type ReconcileFunction,
  type Result,
  type Watch,
  type Webhooks,
} from "./worker/function.ts";
export type { OutboundCidr } from "./worker/outbound.ts";
export {
  blockedByRefusal,
  blockedBySecretAccess,
  type Explanation,
  secretAccessDenied,
} from "./worker/refusal.ts";
export { annotations, generation, labels, type Projection } from "./worker/watch.ts";
