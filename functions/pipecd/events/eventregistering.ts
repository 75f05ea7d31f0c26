/**
 * Registers an event for each new value. The status announces each call, so a worker that takes over after a crash looks for its
 * result. Before each call, the function reads the newest event with the key from PipeCD.
 */
import { BlockedError, type ConditionUpdate, type Context, type Result, type Stored } from "denrei";
import type { Events, EventWrites } from "../api/events.ts";
import { retryMillis, syncMillis } from "../intervals.ts";
import { type ControlPlane, EventRegistration } from "../kinds.ts";
import { assertReady, ready, WaitingError } from "../server/dependent.ts";
import { openServer } from "../server/openserver.ts";
import { eventConditions, failureOf, readyOf } from "./conditions.ts";
import {
  type Decision,
  dataDigest,
  decide,
  isOver,
  type Known,
  keyDigest,
  knownOf,
  type Registered,
} from "./decision.ts";
import { currentValue, type Value } from "./value.ts";

type Registration = Stored<EventRegistration>;

/**
 * Minimum time between two events of a key. Agents compare creation times in whole seconds to find the newest event. Milliseconds.
 */
const minGapMillis = 2_000;
/** Expected clock skew between server and worker. Seconds. */
const skewSeconds = 3_600;
/** How far the search goes back without a known event. Agents ignore older events. Seconds. */
const lookbackSeconds = 7 * 86_400;
/** Agents no longer handle an event after this time. Milliseconds. */
const handledWithinMillis = 3_600_000;

/** Ensures that PipeCD has an event for the value, and tracks its state. */
export async function ensureEvent(
  registration: Registration,
  plane: Stored<ControlPlane>,
  ctx: Context,
): Promise<Result | undefined> {
  const value = await currentValue(registration, ctx);
  const key = keyDigest(registration.spec.projectID, keyOf(registration));
  const known = knownOf(registration.status, key);
  if (!needsCall(known, value)) return conclude(registration, known.registered, value, ctx);
  assertReady(plane);
  const { events, apiKeys } = await openServer(plane, registration.spec, ctx);
  if (events === undefined || apiKeys === undefined)
    throw new Error("expected a client with events and API keys");
  const decision = await decideByEvents(registration, key, known, value, events, ctx);
  const { registered, found, isDue } = decision;
  if (found === "adopted" && registered)
    ctx.event("Normal", "Adopted", `PipeCD has the event ${registered.eventID} for ${registered.data}`);
  if (!isDue || value.missing) return conclude(registration, registered, value, ctx);
  const wait = registered ? Date.parse(registered.time) + minGapMillis - ctx.now() : 0;
  if (wait > 0) {
    await writeEvent(registration, registered, ctx);
    return { requeueAfter: Math.min(wait, minGapMillis) };
  }
  if (events.register === undefined) throw missingApiKey(registration, plane);
  const isOwnKey = (await apiKeys.list()).some(({ id }) => id === events.apiKeyID);
  // A key of another project would register events where this function never finds them.
  if (!isOwnKey) throw apiKeyMismatch(registration);
  return register(registration, { key, value, decision }, { register: events.register }, ctx);
}

const keyOf = ({ spec: { name, labels = {} } }: Registration) => ({ name, labels });

/** A call is needed for a new value, after an attempt with an unknown outcome, and while an event is not handled. */
const needsCall = ({ registered, announced }: Known, { data }: Value): boolean =>
  announced !== undefined ||
  (data !== undefined && registered?.digest !== dataDigest(data)) ||
  (registered !== undefined && registered.state !== "Succeeded");

async function decideByEvents(
  registration: Registration,
  key: string,
  known: Known,
  { data }: Value,
  events: Events,
  ctx: Context,
): Promise<Decision> {
  const { registered } = known;
  const earliest = ctx.now() / 1000 - lookbackSeconds;
  const since = registered ? Date.parse(registered.time) / 1000 - skewSeconds : earliest;
  const from = async (time: number) => decide(data, key, known, await events.list(keyOf(registration), time));
  const decision = await from(since);
  // An event that is updated during paging moves to the first page, and clocks may differ more than expected. So an event counts as
  // lost only if a longer list does not have it either.
  return decision.found === "lost" ? from(Math.min(since, earliest)) : decision;
}

interface Due {
  readonly key: string;
  readonly value: Extract<Value, { data: string }>;
  readonly decision: Decision;
}

async function register(
  registration: Registration,
  { key, value: { data, commit }, decision }: Due,
  events: EventWrites,
  ctx: Context,
): Promise<Result | undefined> {
  const { spec } = registration;
  if (decision.found === "lost")
    ctx.event(
      "Warning",
      "RegistrationLost",
      `PipeCD no longer has the event ${decision.registered?.eventID}: registering another one`,
    );
  const digest = dataDigest(data);
  const announced = await ctx.status(
    EventRegistration,
    registration,
    { registered: decision.registered, announced: { key, digest } },
    [announcement],
  );
  ctx.assertOwned();
  const eventID = await events.register({
    ...keyOf(registration),
    data,
    contexts: spec.contexts ?? {},
    commitHash: commit,
  });
  ctx.event("Normal", "Registered", `PipeCD has the event ${eventID} for ${data}`);
  const time = new Date(ctx.now()).toISOString();
  const registered = { key, digest, data, eventID, time, state: "NotHandled" as const, description: "" };
  return conclude(announced, registered, { data, commit }, ctx);
}

const missingApiKey = (
  { spec: { projectID } }: Registration,
  { metadata: { name } }: Stored<ControlPlane>,
): BlockedError =>
  new BlockedError(
    "APIKeyNotFound",
    `no API key for the project ${projectID}. Set spec.apiKeySecretRef to a Secret with one, or set spec.bootstrapAPIKeys of the ControlPlane ${name}.`,
    retryMillis,
  );

const announcement: ConditionUpdate = {
  type: "Registered",
  status: "Unknown",
  reason: "Registering",
  message: "registering an event for the new value",
};

const apiKeyMismatch = ({ spec: { projectID } }: Registration): BlockedError =>
  new BlockedError(
    "APIKeyMismatch",
    `the API key does not belong to the project ${projectID}. Put a key of that project into the Secret, or correct spec.projectID.`,
    retryMillis,
  );

/** Writes the event to the status. In a merge patch, null removes a field. */
const writeEvent = (
  registration: Registration,
  registered: Registered | undefined,
  ctx: Context,
  conditions: readonly ConditionUpdate[] = [],
): Promise<Registration> =>
  ctx.status(
    EventRegistration,
    registration,
    { registered: registered ?? null, announced: null },
    conditions,
  );

/** Writes event and conditions to the status, and returns when to reconcile again. */
async function conclude(
  registration: Registration,
  registered: Registered | undefined,
  { missing }: Value,
  ctx: Context,
): Promise<Result | undefined> {
  if (missing && (registered === undefined || missing.reason === "RemoteSyncNotFound")) {
    const { reason, message } = missing;
    await writeEvent(registration, registered, ctx, registered && eventConditions(registered));
    throw new WaitingError(reason, message, pollMillis(registered, ctx.now()));
  }
  if (registered === undefined) throw new Error("expected an event for the value, found none");
  if (!isOver(registered.state)) {
    await writeEvent(registration, registered, ctx, [...eventConditions(registered), readyOf(registered)]);
    const requeueAfter = pollMillis(registered, ctx.now());
    return requeueAfter === undefined ? undefined : { requeueAfter };
  }
  const { reason, message } = failureOf(registered);
  await writeEvent(registration, registered, ctx, [
    ...eventConditions(registered),
    ready("False", reason, message),
  ]);
  throw new BlockedError(reason, message, retryMillis);
}

/** Poll interval for the state of an event; undefined for a final state. Milliseconds. */
export function pollMillis(registered: Registered | undefined, now: number): number | undefined {
  if (registered?.state !== "NotHandled") return undefined;
  const elapsed = now - Date.parse(registered.time);
  if (elapsed > handledWithinMillis * 1.5) return syncMillis;
  return Math.min(30_000, Math.max(2_000, elapsed / 4));
}
