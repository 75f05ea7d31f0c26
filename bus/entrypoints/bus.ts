/** `denrei/bus`: the bus itself, for tools: connections, topology, permissions, and the state of requests. */
import "../nodeversion.ts";

export type { ObjectOfKind, SearchTarget } from "../activity/history.ts";
export { askInFlight } from "../activity/inflight.ts";
export { activitySchema } from "../activity/record.ts";
export { CursorError, type Timeline, type TimelineEvent, timeline } from "../activity/timeline.ts";
export { optedInNamespaces } from "../bridge/optedin.ts";
export { namespacesWith } from "../inspect/namespaces.ts";
export { forgetProject, knownProject } from "../inspect/removal.ts";
export { byUrgency, type ListedRequest, listRequests, type RequestState } from "../inspect/requests.ts";
export { functionStatus, kindStatuses } from "../inspect/status.ts";
export { type Bus, type BusAddress, BusUnreachableError, busAddress, connectBus } from "../nats/connect.ts";
export { busAccount, userOf } from "../nats/identity.ts";
export { DisconnectedError } from "../nats/inbox.ts";
export { BusPermissionError, withUser } from "../nats/permissionerror.ts";
export { isWrongSequence } from "../nats/wrongsequence.ts";
export {
  busRoles,
  consumersOf,
  isLocal,
  mergePermissions,
  type Permissions,
  type Role,
} from "../permissions.ts";
export {
  type AddressedDeadLetter,
  type DeadLetter,
  type DeadLetters,
  deadLetters,
} from "../queue/deadletters.ts";
export { publishUntilAnswered } from "../queue/publish.ts";
export { ticketQueue } from "../queue/queue.ts";
export { emptyTtl } from "../queue/replacelast.ts";
export { type Cause, newRequest } from "../queue/request.ts";
export {
  activity,
  consumers,
  functionNamePattern,
  keyText,
  kindSubjects,
  type ObjectKey,
  parseKeySubject,
  parseKeyText,
  type QueueScope,
  sessionSubject,
  streams,
  timersStream,
  work,
  workStream,
} from "../subjects.ts";
export { TopologyError } from "../topology/ensure.ts";
export {
  functionOf,
  type LeftMessages,
  type Leftover,
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
export { currentPlan } from "../topology/version.ts";
export {
  ensureDashboard,
  ensureWebhooks,
  type FunctionSubscription,
  functionConsumers,
} from "../topology.ts";
export { traceId } from "../tracing/trace.ts";
export { type DeliveryQuery, deliveries, replayDelivery, type StoredDelivery } from "../webhooks/history.ts";
