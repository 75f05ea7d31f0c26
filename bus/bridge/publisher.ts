/**
 * Publishes the changes of one kind. An older version never replaces a newer one: each publish is a compare-and-set on
 * the subject's last message, and a version that is not newer than the one on the bus is dropped. Two concurrent
 * bridges do no harm.
 */

import type { StoredMsg } from "@nats-io/jetstream";
import type { CloudEvent } from "cloudevents";
import { type EventMessage, toMessage } from "../events/binding.ts";
import {
  addressOf,
  type Change,
  changeEvent,
  isDeletion,
  partialEvents,
  publishable,
  versionOf,
} from "../events/kubernetes.ts";
import type { Kind } from "../kube/kind.ts";
import { compareVersions, type Stored } from "../kube/object.ts";
import type { Bus } from "../nats/connect.ts";
import { isWrongSequence } from "../nats/wrongsequence.ts";
import { type PublishObserver, publishUntilAnswered, untilAnswered } from "../queue/publish.ts";
import { keyText, objectSubject, parseKeyText, streams } from "../subjects.ts";
import { tombstoneTtl } from "../topology/streams.ts";
import { publishSpan } from "../tracing/messages.ts";
import { spanned } from "../tracing/spans.ts";
import { turnEndAfterFirst } from "../values/eventloop.ts";
import { headIn, holds, isNewer, isNews, knownFrom, lastState, learn, unversioned } from "./known.ts";
import { type Address, type Known, openLedger } from "./ledger.ts";
import type { SavedExtent } from "./position.ts";

/** The changes of one kind (in one namespace, if given). */
export interface Publisher {
  /**
   * Publishes a change if it is new. Resolves when the next one may follow; {@link Publisher.settled} waits until it is
   * on the bus. Changes of one object keep their order. Events of a watch move the position; a list has no order, so
   * the caller moves it at the end of the list ({@link Publisher.advance}).
   */
  publish(change: Change, object: Stored, source: "list" | "watch"): Promise<void>;
  /** Resolves when everything published so far is on the bus. Rejects if a publish failed. */
  settled(): Promise<void>;
  /** Everything up to this resourceVersion is on the bus; undefined before the first one. */
  readonly position: string | undefined;
  /** Moves the position without publishing: at a bookmark, or at the end of a list. */
  advance(resourceVersion: string): void;
  /** The API server has gone back in time: everything it reports next is new, whatever its version. */
  forgetVersions(): void;
  /** Objects that the bus shows as existing, as `namespace/name`. */
  names(): string[];
  /** Whether the object exists on the bus. */
  has(name: string): boolean;
  /** Number of existing objects. */
  readonly count: number;
  /** Sequence of the kind's last message on the bus, as far as this publisher knows. */
  readonly sequence: number;
  /** When the oldest unpublished change of the watch was read, by `performance.now()`. */
  readonly waitingSince: number | undefined;
  /** The object vanished while the kind was not watched: publishes its deletion at this version, with its last known state. */
  vanished(name: string, resourceVersion: string): Promise<void>;
}

/** Options of {@link openPublisher}. */
export interface PublisherOptions {
  readonly bus: Bus;
  readonly cluster: string;
  readonly kind: Kind;
  readonly namespace?: string | undefined;
  /** Annotations to publish for kinds of which only the metadata is published. Default: none. */
  readonly annotations?: ReadonlySet<string> | undefined;
  /** Everything up to this resourceVersion is on the bus already. */
  readonly position?: string | undefined;
  /** What the bus had at that position. If it has less now, it lost something, and everything is listed again. */
  readonly extent?: SavedExtent;
  /** Objects on the bus may have a former published form: the first list compares them and publishes the differences. */
  readonly renew?: boolean;
  readonly signal: AbortSignal;
  /**
   * Throws when this bridge may have lost the kind without noticing, after a pause. Compare-and-set keeps old state from
   * replacing newer, but the address of an object that moved away may be empty by now.
   */
  readonly assertHeld?: () => void;
  readonly onPublished: (change: Change) => void;
  /** A change of the watch is processed. Milliseconds since it was read. */
  readonly onSettled?: (millis: number) => void;
  /** A publish failed for good. This publisher publishes no more; a new one resumes at its position. */
  readonly onFailed?: (error: unknown) => void;
  /** Found a message that no bridge wrote. A list corrects it. */
  readonly onUnreadable?: (subject: string) => void;
  /** An object does not fit into a message, so a partial event is published. */
  readonly onOversized?: (object: { subject: string; bytes: number; limit: number }) => void;
  readonly observe?: PublishObserver;
}

/** A change of the watch. The position stays before it until it is done. */
interface Entry {
  readonly resourceVersion: string;
  /** By `performance.now()`. */
  readonly since: number;
  done: boolean;
}

/** Room for a message's headers, in bytes. They hold the object's names a few times. */
const headerBytes = 4096;
const sizeOf = ({ data }: EventMessage): number => Buffer.byteLength(data) + headerBytes;
/** Maximum number of concurrent publishes: enough to hide the round trips, few enough to notice the bus's backpressure. */
const maxUnderWay = 128;
/** Number of deletions to remember. Recreated objects mostly return soon, and then need no read from the bus. */
const rememberedTombstones = 10_000;

/** Shared by all publishers, because they share the connection. */
const endOfTurn = turnEndAfterFirst();

/** Opens a publisher. Reads from the bus what it already has. */
export async function openPublisher(options: PublisherOptions): Promise<Publisher> {
  const { bus, cluster, kind, signal } = options;
  const ledger = openLedger({ tombstones: rememberedTombstones });
  const { left, damaged, lost, ...learned } = await learn(options, ledger);
  let { last } = learned;
  const chains = new Map<string, Promise<void>>();
  const underWay: Entry[] = [];
  // A watch reports only later changes, so a list has to find what is wrong now.
  let renewing = options.renew ?? false;
  let position = damaged || renewing || lost ? undefined : options.position;
  let tasks = 0;
  let failure: unknown;
  /** Resolves when a publish ends, for callers that wait for room. */
  let room: PromiseWithResolvers<void> | undefined;

  /** Builds the message of an event: a partial one where the whole object does not fit. */
  function fitting(subject: string, event: CloudEvent<Stored>): EventMessage {
    const whole = toMessage(event);
    const bytes = sizeOf(whole);
    const limit = bus.nc.info?.max_payload ?? Number.POSITIVE_INFINITY;
    if (bytes <= limit || event.data === undefined) return whole;
    // Functions need only the identity of a deleted object.
    if (!isDeletion(event.type)) options.onOversized?.({ subject, bytes, limit });
    const parts = partialEvents(event, event.data).map(toMessage);
    return parts.find((part) => sizeOf(part) <= limit) ?? parts.at(-1) ?? whole;
  }

  const subjectOf = ({ key, owner }: Address): string =>
    objectSubject(cluster, { group: kind.group, kind: kind.kind, ...parseKeyText(key), owner });

  /** Reads from the stream's leader, because a replica may lag. Retries while the bus is unavailable. */
  const lastOn = (subject: string): Promise<StoredMsg | null> =>
    untilAnswered(() => bus.jsm.streams.getMessage(streams.objects, { last_by_subj: subject }), signal);

  /** Whether the bus may have an older version, or this version in a former published form. */
  const mayDiffer = (before: Known | undefined, resourceVersion: string, change: Change): boolean =>
    before === undefined ||
    isNews(before, resourceVersion, change) ||
    (renewing && !before.deleted && before.resourceVersion === resourceVersion);

  /** Publishes at one address. Drops what is not newer. */
  async function put(
    address: Address,
    change: Change,
    object: Stored,
    { resourceVersion = object.metadata.resourceVersion, partial = false } = {},
  ): Promise<void> {
    const span = publishSpan(kind, change, parseKeyText(address.key), resourceVersion);
    const { traceparent } = span;
    const event = changeEvent(kind, change, object, { resourceVersion, traceparent, partial });
    await spanned(span, async () => {
      const outcome = await store(address, event, change);
      span.set(() => ({ "denrei.outcome": outcome }));
    });
  }

  async function store(
    address: Address,
    event: CloudEvent<Stored>,
    change: Change,
  ): Promise<"published" | "known"> {
    const { resourceVersion } = versionOf(event.id) ?? unversioned;
    const subject = subjectOf(address);
    const message = fitting(subject, event);
    // The changes of one chunk of the watch share a socket write.
    const later = endOfTurn();
    if (later !== undefined) await later;
    for (;;) {
      const before = ledger.get(address);
      if (!mayDiffer(before, resourceVersion, change)) return "known";
      if (before && !isNews(before, resourceVersion, change) && holds(await lastOn(subject), before, message))
        return "known";
      options.assertHeld?.();
      try {
        const sequence = await publishUntilAnswered(bus, subject, message.data, {
          headers: message.headers,
          lastSubjectSequence: before?.sequence ?? 0,
          ...(change === "deleted" && { ttl: tombstoneTtl }),
          signal,
          observe: options.observe,
        });
        ledger.set(address, { resourceVersion, deleted: change === "deleted", sequence });
        last = Math.max(last, sequence);
        options.onPublished(change);
        return "published";
      } catch (error) {
        if (!isWrongSequence(error)) throw error;
        // Another bridge published, a tombstone expired, or the answer to our own publish was lost.
        const found = await lastOn(subject);
        if (found) ledger.set(address, knownFrom(headIn(found.header), found.seq));
        else ledger.forget(address);
      }
    }
  }

  /** Publishes a deletion with the last known state, which only the bus has. */
  async function bury(address: Address, resourceVersion: string): Promise<void> {
    const last = await lastOn(subjectOf(address));
    if (last === null) return;
    const partial = headIn(last.header)?.partial ?? false;
    const state = publishable(kind, lastState(kind, address, last), options.annotations);
    await put(address, "deleted", state, { resourceVersion, partial });
  }

  async function apply(change: Change, object: Stored): Promise<void> {
    const { resourceVersion } = object.metadata;
    const { owner, ...named } = addressOf(kind, object);
    const address: Address = { key: keyText(named), owner };
    const before = ledger.ownerOf(address.key);
    const former = before === undefined || before === owner ? undefined : { ...address, owner: before };
    // Outdated: the bus has a newer version at another address.
    if (former && !isNewer(ledger.get(former), object)) return;
    // Most objects of a list are already known.
    if (mayDiffer(ledger.get(address), resourceVersion, change)) await put(address, change, object);
    ledger.assign(address);
    // The object has another controller now, or was recreated under one. Publishing in this order never shows it as
    // deleted, and its former controller is notified, because the last state there names it.
    if (former) await bury(former, resourceVersion);
  }

  /** Runs a task after the earlier ones of its object. The position stays before it until it is done. */
  async function enter(name: string, entry: Entry | undefined, task: () => Promise<void>): Promise<void> {
    if (failure !== undefined) throw failure;
    if (entry) underWay.push(entry);
    tasks++;
    const chained = (chains.get(name) ?? Promise.resolve()).then(task).then(
      () => {
        if (entry) {
          entry.done = true;
          options.onSettled?.(performance.now() - entry.since);
        }
        while (underWay[0]?.done) position = newer(position, underWay.shift()?.resourceVersion);
      },
      (error: unknown) => {
        if (failure === undefined) options.onFailed?.(error);
        failure ??= error;
      },
    );
    chains.set(name, chained);
    void chained.then(() => {
      tasks--;
      if (chains.get(name) === chained) chains.delete(name);
      room?.resolve();
      room = undefined;
    });
    while (tasks >= maxUnderWay && failure === undefined) {
      room ??= Promise.withResolvers();
      await room.promise;
    }
  }

  // A former bridge stopped between the two publishes of a move.
  for (const { address, resourceVersion } of left)
    await enter(address.key, undefined, () => bury(address, resourceVersion));

  return {
    get position() {
      return position;
    },
    publish(change, object, source) {
      const clean = publishable(kind, object, options.annotations);
      const { namespace = "", name, resourceVersion } = clean.metadata;
      const entry =
        source === "watch" ? { resourceVersion, since: performance.now(), done: false } : undefined;
      return enter(keyText({ namespace, name }), entry, () => apply(change, clean));
    },
    async settled() {
      while (chains.size > 0 && failure === undefined) await Promise.all(chains.values());
      if (failure !== undefined) throw failure;
    },
    advance(resourceVersion) {
      renewing = false;
      if (underWay.length === 0) position = newer(position, resourceVersion);
      else underWay.push({ resourceVersion, since: performance.now(), done: true });
    },
    forgetVersions() {
      position = undefined;
      ledger.forgetVersions();
    },
    names: () => ledger.keys(),
    has: (name) => ledger.ownerOf(name) !== undefined,
    get count() {
      return ledger.count;
    },
    get sequence() {
      return last;
    },
    get waitingSince() {
      return underWay[0]?.since;
    },
    vanished(name, resourceVersion) {
      return enter(name, undefined, async () => {
        const owner = ledger.ownerOf(name);
        if (owner === undefined) return;
        const address: Address = { key: name, owner };
        await bury(address, resourceVersion);
        ledger.assign(address);
      });
    },
  };
}

/** The later of two positions. */
const newer = (a: string | undefined, b: string | undefined): string | undefined =>
  a === undefined || (b !== undefined && compareVersions(b, a) > 0) ? b : a;
