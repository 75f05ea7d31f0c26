/**
 * The watcher of one kind: list, watch, resume. An explicit state machine, after kube-rs's:
 *
 *     resuming ──▶ watching ──(410: the position is too old)──▶ listing ──▶ watching
 *     resuming ──(the position is too new)──▶ listing
 *     listing ──(404: the CRD is not installed)──▶ absent ──▶ listing
 *
 * After an error it waits, and what was watching resumes. A list is compared with what the bus has, so what vanished while nobody watched is
 * published as deleted. API concepts: https://kubernetes.io/docs/reference/using-api/api-concepts/
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { type KubeClient, metadataOnly, resourcePath } from "../kube/client.ts";
import { ApiError, isGone, isNotFound } from "../kube/errors.ts";
import { apiVersionOf, type Kind } from "../kube/kind.ts";
import { compareVersions, type Stored } from "../kube/object.ts";
import { keyText } from "../subjects.ts";
import { refusalOf, WatchRefusedError } from "./deniedkinds.ts";
import { firstPage, nextPage } from "./pagesize.ts";
import type { Publisher } from "./publisher.ts";

/** Where a watcher is. */
export type WatcherState =
  | { readonly name: "listing" }
  | { readonly name: "resuming"; readonly resourceVersion: string }
  | { readonly name: "watching"; readonly resourceVersion: string }
  | { readonly name: "absent" };

/** What a watcher needs. */
export interface WatcherOptions {
  readonly client: KubeClient;
  readonly kind: Kind;
  readonly namespace?: string | undefined;
  /** Of a kind that the installation lists: the command that prints its roles. */
  readonly rightsCommand?: string | undefined;
  /** Its position is where to resume. */
  readonly publisher: Publisher;
  /**
   * How long one watch request may live, in seconds. A connection that died silently is noticed when the server has
   * not ended the watch by then; a new watch resumes where the old one was, so short times cost little.
   */
  readonly watchSeconds: number;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly onState: (state: WatcherState) => void;
  /** Called with what keeps the kind from being watched, and with undefined when it is listed or watched again. */
  readonly onTrouble: (error: Error | undefined) => void;
}

const deadAfterMillis = 5000;
/** How long the first answer may take; twice as long after each failure. */
const answerMillis = 2000;
/** A watch that ends sooner, with nothing said, is a server that is not well: it is not asked again at once. */
const shortMillis = 500;
const backoff = { baseMillis: 100, capMillis: 5000, healthyMillis: 10_000 };
/** Where the bridge is refused it waits for a person. Of opted-in namespaces there may be many. */
const refusedCapMillis = 30_000;

const changes = { ADDED: "added", MODIFIED: "modified", DELETED: "deleted" } as const;

/** Watches until `signal` aborts or the publisher fails. */
export async function watchKind(options: WatcherOptions): Promise<void> {
  const { publisher, signal, log, onState } = options;
  let state: WatcherState =
    publisher.position === undefined
      ? { name: "listing" }
      : { name: "resuming", resourceVersion: publisher.position };
  let failures = 0;
  let refused = false;
  while (!signal.aborted) {
    onState(state);
    const started = performance.now();
    try {
      switch (state.name) {
        case "resuming":
          state = await resume(options, state.resourceVersion, answerMillis * 2 ** Math.min(failures, 4));
          break;
        case "watching":
          state = await watch(options, state.resourceVersion);
          failures = 0;
          break;
        default:
          state = await list(options);
          failures = 0;
      }
      refused = false;
    } catch (error) {
      if (signal.aborted) return;
      // What could not be published must not be passed over: the lease is given up and all starts anew.
      await publisher.settled();
      if (performance.now() - started > backoff.healthyMillis) failures = 0;
      failures++;
      if (isGone(error)) {
        log.info({ reason: (error as ApiError).message }, "position is not served any more, listing");
        state = { name: "listing" };
      } else if (isNotFound(error)) {
        options.onTrouble(undefined);
        if (state.name !== "absent")
          log.warn("the API server does not know this kind: is its CRD installed? Trying again");
        state = { name: "absent" };
      } else {
        const trouble = refusalOf(error as Error, options);
        options.onTrouble(trouble);
        const before = refused;
        refused = trouble instanceof WatchRefusedError;
        log[refused && before ? "debug" : "warn"](
          { err: trouble, state: state.name, failures },
          "watch broken, trying again",
        );
        const { position } = publisher;
        if (state.name === "watching")
          state = { name: "resuming", resourceVersion: position ?? state.resourceVersion };
      }
      const asked = error instanceof ApiError ? error.retryAfterMillis : undefined;
      const pause =
        asked ??
        pauseAfter(
          failures,
          refused && options.namespace !== undefined ? refusedCapMillis : backoff.capMillis,
        );
      await sleep(pause, undefined, { signal }).catch(() => undefined);
    }
  }
}

const pauseAfter = (failures: number, capMillis: number): number =>
  Math.min(capMillis, backoff.baseMillis * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);

/** How to ask for what may go on the bus, and no more. */
const acceptOf = ({ publish }: Kind, request: keyof typeof metadataOnly): string | undefined =>
  publish === "metadata" ? metadataOnly[request] : undefined;

/** Items of a list carry no type of their own, and metadata that of their envelope. */
const typed = (kind: Kind, object: Stored): Stored => ({
  ...object,
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
});

/**
 * The API server may be younger than the position: restored from a backup, or another one. It would accept the watch
 * and say nothing until it has caught up, so it is asked where it is.
 */
async function resume(options: WatcherOptions, from: string, patienceMillis: number): Promise<WatcherState> {
  const { client, kind, namespace, publisher, log } = options;
  // Where the watch was dead, the idle connections of the pool may be, too.
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(patienceMillis)]);
  const { metadata } = await client.list(kind, namespace, { limit: 1 }, signal, acceptOf(kind, "list"));
  const { resourceVersion } = metadata;
  if (compareVersions(resourceVersion, from) >= 0) return { name: "watching", resourceVersion: from };
  log.warn({ position: from, resourceVersion }, "the API server has gone back in time, listing");
  publisher.forgetVersions();
  return { name: "listing" };
}

async function list(options: WatcherOptions): Promise<WatcherState> {
  const { client, kind, namespace, publisher, signal, log } = options;
  const listed = new Set<string>();
  let resourceVersion = "";
  let token: string | undefined;
  let limit = firstPage;
  do {
    const query = { limit, continue: token };
    const page = await client.list(kind, namespace, query, signal, acceptOf(kind, "list"));
    resourceVersion = page.metadata.resourceVersion;
    token = page.metadata.continue || undefined;
    limit = nextPage(limit, page.items);
    for (const item of page.items) {
      const object = typed(kind, item);
      const name = nameOf(object);
      listed.add(name);
      await publisher.publish(publisher.has(name) ? "modified" : "added", object, "list");
    }
  } while (token !== undefined);
  const vanished = publisher.names().filter((name) => !listed.has(name));
  for (const name of vanished) await publisher.vanished(name, resourceVersion);
  await publisher.settled();
  publisher.advance(resourceVersion);
  options.onTrouble(undefined);
  log.info({ objects: listed.size, vanished: vanished.length, resourceVersion }, "listed");
  return { name: "watching", resourceVersion };
}

const nameOf = ({ metadata }: Stored): string =>
  keyText({ namespace: metadata.namespace ?? "", name: metadata.name });

async function watch(options: WatcherOptions, from: string): Promise<WatcherState> {
  const { client, kind, namespace, publisher, signal } = options;
  const seconds = Math.ceil(options.watchSeconds * (0.75 + Math.random() / 4));
  const ending = new AbortController();
  const stop = () => ending.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  const opened = performance.now();
  const dead = setTimeout(
    () => {
      if (namespace !== undefined) client.connection.giveUp("namespaceWatches", opened);
      ending.abort(
        new Error(
          `the watch went on for longer than the ${seconds} s that were asked for: the connection is dead`,
        ),
      );
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
    options.onTrouble(undefined);
    for await (const event of events) {
      resourceVersion = event.object.metadata.resourceVersion;
      if (event.type === "BOOKMARK") publisher.advance(resourceVersion);
      else await publisher.publish(changes[event.type], typed(kind, event.object), "watch");
    }
    if (ending.signal.aborted) throw ending.signal.reason;
    if (resourceVersion === from && performance.now() - opened < shortMillis)
      throw new Error("the API server ended the watch as soon as it was opened");
    return { name: "watching", resourceVersion };
  } finally {
    clearTimeout(dead);
    signal.removeEventListener("abort", stop);
    ending.abort();
  }
}
