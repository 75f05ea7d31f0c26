/** Creates and watches Hikawas in the same way for both contenders. */
import { resourcePath } from "../../bus/kube/client.ts";
import { apiVersionOf, type Kind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { concurrently } from "../harness/concurrently.ts";
import type { BenchEnvironment } from "./environment.ts";

/** Concurrent creates: enough to keep either controller busy from the start. */
const creators = 8;
/** A contender without any progress for this long hangs. */
const stallMillis = 90_000;

/** The platform on which Hikawas are created and watched. */
export type HikawaEnvironment = Pick<BenchEnvironment, "client" | "namespace" | "signal" | "fail">;

/** Creates one Hikawa. */
export const createHikawa = (
  environment: Omit<HikawaEnvironment, "fail">,
  name: string,
  intervalMillis: number,
): Promise<Stored<Hikawa>> =>
  environment.client.create(
    Hikawa,
    {
      apiVersion: apiVersionOf(Hikawa),
      kind: "Hikawa",
      metadata: { name, namespace: environment.namespace },
      spec: { intervalMillis },
    },
    { fieldManager: "denrei-bench", signal: environment.signal },
  );

/** `prefix-00001` and so on. */
export const namesOf = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}-${String(at + 1).padStart(5, "0")}`);

/** Creates many, {@link creators} at a time. */
export async function createHikawas(
  environment: BenchEnvironment,
  names: readonly string[],
  intervalMillis: number,
): Promise<void> {
  await concurrently(names, creators, (name) => createHikawa(environment, name, intervalMillis));
}

/** Calls back for each object of a kind created or changed from now on, until the returned function is called. */
export async function watchKind<T extends KubeObject>(
  { client, namespace, signal, fail }: HikawaEnvironment,
  kind: Kind<T>,
  onChange: (object: Stored<T>, type: "ADDED" | "MODIFIED") => void,
): Promise<() => void> {
  const ended = new AbortController();
  const { metadata } = await client.list(kind, namespace, { limit: 1 }, signal);
  let { resourceVersion } = metadata;
  const open = () =>
    client.watch<T>({
      path: resourcePath(kind, namespace),
      query: { resourceVersion, timeoutSeconds: 3600 },
      signal: AbortSignal.any([ended.signal, signal]),
    });
  const first = await open();
  void (async () => {
    try {
      // The API server may end a watch at any time: the next one resumes at its position.
      for (let events = first; ; events = await open()) {
        for await (const { type, object } of events) {
          if (type === "ADDED" || type === "MODIFIED") onChange(object, type);
          ({ resourceVersion } = object.metadata);
        }
      }
    } catch (error) {
      if (!ended.signal.aborted && !signal.aborted) fail(error as Error);
    }
  })();
  return () => ended.abort();
}

/** Whether the status reports that the Hikawa is complete. */
export const isKiyoshied = ({ status }: Stored<Hikawa>): boolean => status?.kiyoshied === true;

/** Hikawas that do not satisfy a condition yet. */
export interface Waiting {
  /** Resolves when the named one satisfies it. Rejects if none does for a long time, or if the run is aborted. */
  one(name: string): Promise<void>;
  all(): Promise<void>;
  stop(): void;
}

/** Waits, with one watch, until each of the named Hikawas satisfies the condition. Open it before they are created. */
export async function waitForHikawas(
  environment: BenchEnvironment,
  names: readonly string[],
  condition: (hikawa: Stored<Hikawa>) => boolean,
): Promise<Waiting> {
  const left = new Map(names.map((name) => [name, Promise.withResolvers<void>()]));
  const promises = new Map([...left].map(([name, { promise }]) => [name, promise]));
  const all = Promise.all(promises.values());
  // Callers see the rejection when they wait; unawaited promises must not end the process.
  for (const promise of [all, ...promises.values()]) promise.catch(() => undefined);
  let progress = performance.now();
  const unwatch = await watchKind(environment, Hikawa, (hikawa) => {
    const waiting = left.get(hikawa.metadata.name);
    if (waiting === undefined || !condition(hikawa)) return;
    left.delete(hikawa.metadata.name);
    progress = performance.now();
    waiting.resolve();
  });
  const giveUp = (error: Error): void => {
    for (const { reject } of left.values()) reject(error);
  };
  const timer = setInterval(() => {
    if (performance.now() - progress < stallMillis) return;
    const some = [...left.keys()].slice(0, 3).join(", ");
    giveUp(
      new Error(
        `expected ${names.length} Hikawas to progress, but ${left.size} did not for ${stallMillis} ms: ${some}`,
      ),
    );
  }, 1000);
  const abort = () => giveUp(environment.signal.reason as Error);
  environment.signal.addEventListener("abort", abort, { once: true });
  return {
    one: (name) =>
      promises.get(name) ?? Promise.reject(new Error(`${name} is not among the awaited Hikawas`)),
    all: () => all.then(() => undefined),
    stop() {
      unwatch();
      clearInterval(timer);
      environment.signal.removeEventListener("abort", abort);
    },
  };
}
