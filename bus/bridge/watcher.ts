/**
 * The watcher of one kind: list, watch, resume. An explicit state machine, after kube-rs's:
 *
 *     resuming ──▶ watching ──(410: the position is too old)──▶ listing ──▶ watching
 *     resuming ──(the position is too new)──▶ listing
 *     listing ──(404: the CRD is not installed)──▶ absent ──▶ listing
 *
 * After a watch, and before one resumes, what may lack fields of a changed CRD is read again ({@link "./reread.ts"}). After an error
 * the watcher waits, and a watch resumes. A list is compared with the bus, so that objects that vanished while the kind was not
 * watched are published as deleted.
 * API concepts: https://kubernetes.io/docs/reference/using-api/api-concepts/
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { type KubeClient, resourcePath } from "../kube/client.ts";
import { ApiError, isGone, isNotFound } from "../kube/errors.ts";
import { apiVersionOf, type Kind } from "../kube/kind.ts";
import { compareVersions, type Stored } from "../kube/object.ts";
import { WatchRefusedError, watchErrorOf } from "./deniedkinds.ts";
import { acceptOf, pagesOf } from "./pages.ts";
import type { Publisher } from "./publisher.ts";
import { nameOf, RecentChanges, rereadObjects, type WatchEnd } from "./reread.ts";

/** State of a watcher. */
export type WatcherState =
  | { readonly name: "listing" }
  | { readonly name: "resuming"; readonly resourceVersion: string }
  | { readonly name: "watching"; readonly resourceVersion: string }
  | { readonly name: "absent" };

/** Options of {@link watchKind}. */
export interface WatcherOptions {
  readonly client: KubeClient;
  readonly kind: Kind;
  readonly namespace?: string | undefined;
  /** For a kind that the installation lists: the command that prints its roles. */
  readonly rightsCommand?: string | undefined;
  /** The watcher resumes at its position. */
  readonly publisher: Publisher;
  /**
   * Duration of one watch request, in seconds. If the server has not ended the watch by then, the connection is dead. A
   * new watch resumes where the old one was, so short durations cost little.
   */
  readonly watchSeconds: number;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly onState: (state: WatcherState) => void;
  /** Called with the error that keeps the kind from being watched, and with undefined when it is listed or watched again. */
  readonly onProblem: (error: Error | undefined) => void;
}

interface Watched extends WatcherOptions {
  readonly recent: RecentChanges;
}

const deadAfterMillis = 5000;
/** Timeout of the first answer, doubled after each failure. */
const answerMillis = 2000;
/** A watch that ends sooner without an event indicates an unhealthy server: back off before asking again. */
const shortMillis = 500;
const backoff = { baseMillis: 100, capMillis: 5000, healthyMillis: 10_000 };
/** Without permission, the watcher waits for a person to grant it. There may be many opted-in namespaces. */
const refusedCapMillis = 30_000;

const changes = { ADDED: "added", MODIFIED: "modified", DELETED: "deleted" } as const;

/** Watches until `signal` aborts or the publisher fails. */
export async function watchKind(options: WatcherOptions): Promise<void> {
  const { publisher, signal, log, onState } = options;
  let state: WatcherState =
    publisher.position === undefined
      ? { name: "listing" }
      : { name: "resuming", resourceVersion: publisher.position };
  const recent = new RecentChanges();
  const watched = { ...options, recent };
  let failures = 0;
  let refused = false;
  while (!signal.aborted) {
    onState(state);
    const started = performance.now();
    try {
      const next = await step(watched, state, failures);
      // After a successful resume, the watch may still fail.
      if (state.name !== "resuming") failures = 0;
      state = next;
      refused = false;
    } catch (error) {
      if (signal.aborted) return;
      // A failed publish must not be skipped: give the lease up and start again.
      await publisher.settled();
      if (state.name === "watching") doubt(watched, "early");
      if (performance.now() - started > backoff.healthyMillis) failures = 0;
      failures++;
      if (isGone(error)) {
        log.info({ reason: (error as ApiError).message }, "position no longer served, listing");
        state = { name: "listing" };
      } else if (isNotFound(error)) {
        options.onProblem(undefined);
        if (state.name !== "absent")
          log.warn("the API server does not know this kind, retrying: is its CRD installed?");
        state = { name: "absent" };
      } else {
        const watchError = watchErrorOf(error as Error, options);
        options.onProblem(watchError);
        const wasRefused = refused;
        refused = watchError instanceof WatchRefusedError;
        log[refused && wasRefused ? "debug" : "warn"](
          { err: watchError, state: state.name, failures },
          "watch failed, retrying",
        );
        const { position } = publisher;
        if (state.name === "watching")
          state = { name: "resuming", resourceVersion: position ?? state.resourceVersion };
      }
      const retryAfter = error instanceof ApiError ? error.retryAfterMillis : undefined;
      const capMillis = refused && options.namespace !== undefined ? refusedCapMillis : backoff.capMillis;
      const pause = retryAfter ?? pauseAfter(failures, capMillis);
      await sleep(pause, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Runs the current state until it ends. Returns the next one. */
function step(options: Watched, state: WatcherState, failures: number): Promise<WatcherState> {
  switch (state.name) {
    case "resuming":
      return resume(options, state.resourceVersion, answerMillis * 2 ** Math.min(failures, 4));
    case "watching":
      return watchAndReread(options, state.resourceVersion);
    default:
      return list(options);
  }
}

const pauseAfter = (failures: number, capMillis: number): number =>
  Math.min(capMillis, backoff.baseMillis * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);

/** List items carry no type of their own, and metadata carries the type of its envelope. */
const typed = (kind: Kind, object: Stored): Stored => ({
  ...object,
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
});

/**
 * Checks that the API server is not behind the position, as after a restore from a backup. Such a server would accept
 * the watch and stay silent until it has caught up.
 */
async function resume(options: Watched, from: string, timeoutMillis: number): Promise<WatcherState> {
  const { client, kind, namespace, publisher, log } = options;
  // If the watch's connection died, idle connections of the pool may be dead, too.
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(timeoutMillis)]);
  const { metadata } = await client.list(kind, namespace, { limit: 1 }, signal, acceptOf(kind, "list"));
  const { resourceVersion } = metadata;
  if (compareVersions(resourceVersion, from) >= 0) {
    await republish(options);
    return { name: "watching", resourceVersion: from };
  }
  log.warn({ position: from, resourceVersion }, "the API server has gone back in time, listing");
  publisher.forgetVersions();
  return { name: "listing" };
}

async function list(options: Watched): Promise<WatcherState> {
  const { kind, publisher, log } = options;
  const listed = new Set<string>();
  let resourceVersion = "";
  for await (const { items, metadata } of pagesOf(options)) {
    resourceVersion = metadata.resourceVersion;
    for (const item of items) {
      const name = nameOf(item);
      listed.add(name);
      await publisher.publish(publisher.has(name) ? "modified" : "added", typed(kind, item), "list");
    }
  }
  const vanished = publisher.names().filter((name) => !listed.has(name));
  for (const name of vanished) await publisher.vanished(name, resourceVersion);
  await trust(options);
  publisher.advance(resourceVersion);
  options.onProblem(undefined);
  log.info({ objects: listed.size, vanished: vanished.length, resourceVersion }, "listed");
  return { name: "watching", resourceVersion };
}

/** Everything that was read again is on the bus. */
async function trust({ publisher, recent }: Watched): Promise<void> {
  await publisher.settled();
  publisher.trust();
  recent.clear();
}

/** What was reported shortly before this end of a watch may lack fields. */
function doubt({ publisher, recent }: Watched, end: WatchEnd): void {
  const sequence = recent.doubtfulAfter(end);
  if (sequence !== undefined) publisher.doubt(sequence);
}

/** Publishes what the bus may have without fields of the current CRD. */
async function republish(options: Watched): Promise<void> {
  const { kind, publisher, log } = options;
  const names = publisher.doubtful();
  if (names.length === 0) return publisher.trust();
  for await (const object of rereadObjects(options, names, publisher.count))
    await publisher.publish("modified", typed(kind, object), "list");
  await trust(options);
  log.debug({ objects: names.length }, "read recent changes again");
}

async function watchAndReread(options: Watched, from: string): Promise<WatcherState> {
  const { resourceVersion, end } = await watch(options, from);
  await options.publisher.settled();
  doubt(options, end);
  await republish(options);
  return { name: "watching", resourceVersion };
}

/** Watches until the server ends the watch. Returns the position that it has reached. */
async function watch(
  options: Watched,
  from: string,
): Promise<{ readonly resourceVersion: string; readonly end: WatchEnd }> {
  const { client, kind, namespace, publisher, recent, signal } = options;
  const seconds = Math.ceil(options.watchSeconds * (0.75 + Math.random() / 4));
  const ending = new AbortController();
  const stop = () => ending.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  const opened = performance.now();
  const dead = setTimeout(
    () => {
      if (namespace !== undefined) client.connection.giveUp("namespaceWatches", opened);
      ending.abort(new Error(`the watch exceeded its timeout of ${seconds} s: the connection is dead`));
    },
    seconds * 1000 + deadAfterMillis,
  );
  let resourceVersion = from;
  try {
    const accept = acceptOf(kind, "watch");
    const events = await client.watch({
      path: resourcePath(kind, namespace),
      oneOfMany: namespace !== undefined,
      ...(accept && { accept }),
      query: { allowWatchBookmarks: true, resourceVersion: from, timeoutSeconds: seconds },
      signal: ending.signal,
    });
    options.onProblem(undefined);
    for await (const event of events) {
      resourceVersion = event.object.metadata.resourceVersion;
      if (event.type === "BOOKMARK") publisher.advance(resourceVersion);
      else {
        recent.note(publisher.sequence);
        await publisher.publish(changes[event.type], typed(kind, event.object), "watch");
      }
    }
    if (ending.signal.aborted) throw ending.signal.reason;
    if (resourceVersion === from && performance.now() - opened < shortMillis)
      throw new Error("the API server ended the watch immediately");
    return { resourceVersion, end: performance.now() - opened < seconds * 1000 ? "early" : "scheduled" };
  } finally {
    clearTimeout(dead);
    signal.removeEventListener("abort", stop);
    ending.abort();
  }
}
