/**
 * Decides whether to register an event for a value, from the events that PipeCD lists. PipeCD enforces no uniqueness, so an event is
 * registered only if the newest event with the key has other data. Pure.
 */
import { digestOf } from "denrei";
import type { EventKey, EventRecord } from "../api/events.ts";
import type { EventRegistration } from "../kinds.ts";

type Status = NonNullable<EventRegistration["status"]>;

/** The last known event. */
export type Registered = NonNullable<Status["registered"]>;
/** An event whose registration was started, with an unknown outcome. */
export type Announced = NonNullable<Status["announced"]>;

/** The part of a status that belongs to one key. */
export interface Known {
  readonly registered: Registered | undefined;
  readonly announced: Announced | undefined;
}

/** The result of {@link decide}. */
export interface Decision {
  /** The last event, with its current state. */
  readonly registered: Registered | undefined;
  /** Whether it is the known event, another one, or missing in PipeCD. */
  readonly found: "same" | "adopted" | "lost";
  /** Whether to register an event for the value. */
  readonly isDue: boolean;
}

/** Digest of a project, a name, and labels. */
export const keyDigest = (projectID: string, { name, labels }: EventKey): string =>
  digestOf({ projectID, name, labels }, 16);

/** Digest of an event's data. */
export const dataDigest = (data: string): string => digestOf(data, 32);

/** The part of a status that belongs to the key. */
export const knownOf = (status: Status | undefined, key: string): Known => ({
  registered: status?.registered?.key === key ? status.registered : undefined,
  announced: status?.announced?.key === key ? status.announced : undefined,
});

/**
 * `events` are those of the key, newest first, back to the last known one. Without a value, only the state of the last event is
 * updated.
 */
export function decide(
  value: string | undefined,
  key: string,
  known: Known,
  events: readonly EventRecord[],
): Decision {
  const digest = value === undefined ? undefined : dataDigest(value);
  const { registered, found } = lastOf(key, known, events);
  if (digest === undefined) return { registered, found, isDue: false };
  if (registered?.digest === digest) return { registered, found, isDue: found === "lost" };
  const [newest] = events;
  if (newest !== undefined && dataDigest(newest.data) === digest)
    return { registered: asRegistered(key, newest), found: "adopted", isDue: false };
  return { registered, found, isDue: true };
}

function lastOf(
  key: string,
  { registered, announced }: Known,
  events: readonly EventRecord[],
): Omit<Decision, "isDue"> {
  const own = events.find(({ id }) => id === registered?.eventID);
  // Times are whole seconds, so an event of the same second may be later.
  const later = events.filter((event) => event !== own && event.createdAt >= (own?.createdAt ?? 0));
  const announcedEvent = announced && later.find(({ data }) => dataDigest(data) === announced.digest);
  if (announcedEvent) return { registered: asRegistered(key, announcedEvent), found: "adopted" };
  if (registered === undefined) return { registered, found: "same" };
  if (own === undefined) return { registered, found: registered.state === "NotHandled" ? "lost" : "same" };
  const again = isOver(registered.state) && later.find(({ data }) => dataDigest(data) === registered.digest);
  if (again) return { registered: asRegistered(key, again), found: "adopted" };
  return {
    registered: { ...registered, state: own.state, description: own.description },
    found: "same",
  };
}

/** Whether an event has ended without being handled. */
export const isOver = (state: Registered["state"]): boolean => state === "Failed" || state === "Outdated";

const asRegistered = (key: string, { id, data, state, description, createdAt }: EventRecord): Registered => ({
  key,
  digest: dataDigest(data),
  data,
  eventID: id,
  time: new Date(createdAt * 1000).toISOString(),
  state,
  description,
});
