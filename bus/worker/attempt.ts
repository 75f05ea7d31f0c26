/** One attempt: reads the object, maintains the finalizer, runs the author's code, and checks its result. */
import type { Logger } from "pino";
import type { KubeClient } from "../kube/client.ts";
import { discoverKind } from "../kube/discovery.ts";
import { isConflict, isNotFound } from "../kube/errors.ts";
import { checkObject, InvalidObjectError, type Kind, Pod } from "../kube/kind.ts";
import { compareVersions, type Stored } from "../kube/object.ts";
import type { BusClock } from "../nats/busclock.ts";
import type { Find } from "../objects/indexes.ts";
import type { ObjectStore } from "../objects/store.ts";
import type { Request } from "../queue/request.ts";
import type { ObjectKey } from "../subjects.ts";
import type { Echoes } from "./echoes.ts";
import { TerminalError, workerCrashed } from "./errors.ts";
import { type FirstRead, isReplay, readFirstLive } from "./firstread.ts";
import type { Context, ReconcileFunction } from "./function.ts";
import { isReconciled } from "./ownfilters.ts";
import type { OwnWrites, WritesOfKey } from "./ownwrites.ts";
import {
  conditionsOf,
  keepsConditions,
  type OnBus,
  ReportedReady,
  settleConditions,
  stalled,
} from "./platformconditions.ts";
import { type ReconcileReads, reconcileReads } from "./reads.ts";
import type { Recorder } from "./recorder.ts";
import { keyOf, selectionOf } from "./scope.ts";
import { reconcileWrites, type Write, type Writes } from "./writes.ts";

/** Dependencies of an attempt. */
export interface AttemptTools {
  readonly fn: ReconcileFunction;
  readonly store: ObjectStore;
  readonly client: KubeClient;
  readonly own: OwnWrites;
  readonly written: Echoes["written"];
  readonly recorder: Recorder;
  readonly replica: string;
  readonly cluster: string;
  readonly find: Find;
  readonly clock: BusClock;
}

/** One attempt at one key. */
export interface AttemptInput {
  readonly key: ObjectKey;
  readonly request: Request;
  readonly traceparent: string;
  /** Started earlier, in parallel with the preparation of the attempt. */
  readonly firstRead: Promise<FirstRead>;
  /** Filled by the attempt: by uid, the first version that it reads, or the last one that it writes. */
  readonly seen: Map<string, string>;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly assertOwned: () => void;
  /** Called for each write that the API server has confirmed. */
  readonly onWrite: (write: Write) => void;
}

/** The result of a successful attempt. */
export interface AttemptResult {
  readonly requeueAfter: number | undefined;
  /** The object had the condition `Stalled`. */
  readonly wasStalled: boolean;
  /** The object was skipped if it crashed its workers (`quarantined`) or does not match the filter (`unselected`). */
  readonly object: "reconciled" | "gone" | "quarantined" | "unselected";
}

/** Retries of one attempt after a conflict: the object was stale, so the next try reads it from the API server. */
const maxConflicts = 5;

/** Runs one attempt. Throws the errors of the author's code, or the reason of `signal`. */
export async function attempt(tools: AttemptTools, input: AttemptInput): Promise<AttemptResult> {
  for (let conflicts = 0; ; conflicts++) {
    try {
      return await tryOnce(tools, input, conflicts === 0 ? "store" : "live");
    } catch (error) {
      if (!isConflict(error) || conflicts >= maxConflicts) throw error;
      input.log.debug({ err: error }, "conflict, reading the object live");
    }
  }
}

async function tryOnce(
  tools: AttemptTools,
  input: AttemptInput,
  from: "store" | "live",
): Promise<AttemptResult> {
  const { fn, client, store } = tools;
  const { key, request, signal, log, seen } = input;
  const own = tools.own.of(key);
  // Versions seen by an earlier try do not count for this one.
  seen.clear();
  const written = tools.written(key);
  const reads = reconcileReads({ store, client, own, written, request, signal, seen });
  const first =
    from === "store" ? untilAborted(input.firstRead, signal) : readFirstLive(client, fn.for, key, signal);
  const object: Stored | undefined = await reads.first(fn.for, key, first);
  const onBus = onBusOf(await first);
  if (object === undefined) {
    log.debug("object is gone");
    return { requeueAfter: undefined, wasStalled: false, object: "gone" };
  }
  if (!isReconciled(fn, object)) {
    log.debug("skipped: does not match the filter");
    return { requeueAfter: undefined, wasStalled: false, object: "unselected" };
  }
  const ready = new ReportedReady();
  const ctx = contextOf(tools, input, object, reads, own, ready);
  if (object.metadata.deletionTimestamp !== undefined) {
    const requeueAfter = await finalize(fn, object, ctx, signal);
    return { requeueAfter, wasStalled: false, object: "reconciled" };
  }
  const { finalizer } = fn;
  const lacksFinalizer = finalizer !== undefined && !object.metadata.finalizers?.includes(finalizer);
  const current = lacksFinalizer ? await addFinalizer(fn.for, object, finalizer, ctx) : object;
  return reconcile(tools, input, current, ctx, onBus, ready);
}

async function reconcile(
  tools: AttemptTools,
  { key, request, signal, log }: AttemptInput,
  object: Stored,
  ctx: Context,
  onBus: OnBus,
  ready: ReportedReady,
): Promise<AttemptResult> {
  const { fn } = tools;
  if (!fn.secondary && isQuarantined(object) && !isReplay(request)) {
    log.debug("skipped: this generation crashed its workers");
    return { requeueAfter: undefined, wasStalled: false, object: "quarantined" };
  }
  const checked = validated(fn, object);
  const requeueAfter = checkResult(fn, await untilAborted(fn.reconcile(checked, ctx), signal));
  // Another process may have written a newer version than this one.
  const write = tools.own.of(key).of(object.metadata.uid);
  const latest = [object, write?.object ?? object].sort(byVersion).at(-1) ?? object;
  const wasStalled = await settleConditions(fn, latest, ctx, onBus, ready);
  return { requeueAfter, wasStalled, object: "reconciled" };
}

function addFinalizer(kind: Kind, object: Stored, finalizer: string, ctx: Context): Promise<Stored> {
  const finalizers = [...(object.metadata.finalizers ?? []), finalizer];
  return ctx.patch(kind, object, { metadata: { finalizers } });
}

function contextOf(
  tools: AttemptTools,
  input: AttemptInput,
  object: Stored,
  reads: ReconcileReads,
  own: WritesOfKey,
  ready: ReportedReady,
): Context {
  const { client, replica, cluster, recorder, find, clock } = tools;
  const { key, request, signal, log, assertOwned } = input;
  return {
    key,
    cause: request.cause,
    causes: [request.cause, ...(request.also ?? [])],
    attempt: request.attempt,
    ...{ replica, cluster, signal, assertOwned, log, now: clock.now },
    read: {
      get: async (kind, name, namespace = key.namespace) => reads.get(kind, keyOf(kind, name, namespace)),
      children: (kind, owner = object) => reads.children(kind, owner),
      list: async (kind, options = {}) => reads.list(kind, selectionOf(kind, options, key.namespace)),
      find,
    },
    live: {
      get: async (kind, name, namespace = key.namespace) => reads.live(kind, keyOf(kind, name, namespace)),
      list: async (kind, options = {}) => reads.liveList(kind, selectionOf(kind, options, key.namespace)),
      kind: (apiVersion, kind) => discoverKind(client, apiVersion, kind, signal),
      podLog: async (pod, { container, lines, namespace = key.namespace }) =>
        client.podLog(keyOf(Pod, pod, namespace), { container, lines, signal }),
    },
    ...writesOf(tools, input, object, reads, own, ready),
    event: (type, reason, note) => recorder.record(object, type, reason, note, log),
  };
}

function writesOf(
  { fn, client, clock }: AttemptTools,
  { traceparent, signal, log, assertOwned, onWrite }: AttemptInput,
  object: Stored,
  reads: ReconcileReads,
  own: WritesOfKey,
  ready: ReportedReady,
): Writes {
  return reconcileWrites(object, {
    ...{ client, reads, own, traceparent, signal, assertOwned },
    fn: fn.name,
    secondary: fn.secondary,
    ready: keepsConditions(fn) ? ready : undefined,
    fieldManager: fn.fieldManager,
    now: clock.now,
    onWrite(write) {
      const { verb, kind, name, resourceVersion } = write;
      onWrite(write);
      log.debug({ verb, kind: kind.kind, name, resourceVersion }, "wrote");
    },
  });
}

/**
 * Whether the object was quarantined because it crashed its workers, and its spec has not changed since. Other causes (a timer,
 * a child, a late or repeated event) must not crash more workers.
 */
function isQuarantined(object: Stored): boolean {
  return conditionsOf(object).some(
    ({ type, status: value, reason, observedGeneration }) =>
      type === stalled &&
      value === "True" &&
      reason === workerCrashed &&
      observedGeneration !== undefined &&
      observedGeneration === object.metadata.generation,
  );
}

function validated(fn: ReconcileFunction, object: Stored): Stored {
  try {
    return checkObject(fn.for, object);
  } catch (error) {
    if (error instanceof InvalidObjectError)
      throw new TerminalError("InvalidSpec", error.message, { cause: error });
    throw error;
  }
}

function onBusOf(read: FirstRead): OnBus {
  if ("live" in read || read.entry === undefined) return "unknown";
  return read.entry.partial ? "partial" : "whole";
}

/** Runs `finalize` and removes the finalizer, unless `finalize` asks to be called again. */
async function finalize(
  fn: ReconcileFunction,
  object: Stored,
  ctx: Context,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { finalizer } = fn;
  if (
    finalizer === undefined ||
    fn.finalize === undefined ||
    !object.metadata.finalizers?.includes(finalizer)
  ) {
    return undefined;
  }
  const requeueAfter = checkResult(fn, await untilAborted(fn.finalize(object, ctx), signal));
  if (requeueAfter !== undefined) return requeueAfter;
  const finalizers = object.metadata.finalizers.filter((name) => name !== finalizer);
  try {
    await ctx.patch(fn.for, object, { metadata: { finalizers } });
  } catch (error) {
    // The object no longer exists: the event was late, or a user removed the finalizer.
    if (!isNotFound(error)) throw error;
  }
  return undefined;
}

const byVersion = (a: Stored, b: Stored): number =>
  compareVersions(a.metadata.resourceVersion, b.metadata.resourceVersion);

/** Stops waiting for code that ignores its signal: its slot becomes free, and its later writes are refused. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

function checkResult(fn: ReconcileFunction, result: unknown): number | undefined {
  const after = (result as { requeueAfter?: unknown } | null | undefined)?.requeueAfter;
  const known = result === undefined || (typeof result === "object" && result !== null);
  if (known && (after === undefined || (typeof after === "number" && Number.isFinite(after) && after >= 0))) {
    return after as number | undefined;
  }
  throw new TypeError(
    `expected ${fn.name} to return nothing or { requeueAfter: <milliseconds from 0 up> }, found ${JSON.stringify(result)}`,
  );
}
