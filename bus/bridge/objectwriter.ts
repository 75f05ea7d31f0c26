/**
 * Stores the objects of one kind on the bus, at one address at a time. Each publish is a compare-and-set on the subject's last
 * message. A version that is not newer than the one on the bus is dropped.
 */
import type { StoredMsg } from "@nats-io/jetstream";
import type { CloudEvent } from "cloudevents";
import { markCorrection } from "../events/attributes.ts";
import { type EventMessage, toMessage } from "../events/binding.ts";
import {
  type Change,
  changeEvent,
  isDeletion,
  partialEvents,
  publishable,
  versionOf,
} from "../events/kubernetes.ts";
import type { Kind } from "../kube/kind.ts";
import type { Stored } from "../kube/object.ts";
import type { Bus } from "../nats/connect.ts";
import { isWrongSequence } from "../nats/wrongsequence.ts";
import { type PublishObserver, publishUntilAnswered, untilAnswered } from "../queue/publish.ts";
import { objectSubject, parseKeyText, streams } from "../subjects.ts";
import { tombstoneTtl } from "../topology/streams.ts";
import { publishSpan } from "../tracing/messages.ts";
import { spanned } from "../tracing/spans.ts";
import { gathering } from "../values/eventloop.ts";
import { headIn, holds, isNewChange, knownFrom, lastState, unversioned } from "./known.ts";
import type { Address, Known, Ledger } from "./ledger.ts";

/** Options of an {@link ObjectWriter}. */
export interface ObjectWriterOptions {
  readonly bus: Bus;
  readonly cluster: string;
  readonly kind: Kind;
  /** Annotations to publish for kinds of which only the metadata is published. Default: none. */
  readonly annotations?: ReadonlySet<string> | undefined;
  /** Publish only a part of each object, its metadata. */
  readonly inPart?: boolean;
  /** Objects on the bus may have a former published form: the first list compares them and publishes the differences. */
  readonly renew?: boolean;
  readonly signal: AbortSignal;
  /**
   * Throws when this bridge may have lost the kind without noticing, after a pause. Compare-and-set keeps old state from
   * replacing newer, but the address of an object that moved away may be empty by now.
   */
  readonly assertHeld?: () => void;
  readonly onPublished: (change: Change) => void;
  /** An object does not fit into a message, so a partial event is published. */
  readonly onOversized?: (object: { subject: string; bytes: number; limit: number }) => void;
  readonly observe?: PublishObserver;
}

/** Options of {@link ObjectWriter.store}. */
export interface StoreOptions {
  /** Default: the version of the object. */
  readonly resourceVersion?: string;
  /** The object is not complete. */
  readonly partial?: boolean;
}

/** Room for a message's headers, in bytes. They hold the object's names a few times. */
const headerBytes = 4096;
const sizeOf = ({ data }: EventMessage): number => Buffer.byteLength(data) + headerBytes;

/** Kinds of Kubernetes itself, whose groups have no dot, only change with the API server. Metadata has the same fields in all kinds. */
const mayGainFields = ({ group, publish }: Kind): boolean => group.includes(".") && publish === "object";

/**
 * Shared by all writers, because they share the connection. A change of an object that has a controller waits up to these milliseconds
 * for others: most are the echoes of a reconcile.
 */
const gathered = gathering(10, 64);

/** Stores the objects of one kind, and records in the ledger what the bus has. */
export class ObjectWriter {
  readonly #options: ObjectWriterOptions;
  readonly #ledger: Ledger;
  #renewing: boolean;
  #sequence: number;
  /** Objects on the bus after this sequence may lack fields. */
  #trusted = Number.POSITIVE_INFINITY;

  /** The ledger is up to date with the bus; `sequence` is that of the kind's last message. */
  constructor(options: ObjectWriterOptions, ledger: Ledger, sequence: number) {
    this.#options = options;
    this.#ledger = ledger;
    this.#renewing = options.renew ?? false;
    this.#sequence = sequence;
  }

  /** Sequence of the kind's last message on the bus, as far as this writer knows. */
  get sequence(): number {
    return this.#sequence;
  }

  /** All objects on the bus have the current published form. */
  endRenewal(): void {
    this.#renewing = false;
  }

  /** Up to this sequence, objects on the bus have all their fields. */
  get trusted(): number {
    return this.#trusted;
  }

  /** Objects on the bus after this sequence may lack fields, until {@link trust}. */
  doubt(sequence: number): void {
    if (mayGainFields(this.#options.kind)) this.#trusted = Math.min(this.#trusted, sequence);
  }

  /** All objects on the bus have all their fields. */
  trust(): void {
    this.#trusted = Number.POSITIVE_INFINITY;
  }

  /** Whether the bus may have an older version than this one, or this version with other content. */
  mayDiffer(before: Known | undefined, resourceVersion: string, change: Change): boolean {
    if (before === undefined || isNewChange(before, resourceVersion, change)) return true;
    if (before.deleted || before.resourceVersion !== resourceVersion) return false;
    return this.#renewing || this.#isDoubtful(before);
  }

  #isDoubtful({ deleted, sequence }: Known): boolean {
    return !deleted && sequence > this.#trusted;
  }

  /** Stores a change at one address. Drops what is not newer. `object` must be {@link publishable}. */
  async store(address: Address, change: Change, object: Stored, options: StoreOptions = {}): Promise<void> {
    const { inPart = false } = this.#options;
    const { resourceVersion = object.metadata.resourceVersion, partial = inPart } = options;
    const { kind } = this.#options;
    const span = publishSpan(kind, change, parseKeyText(address.key), resourceVersion);
    const { traceparent } = span;
    const whole = changeEvent(kind, change, object, { resourceVersion, traceparent, partial });
    const event = (inPart && partialEvents(whole, object)[0]) || whole;
    await spanned(span, async () => {
      const outcome = await this.#compareAndSet(address, event, change);
      span.set(() => ({ "denrei.outcome": outcome }));
    });
  }

  /** Stores a deletion at one address, with the last known state, which only the bus has. */
  async storeDeletion(address: Address, resourceVersion: string): Promise<void> {
    const { kind, annotations } = this.#options;
    const last = await this.#lastOn(this.#subjectOf(address));
    if (last === null) return;
    const partial = headIn(last.header)?.partial ?? false;
    const state = publishable(kind, lastState(kind, address, last), annotations);
    await this.store(address, "deleted", state, { resourceVersion, partial });
  }

  async #compareAndSet(
    address: Address,
    event: CloudEvent<Stored>,
    change: Change,
  ): Promise<"published" | "known"> {
    const { resourceVersion } = versionOf(event.id) ?? unversioned;
    const subject = this.#subjectOf(address);
    const message = this.#fitting(subject, event);
    // The changes of one chunk of the watch share a socket write.
    const later = address.owner === "" ? gathered.urgent() : gathered.patient();
    if (later !== undefined) await later;
    for (;;) {
      const before = this.#ledger.get(address);
      if (!this.mayDiffer(before, resourceVersion, change)) return "known";
      const isRepeated = before !== undefined && !isNewChange(before, resourceVersion, change);
      if (isRepeated && holds(await this.#lastOn(subject), before, message)) return "known";
      // A reconcile that read a doubtful version may have written this one. A deletion has no fields to correct.
      const isCorrected =
        change !== "deleted" && before !== undefined && (isRepeated || this.#isDoubtful(before));
      if (isCorrected) markCorrection(message.headers);
      this.#options.assertHeld?.();
      try {
        const sequence = await this.#publish(subject, message, change, before?.sequence ?? 0);
        this.#ledger.set(address, { resourceVersion, deleted: change === "deleted", sequence });
        this.#sequence = Math.max(this.#sequence, sequence);
        this.#options.onPublished(change);
        return "published";
      } catch (error) {
        if (!isWrongSequence(error)) throw error;
        // Another bridge published, a tombstone expired, or the answer to our own publish was lost.
        const found = await this.#lastOn(subject);
        if (found) this.#ledger.set(address, knownFrom(headIn(found.header), found.seq));
        else this.#ledger.forget(address);
      }
    }
  }

  /** Publishes if the subject's last message still has this sequence. Not async, to save a promise per change. */
  #publish(
    subject: string,
    message: EventMessage,
    change: Change,
    lastSubjectSequence: number,
  ): Promise<number> {
    const { bus, signal, observe } = this.#options;
    return publishUntilAnswered(bus, subject, message.data, {
      headers: message.headers,
      lastSubjectSequence,
      ...(change === "deleted" && { ttl: tombstoneTtl }),
      signal,
      observe,
    });
  }

  #subjectOf({ key, owner }: Address): string {
    const { cluster, kind } = this.#options;
    return objectSubject(cluster, { group: kind.group, kind: kind.kind, ...parseKeyText(key), owner });
  }

  /** Reads from the stream's leader, because a replica may lag. Retries while the bus is unavailable. */
  #lastOn(subject: string): Promise<StoredMsg | null> {
    const { bus, signal } = this.#options;
    return untilAnswered(
      () => bus.jsm.streams.getMessage(streams.objects, { last_by_subj: subject }),
      signal,
    );
  }

  /** Builds the message of an event: a partial one where the whole object does not fit. */
  #fitting(subject: string, event: CloudEvent<Stored>): EventMessage {
    const { bus, onOversized } = this.#options;
    const whole = toMessage(event);
    const bytes = sizeOf(whole);
    const limit = bus.nc.info?.max_payload ?? Number.POSITIVE_INFINITY;
    if (bytes <= limit || event.data === undefined) return whole;
    // Functions need only the identity of a deleted object.
    if (!isDeletion(event.type)) onOversized?.({ subject, bytes, limit });
    const parts = partialEvents(event, event.data).map(toMessage);
    return parts.find((part) => sizeOf(part) <= limit) ?? parts.at(-1) ?? whole;
  }
}
