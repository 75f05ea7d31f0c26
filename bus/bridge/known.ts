/** What the stream of objects has already, as a bridge has to know it: places and versions, not bodies. */
import type { StoredMsg } from "@nats-io/jetstream";
import type { MsgHdrs } from "@nats-io/transport-node";
import { isSameJson } from "../canonicaljson.ts";
import type { Bus } from "../connect.ts";
import type { EventMessage } from "../events/binding.ts";
import {
  addressIn,
  type ChangeHead,
  changedObject,
  changeHead,
  MalformedEventError,
} from "../events/received.ts";
import { apiVersionOf, type Kind } from "../kube/kind.ts";
import type { Stored } from "../kube/object.ts";
import { readStored } from "../readstored.ts";
import { keyText, kindSubjects, parseKeyText, streams } from "../subjects.ts";
import type { Known, Place } from "./ledger.ts";

/** What carries no version is older than everything. */
export const unversioned = { resourceVersion: "0" };

/** What the headers of a message say; undefined where no bridge has written them. */
export function headIn(headers: MsgHdrs | undefined): ChangeHead | undefined {
  try {
    return changeHead(headers);
  } catch {
    return undefined;
  }
}

export const knownFrom = (head: ChangeHead | undefined, sequence: number): Known => ({
  resourceVersion: (head ?? unversioned).resourceVersion,
  deleted: head?.deleted ?? false,
  sequence,
});

/** The place that a subject names, if an object can be there. */
export function placeIn(subject: string): Place | undefined {
  try {
    const { owner, ...named } = addressIn(subject);
    return { key: keyText(named), owner };
  } catch {
    return undefined;
  }
}

/** The last known state in a message; of one that can not be read no more is known than its place. */
export function lastState(kind: Kind, place: Place, message: Pick<StoredMsg, "string">): Stored {
  try {
    return changedObject(message.string());
  } catch (error) {
    if (!(error instanceof MalformedEventError)) throw error;
    const { namespace, name } = parseKeyText(place.key);
    const metadata = { name, ...(namespace !== "" && { namespace }), uid: "", resourceVersion: "0" };
    return { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, spec: undefined };
  }
}

/** Whether a message is the one that is known, with the same object as another. */
export function holds(
  message: Pick<StoredMsg, "seq" | "string"> | null,
  { sequence }: Known,
  { data }: EventMessage,
): boolean {
  if (message?.seq !== sequence) return false;
  try {
    return isSameJson(JSON.parse(message.string()), JSON.parse(data));
  } catch {
    return false;
  }
}

/** Which part of the stream. */
export interface KnownOptions {
  readonly bus: Pick<Bus, "nc" | "inbox" | "jsm">;
  readonly cluster: string;
  readonly kind: Kind;
  readonly namespace?: string | undefined;
  readonly signal: AbortSignal;
}

/** Headers only: of a hundred thousand objects the bridge needs the versions, not the bodies. */
export const readKnown = (
  { bus, cluster, kind, namespace, signal }: KnownOptions,
  each: (subject: string, headers: MsgHdrs | undefined, sequence: number) => void,
): Promise<void> =>
  readStored(
    bus,
    { stream: streams.objects, filter: kindSubjects(cluster, kind, namespace), headersOnly: true, signal },
    ({ subject, headers, sequence }) => each(subject, headers, sequence),
  );
