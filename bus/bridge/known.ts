/** Reads from the objects stream what the bridge has to know: addresses and versions, not bodies. */
import type { StoredMsg } from "@nats-io/jetstream";
import type { MsgHdrs } from "@nats-io/transport-node";
import type { EventMessage } from "../events/binding.ts";
import type { Change } from "../events/kubernetes.ts";
import {
  addressIn,
  type ChangeHead,
  changedObject,
  changeHead,
  MalformedEventError,
} from "../events/received.ts";
import { apiVersionOf, type Kind } from "../kube/kind.ts";
import { compareVersions, type Stored } from "../kube/object.ts";
import type { Bus } from "../nats/connect.ts";
import { readStored } from "../nats/storedmessages.ts";
import { keyText, kindSubjects, parseKeyText, streams } from "../subjects.ts";
import { isSameJson } from "../values/canonicaljson.ts";
import type { Address, Known, Ledger } from "./ledger.ts";
import type { SavedExtent } from "./position.ts";

/** A message without a version is older than every other. */
export const unversioned = { resourceVersion: "0" };

/** The headers of a message; undefined if no bridge wrote them. */
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

/** The address that a subject names, if it can hold an object. */
function addressFrom(subject: string): Address | undefined {
  try {
    const { owner, ...named } = addressIn(subject);
    return { key: keyText(named), owner };
  } catch {
    return undefined;
  }
}

/** The last known state in a message. An unreadable message yields only the object's identity. */
export function lastState(kind: Kind, address: Address, message: Pick<StoredMsg, "string">): Stored {
  try {
    return changedObject(message.string());
  } catch (error) {
    if (!(error instanceof MalformedEventError)) throw error;
    const { namespace, name } = parseKeyText(address.key);
    const metadata = { name, ...(namespace !== "" && { namespace }), uid: "", resourceVersion: "0" };
    return { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, spec: undefined };
  }
}

/** Whether the message is the known one and holds the same object as another event. */
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

/** A deletion is new even at a version that the bus already has: lists report deletions at their own version. */
export function isNewChange(before: Known, resourceVersion: string, change: Change): boolean {
  const order = compareVersions(resourceVersion, before.resourceVersion);
  return order > 0 || (order === 0 && change === "deleted" && !before.deleted);
}

/** Whether an object is newer than what is known. */
export const isNewer = (before: Known | undefined, object: Stored): boolean =>
  before === undefined || compareVersions(object.metadata.resourceVersion, before.resourceVersion) > 0;

/** Selects a part of the stream. */
export interface KnownOptions {
  readonly bus: Pick<Bus, "nc" | "inbox" | "jsm">;
  readonly cluster: string;
  readonly kind: Kind;
  readonly namespace?: string | undefined;
  readonly signal: AbortSignal;
}

/** Reads headers only: for a hundred thousand objects the bridge needs the versions, not the bodies. */
const readKnown = (
  { bus, cluster, kind, namespace, signal }: KnownOptions,
  each: (subject: string, headers: MsgHdrs | undefined, sequence: number, ageMillis: number) => void,
): Promise<void> =>
  readStored(
    bus,
    { stream: streams.objects, filter: kindSubjects(cluster, kind, namespace), headersOnly: true, signal },
    ({ subject, headers, sequence }, ageMillis) => each(subject, headers, sequence, ageMillis),
  );

/** What a bridge learned from the stream at its start. */
export interface Learned {
  /** Former addresses of moved objects: a bridge stopped before it could publish their deletion. */
  readonly formerAddresses: readonly { readonly address: Address; readonly resourceVersion: string }[];
  /** The stream has a message that no bridge wrote. */
  readonly damaged: boolean;
  /** The bus has less than it had at the saved position. */
  readonly lost: boolean;
  /** Sequence of the last message of the kind, or 0. */
  readonly last: number;
  /** Sequence of the last message that is older than {@link settledMillis}, or 0. */
  readonly settled: number;
}

/**
 * A bridge that stopped may have published an object without its new fields shortly before. The next one takes over in less time
 * than this. Milliseconds.
 */
const settledMillis = 60_000;

/** Fills a ledger from the bus, and reports what is wrong with the stream. */
export async function fillLedger(
  options: KnownOptions & {
    readonly extent?: SavedExtent;
    readonly onUnreadable?: (subject: string) => void;
  },
  ledger: Ledger,
): Promise<Learned> {
  const { extent = { sequence: 0, objects: 0 }, onUnreadable } = options;
  const atTwoAddresses = new Set<string>();
  let damaged = false;
  let last = 0;
  let settled = 0;
  let deletedSince = 0;
  await readKnown(options, (subject, headers, sequence, ageMillis) => {
    last = Math.max(last, sequence);
    if (ageMillis > settledMillis) settled = Math.max(settled, sequence);
    const head = headIn(headers);
    const address = addressFrom(subject);
    if (head === undefined || address === undefined) onUnreadable?.(subject);
    // Not an object's subject: nothing to correct.
    if (address === undefined) return;
    damaged ||= head === undefined;
    const entry = knownFrom(head, sequence);
    ledger.set(address, entry);
    if (entry.deleted && sequence > extent.sequence) deletedSince++;
    if (entry.deleted) return;
    if (ledger.ownerOf(address.key) === undefined) ledger.assign(address);
    else if (ledger.ownerOf(address.key) !== address.owner) atTwoAddresses.add(address.key);
  });
  const formerAddresses = [...atTwoAddresses].flatMap((key) => assignNewest(ledger, key));
  return {
    formerAddresses,
    damaged,
    lost: last < extent.sequence || ledger.count + deletedSince < extent.objects,
    last,
    settled,
  };
}

/** Makes the newest version the object's current one. Returns its other addresses, each with the version that replaced it. */
function assignNewest(ledger: Ledger, key: string): Learned["formerAddresses"] {
  const alive = ledger.all(key).filter(({ deleted }) => !deleted);
  alive.sort((a, b) => compareVersions(a.resourceVersion, b.resourceVersion) || a.sequence - b.sequence);
  const newest = alive.pop();
  if (newest === undefined) return [];
  ledger.assign(newest);
  return alive.map((address, at) => ({
    address,
    resourceVersion: (alive[at + 1] ?? newest).resourceVersion,
  }));
}
