/** What is read of an event without building it: routers and readers need no more, and so no SDK. */
import type { MsgHdrs } from "@nats-io/transport-node";

/** Headers of the NATS protocol binding begin with it. */
export const prefix = "ce-";

/**
 * One attribute of an event, without reading the rest; empty if it is not there. A value whose escapes nobody can have
 * written is returned as it is: whoever asks judges what it says, and does not fall over it.
 */
export function attribute(from: MsgHdrs | undefined, name: string): string {
  const value = from?.get(prefix + name) ?? "";
  if (!value.includes("%")) return value;
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** What happened to the object. A list that shows an object for the first time says `added`. */
export type Change = "added" | "modified" | "deleted";

const changes = "dev.denrei.kubernetes.";

/** Types of the events: `dev.denrei.kubernetes.added` and so on. */
export const changeType = (change: Change): string => `${changes}${change}`;

/** Whether the event is about a change of an object; of one that this version does not know as well. */
export const isChange = (type: string): boolean => type.startsWith(changes);

/** The event is about a deletion: its data is the object's last known state. */
export const isDeletion = (type: string): boolean => type === changeType("deleted");

/**
 * Extension attribute of events whose object did not fit into a message: the data is only part of it, and readers get the
 * object from the API server.
 */
export const partialAttribute = "partial";

/** Whether the event's data is only part of the object. */
export const isPartial = (headers: MsgHdrs | undefined): boolean =>
  attribute(headers, partialAttribute) === "true";

/**
 * Identity and version of the object an event is about: the event's `id` is `<uid>.<resourceVersion>`. Undefined for
 * ids that are not of this form.
 */
export function versionOf(id: string): { uid: string; resourceVersion: string } | undefined {
  const dot = id.lastIndexOf(".");
  return dot < 0 ? undefined : { uid: id.slice(0, dot), resourceVersion: id.slice(dot + 1) };
}
