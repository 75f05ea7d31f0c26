/**
 * Runs the publishes of one kind: concurrently, but those of one object in order. Moves the position past the changes of the
 * watch that are on the bus.
 */
import { compareVersions } from "../kube/object.ts";

/** Options of a {@link PublishPipeline}. */
export interface PipelineOptions {
  /** A change of the watch is processed. Milliseconds since it was read. */
  readonly onSettled?: (millis: number) => void;
  /** A publish failed for good. This publisher publishes no more; a new one resumes at its position. */
  readonly onFailed?: (error: unknown) => void;
}

/** A change of the watch. The position stays before it until it is done. */
interface WatchedChange {
  readonly resourceVersion: string;
  /** By `performance.now()`. */
  readonly since: number;
  done: boolean;
}

/** Maximum number of concurrent publishes: enough to hide the round trips, few enough to notice the bus's backpressure. */
const maxConcurrent = 128;

/** The publishes of one kind, and the position that they have reached. */
export class PublishPipeline {
  readonly #options: PipelineOptions;
  /** The last publish of each object that has one in flight. */
  readonly #last = new Map<string, Promise<void>>();
  /** Changes that the position has not passed, in the order of the watch. */
  readonly #changes: WatchedChange[] = [];
  #position: string | undefined;
  #running = 0;
  #failure: unknown;
  /** Resolves when a publish ends, for callers that wait for room. */
  #room: PromiseWithResolvers<void> | undefined;

  /** Starts at a position: everything up to this resourceVersion is on the bus. */
  constructor(options: PipelineOptions, position: string | undefined) {
    this.#options = options;
    this.#position = position;
  }

  /** Everything up to this resourceVersion is on the bus; undefined before the first one. */
  get position(): string | undefined {
    return this.#position;
  }

  /** When the oldest unpublished change of the watch was read, by `performance.now()`. */
  get waitingSince(): number | undefined {
    return this.#changes[0]?.since;
  }

  /**
   * Runs a publish after the earlier ones of its object. Resolves when there is room for the next one. The position stays
   * before `watchVersion`, the version of a change of the watch, until the publish is done.
   */
  async run(key: string, publish: () => Promise<void>, watchVersion?: string): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const change = watchVersion === undefined ? undefined : this.#enter(watchVersion, false);
    this.#running++;
    const ended = (this.#last.get(key) ?? Promise.resolve()).then(publish).then(
      () => this.#succeed(change),
      (error: unknown) => this.#fail(error),
    );
    this.#last.set(key, ended);
    void ended.then(() => this.#leave(key, ended));
    while (this.#running >= maxConcurrent && this.#failure === undefined) {
      this.#room ??= Promise.withResolvers();
      await this.#room.promise;
    }
  }

  /** Resolves when everything published so far is on the bus. Rejects if a publish failed. */
  async settled(): Promise<void> {
    while (this.#last.size > 0 && this.#failure === undefined) await Promise.all(this.#last.values());
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Moves the position without a publish, once the changes before are on the bus. */
  advance(resourceVersion: string): void {
    if (this.#changes.length === 0) this.#position = newer(this.#position, resourceVersion);
    else this.#enter(resourceVersion, true);
  }

  /** Forgets the position. The next change or {@link advance} sets it, whatever its version. */
  forgetPosition(): void {
    this.#position = undefined;
  }

  #enter(resourceVersion: string, done: boolean): WatchedChange {
    const change = { resourceVersion, since: performance.now(), done };
    this.#changes.push(change);
    return change;
  }

  #succeed(change: WatchedChange | undefined): void {
    if (change) {
      change.done = true;
      this.#options.onSettled?.(performance.now() - change.since);
    }
    while (this.#changes[0]?.done)
      this.#position = newer(this.#position, this.#changes.shift()?.resourceVersion);
  }

  #fail(error: unknown): void {
    if (this.#failure === undefined) this.#options.onFailed?.(error);
    this.#failure ??= error;
  }

  #leave(key: string, ended: Promise<void>): void {
    this.#running--;
    if (this.#last.get(key) === ended) this.#last.delete(key);
    this.#room?.resolve();
    this.#room = undefined;
  }
}

/** The later of two positions. */
const newer = (a: string | undefined, b: string | undefined): string | undefined =>
  a === undefined || (b !== undefined && compareVersions(b, a) > 0) ? b : a;
