/**
 * What to do about a value, by what PipeCD lists. Nothing of an event is unique there, so one is registered only when the newest event
 * with the key has other data. Pure.
 */
import { digestOf } from "../../../bus/values/digest.ts";
import type { EventKey, EventRecord } from "../api/events.ts";
import type { EventRegistration } from "../kinds.ts";

type Status = NonNullable<EventRegistration["status"]>;

/** The last event that is known. */
export type Registered = NonNullable<Status["registered"]>;
/** An event that may or may not have been registered. */
export type Announced = NonNullable<Status["announced"]>;

/** What a status says of one key. */
export interface Known {
  readonly registered: Registered | undefined;
  readonly announced: Announced | undefined;
}

/** What is to be done. */
export interface Decision {
  /** The last event, as PipeCD has it now. */
  readonly registered: Registered | undefined;
  /** How it differs from what was known. */
  readonly found: "same" | "adopted" | "lost";
  /** Whether an event of the value has to be registered. */
  readonly isDue: boolean;
}

/** What stands for a project, a name and labels. */
export const keyDigest = (projectID: string, { name, labels }: EventKey): string =>
  digestOf({ projectID, name, labels }, 16);

/** What stands for data. */
export const dataDigest = (data: string): string => digestOf(data, 32);

/** What a status says of the key: of another key's events it says nothing. */
export const knownOf = (status: Status | undefined, key: string): Known => ({
  registered: status?.registered?.key === key ? status.registered : undefined,
  announced: status?.announced?.key === key ? status.announced : undefined,
});

/**
 * Decides. `events` are those of the key, newest first, as far back as the last known one. Without a value the last event is only
 * followed.
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
  // Times have whole seconds: another event of the same second may be the later one.
  const later = events.filter((event) => event !== own && event.createdAt >= (own?.createdAt ?? 0));
  const begun = announced && later.find(({ data }) => dataDigest(data) === announced.digest);
  if (begun) return { registered: asRegistered(key, begun), found: "adopted" };
  if (registered === undefined) return { registered, found: "same" };
  if (own === undefined) return { registered, found: registered.state === "NotHandled" ? "lost" : "same" };
  const again = isOver(registered.state) && later.find(({ data }) => dataDigest(data) === registered.digest);
  if (again) return { registered: asRegistered(key, again), found: "adopted" };
  return {
    registered: { ...registered, state: own.state, description: own.description },
    found: "same",
  };
}

/** Whether no agent handles it any more, without having handled it. */
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
