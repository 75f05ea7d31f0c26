/**
 * `denrei/bus`: the bus itself, for tools: connections, topology, permissions, and the state of requests.
 *
 * @packageDocumentation
 */
import "../nodeversion.ts";

export type { CausalLink, Origin } from "../activity/causality/links.ts";
export {
  type CausalEntry,
  type CausalHistory,
  type CausalLimits,
  causalHistory,
} from "../activity/causality/search.ts";
export type { CausalRun, CausalThread, CausalTree } from "../activity/causality/tree.ts";
export type { ObjectOfKind, SearchTarget } from "../activity/history.ts";
export { type AnswerTimeouts, askInFlight, type WorkInFlight } from "../activity/inflight.ts";
export { type Activity, activitySchema } from "../activity/record.ts";
export type { ActivityScope, StoredActivity } from "../activity/stream.ts";
export {
  CursorError,
  type Timeline,
  type TimelineEvent,
  type TimelineQuery,
  timeline,
} from "../activity/timeline.ts";
export { optedInNamespaces } from "../bridge/optedin.ts";
export type { Position } from "../bridge/position.ts";
export { namespacesOnBus, namespacesWith } from "../inspect/namespaces.ts";
export { forgetProject, type KnownProject, knownProject } from "../inspect/removal.ts";
export { byUrgency, type ListedRequest, listRequests, type RequestState } from "../inspect/requests.ts";
export {
  type FunctionStatus,
  functionStatus,
  type KindPosition,
  type KindStatus,
  kindStatuses,
  type QueueLengths,
  queueLengths,
} from "../inspect/status.ts";
export type { BusClock, BusClockOptions } from "../nats/busclock.ts";
export { type Bus, type BusAddress, BusUnreachableError, busAddress, connectBus } from "../nats/connect.ts";
export { busAccount, type Identity, userOf } from "../nats/identity.ts";
export { type AskOptions, DisconnectedError, type Inbox } from "../nats/inbox.ts";
export type { LastValue } from "../nats/lastvalues.ts";
export { BusPermissionError, withUser } from "../nats/permissionerror.ts";
export type { PublishBacklog } from "../nats/publishbacklog.ts";
export { isWrongSequence } from "../nats/wrongsequence.ts";
export {
  busRoles,
  consumersOf,
  isLocal,
  mergePermissions,
  type Permissions,
  type Role,
  workerRole,
} from "../permissions.ts";
export {
  type AddressedDeadLetter,
  type DeadLetter,
  type DeadLetters,
  deadLetters,
} from "../queue/deadletters.ts";
export {
  type Published,
  type PublishObserver,
  type PublishOptions,
  publishUntilAnswered,
} from "../queue/publish.ts";
export { type Mark, type TicketQueue, type TicketQueueOptions, ticketQueue } from "../queue/queue.ts";
export { emptyTtl } from "../queue/replacelast.ts";
export { type Cause, newRequest, type Request } from "../queue/request.ts";
export {
  activity,
  consumers,
  functionNamePattern,
  type GroupKind,
  keyText,
  kindSubjects,
  type MarkName,
  type ObjectKey,
  type ObjectSubscription,
  parseKeySubject,
  parseKeyText,
  type QueueScope,
  sessionSubject,
  streams,
  timersStream,
  type WebhookAddress,
  work,
  workStream,
} from "../subjects.ts";
export { type Stream, TopologyError } from "../topology/ensure.ts";
export {
  functionOf,
  type LeftMessages,
  type Leftover,
  type LeftoverOptions,
  leftMessages,
  leftovers,
  removeLeftover,
  removeMessages,
} from "../topology/leftovers.ts";
export { adopt, ownerOf } from "../topology/owner.ts";
export {
  activityStreamConfig,
  type BusOptions,
  sessionHours,
  sharedStreams,
  timersStreamConfig,
  workStreamConfig,
} from "../topology/streams.ts";
export { currentPlan, type Migration, type TopologyPlan } from "../topology/version.ts";
export {
  type Ensured,
  ensureDashboard,
  ensureWebhooks,
  type FunctionSubscription,
  functionConsumers,
} from "../topology.ts";
export { traceId } from "../tracing/trace.ts";
export {
  type DeliveryQuery,
  deliveries,
  deliveryAt,
  replayDelivery,
  type StoredDelivery,
  webhookMillis,
} from "../webhooks/history.ts";
