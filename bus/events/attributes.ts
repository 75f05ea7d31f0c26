/** Reads attributes of an event without building it: routers and readers need no more, and so no SDK. */
import type { MsgHdrs } from "@nats-io/transport-node";

/** Prefix of headers in the NATS protocol binding. */
export const prefix = "ce-";

/**
 * One attribute of an event, without reading the rest; empty if it is missing. A value with invalid escapes is returned
 * unchanged: the caller judges it.
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

/** The kind of a change. A list that shows an object for the first time reports `added`. */
export type Change = "added" | "modified" | "deleted";

const changes = "dev.denrei.kubernetes.";

/** Event types: `dev.denrei.kubernetes.added` and so on. */
export const changeType = (change: Change): string => `${changes}${change}`;

/** Whether the event reports a change of an object, including kinds of changes that this version does not know. */
export const isChange = (type: string): boolean => type.startsWith(changes);

/** Whether the event reports a deletion. Its data is then the object's last known state. */
export const isDeletion = (type: string): boolean => type === changeType("deleted");

/**
 * Extension attribute of events whose object did not fit into a message: the data is only a part of it, and readers get the
 * object from the API server.
 */
export const partialAttribute = "partial";

/** Whether the event's data is only a part of the object. */
export const isPartial = (headers: MsgHdrs | undefined): boolean =>
  attribute(headers, partialAttribute) === "true";

/**
 * Extension attribute of events that correct the one before, which lacked fields of the object. A reader that has read or written
 * this version may have decided without those fields.
 */
const correctionAttribute = "correction";

/** Marks a message as a correction of the one before. */
export const markCorrection = (headers: MsgHdrs): void => headers.set(prefix + correctionAttribute, "true");

/** Whether the event corrects the one before. */
export const isCorrection = (headers: MsgHdrs | undefined): boolean =>
  attribute(headers, correctionAttribute) === "true";

/**
 * Identity and version of the event's object: the event's `id` is `<uid>.<resourceVersion>`. Undefined for ids of another
 * form.
 */
export function versionOf(id: string): { uid: string; resourceVersion: string } | undefined {
  const dot = id.lastIndexOf(".");
  return dot < 0 ? undefined : { uid: id.slice(0, dot), resourceVersion: id.slice(dot + 1) };
}
