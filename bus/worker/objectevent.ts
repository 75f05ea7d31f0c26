/** Events of OBJECTS, as a router reads them. */
import { attribute } from "../events/attributes.ts";
import { addressIn, changedObject, changeHead } from "../events/received.ts";
import type { Stored } from "../kube/object.ts";
import type { Delivery } from "../nats/delivery.ts";
import type { ObjectAddress } from "../subjects.ts";

/** The parts of an OBJECTS event that routing needs. */
export interface ObjectEvent {
  readonly at: ObjectAddress;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly deleted: boolean;
  readonly traceparent: string | undefined;
  /** Whether the event has only a part of the object. */
  readonly partial: boolean;
  /** The event corrects the one before, which lacked fields of the object. */
  readonly correction: boolean;
  /** Position in OBJECTS. */
  readonly sequence: number;
  /** Position of the message that this one replaced; 0 for none, undefined if unknown. */
  readonly previous: number | undefined;
  /** Parses the object. Throws {@link MalformedEventError} if the event contains none. */
  readonly object: () => Stored;
}

/** Parses a delivery from OBJECTS. Throws {@link MalformedEventError} if it is not an event of the bridge. */
export function objectEventOf(delivery: Delivery): ObjectEvent {
  return {
    ...changeHead(delivery.headers),
    at: addressIn(delivery.subject),
    sequence: delivery.sequence,
    previous: replacedBy(delivery),
    traceparent: attribute(delivery.headers, "traceparent") || undefined,
    object: () => changedObject(delivery.string()),
  };
}

/** The bridge publishes with compare-and-set, so the header has the position of the message before. */
function replacedBy({ headers }: Delivery): number | undefined {
  const text = headers?.get("Nats-Expected-Last-Subject-Sequence") ?? "";
  return text === "" ? undefined : Number(text);
}
