/**
 * `denrei`: the library for functions. It exports what functions import: kinds, declarations, webhooks, Kubernetes' own kinds,
 * the errors of the API server, and the types of arguments. How to write functions: docs/functions.md.
 *
 * @packageDocumentation
 */
import "./nodeversion.ts";

export { ConfigError } from "./config/config.ts";
export * from "./entrypoints/kinds.ts";
export {
  type Component,
  defineConfig,
  type FunctionModules,
  type ProjectConfig,
} from "./entrypoints/project.ts";
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
export type { ListedFor, ListedKinds } from "./kube/listedkinds.ts";
export { amountOf, matchesDesired } from "./kube/matchesdesired.ts";
export { hasImage, type Rollout, rolloutOf, rolloutOfAll, selectorText } from "./kube/rollout.ts";
export type { Find, IndexValues } from "./objects/indexes.ts";
export { platformNamespace } from "./process/namespace.ts";
export type { Cause } from "./queue/request.ts";
export { keyText, type ObjectKey } from "./subjects.ts";
export { digestOf } from "./values/digest.ts";
export { Recent, type RecentOptions } from "./values/recent.ts";
export { redacted, redactorOf } from "./values/redact.ts";
export { github } from "./webhooks/github/github.ts";
export type { GitHubEventName } from "./webhooks/github/names.ts";
export type { WebhookEventName, WebhookPayload } from "./webhooks/github/payloads.ts";
export {
  type AttributeFields,
  defineProvider,
  type EventSchemas,
  type Events,
  type NamesOf,
  type Place,
  type Provider,
  type ProviderOptions,
  type SchemasOf,
  type Webhook,
  type WebhookProvider,
  type WebhookTrigger,
} from "./webhooks/provider.ts";
export { bitbucket } from "./webhooks/providers/bitbucket.ts";
export { hmacWebhooks, standardWebhooks } from "./webhooks/providers/generic.ts";
export { type GiteaEventName, gitea } from "./webhooks/providers/gitea.ts";
export { gitlab } from "./webhooks/providers/gitlab.ts";
export {
  type HmacOptions,
  type SignatureCheck,
  type SignatureScheme,
  signatures,
} from "./webhooks/signatures.ts";
export type { Clearable, ListOptions, NewChild, SpecOf, StatusFields } from "./worker/arguments.ts";
export { BlockedError, TerminalError } from "./worker/errors.ts";
export {
  type Context,
  defineFunction,
  type Filter,
  type FunctionOptions,
  type Keys,
  type Outbound,
  type OwnedKind,
  type PolicyRule,
  type Reads,
  type ReconcileFunction,
  type Result,
  type Watch,
} from "./worker/function.ts";
export type { OutboundCidr } from "./worker/outbound.ts";
export {
  blockedByRefusal,
  blockedBySecretAccess,
  type Explanation,
  secretAccessDenied,
} from "./worker/refusal.ts";
export { annotations, generation, labels, type Projection } from "./worker/watch.ts";
