/**
 * Publishes the changes of one kind. An older version never replaces a newer one ({@link ObjectWriter}), and changes of one
 * object keep their order ({@link PublishPipeline}). Two concurrent bridges do no harm.
 */
import { addressOf, type Change, publishable } from "../events/kubernetes.ts";
import type { Stored } from "../kube/object.ts";
import { keyText } from "../subjects.ts";
import { fillLedger, isNewer } from "./known.ts";
import { type Address, type Ledger, openLedger } from "./ledger.ts";
import { ObjectWriter, type ObjectWriterOptions } from "./objectwriter.ts";
import { type PipelineOptions, PublishPipeline } from "./pipeline.ts";
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
  /**
   * What was published after this sequence may lack fields of a CRD that has changed. Until {@link Publisher.trust}, publishing a
   * version again compares its content with the bus.
   */
  doubt(sequence: number): void;
  /** The objects that may lack fields, as `namespace/name`. */
  doubtful(): string[];
  /** All doubtful objects were published again. */
  trust(): void;
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
export interface PublisherOptions extends ObjectWriterOptions, PipelineOptions {
  readonly namespace?: string | undefined;
  /** Everything up to this resourceVersion is on the bus already. */
  readonly position?: string | undefined;
  /** What the bus had at that position. If it has less now, it lost something, and everything is listed again. */
  readonly extent?: SavedExtent;
  /** Found a message that no bridge wrote. A list corrects it. */
  readonly onUnreadable?: (subject: string) => void;
}

/** Number of deletions to remember. Recreated objects mostly return soon, and then need no read from the bus. */
const rememberedTombstones = 10_000;

/** Opens a publisher. Reads from the bus what it already has. */
export async function openPublisher(options: PublisherOptions): Promise<Publisher> {
  const ledger = openLedger({ tombstones: rememberedTombstones });
  const { formerAddresses, damaged, lost, last, settled } = await fillLedger(options, ledger);
  const writer = new ObjectWriter(options, ledger, last);
  writer.doubt(settled);
  // A watch reports only later changes, so a list has to find what is wrong now.
  const mustList = damaged || options.renew || lost;
  const pipeline = new PublishPipeline(options, mustList ? undefined : options.position);
  // A former bridge stopped between the two publishes of a move.
  for (const { address, resourceVersion } of formerAddresses)
    await pipeline.run(address.key, () => writer.storeDeletion(address, resourceVersion));
  return new BusPublisher(options, ledger, writer, pipeline);
}

class BusPublisher implements Publisher {
  readonly #options: Pick<PublisherOptions, "kind" | "annotations">;
  readonly #ledger: Ledger;
  readonly #writer: ObjectWriter;
  readonly #pipeline: PublishPipeline;

  constructor(
    options: Pick<PublisherOptions, "kind" | "annotations">,
    ledger: Ledger,
    writer: ObjectWriter,
    pipeline: PublishPipeline,
  ) {
    this.#options = options;
    this.#ledger = ledger;
    this.#writer = writer;
    this.#pipeline = pipeline;
  }

  publish(change: Change, object: Stored, source: "list" | "watch"): Promise<void> {
    const { kind, annotations } = this.#options;
    const clean = publishable(kind, object, annotations);
    const { namespace = "", name, resourceVersion } = clean.metadata;
    return this.#pipeline.run(
      keyText({ namespace, name }),
      () => this.#store(change, clean),
      source === "watch" ? resourceVersion : undefined,
    );
  }

  settled(): Promise<void> {
    return this.#pipeline.settled();
  }

  get position(): string | undefined {
    return this.#pipeline.position;
  }

  advance(resourceVersion: string): void {
    this.#writer.endRenewal();
    this.#pipeline.advance(resourceVersion);
  }

  forgetVersions(): void {
    this.#pipeline.forgetPosition();
    this.#ledger.forgetVersions();
  }

  doubt(sequence: number): void {
    this.#writer.doubt(sequence);
  }

  doubtful(): string[] {
    const { trusted, sequence } = this.#writer;
    return trusted >= sequence ? [] : this.#ledger.keysAfter(trusted);
  }

  trust(): void {
    this.#writer.trust();
  }

  names(): string[] {
    return this.#ledger.keys();
  }

  has(name: string): boolean {
    return this.#ledger.ownerOf(name) !== undefined;
  }

  get count(): number {
    return this.#ledger.count;
  }

  get sequence(): number {
    return this.#writer.sequence;
  }

  get waitingSince(): number | undefined {
    return this.#pipeline.waitingSince;
  }

  vanished(name: string, resourceVersion: string): Promise<void> {
    return this.#pipeline.run(name, () => this.#storeVanished(name, resourceVersion));
  }

  /** Stores a change at the object's address. An object with another controller than before moves to another address. */
  async #store(change: Change, object: Stored): Promise<void> {
    const { resourceVersion } = object.metadata;
    const { owner, ...named } = addressOf(this.#options.kind, object);
    const address: Address = { key: keyText(named), owner };
    const before = this.#ledger.ownerOf(address.key);
    const former = before === undefined || before === owner ? undefined : { ...address, owner: before };
    // Outdated: the bus has a newer version at another address.
    if (former && !isNewer(this.#ledger.get(former), object)) return;
    // Most objects of a list are already known.
    if (this.#writer.mayDiffer(this.#ledger.get(address), resourceVersion, change))
      await this.#writer.store(address, change, object);
    this.#ledger.assign(address);
    // The object has another controller now, or was recreated under one. Publishing in this order never shows it as
    // deleted, and its former controller is notified, because the last state there names it.
    if (former) await this.#writer.storeDeletion(former, resourceVersion);
  }

  async #storeVanished(name: string, resourceVersion: string): Promise<void> {
    const owner = this.#ledger.ownerOf(name);
    if (owner === undefined) return;
    const address: Address = { key: name, owner };
    await this.#writer.storeDeletion(address, resourceVersion);
    this.#ledger.assign(address);
  }
}
