/** Healthy objects that change all the time among faulty ones. */
import { setTimeout as sleep } from "node:timers/promises";
import { type ApiRequest, resourcePath } from "../../bus/kube/client.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { Probe } from "../fixtures/functions/probe.ts";
import type { TestEnvironment } from "../harness/environment.ts";
import { now } from "../harness/now.ts";
import type { Trial } from "./scenario.ts";

/** The time from one change of a healthy object to its reconcile. */
export interface Delay {
  readonly key: string;
  readonly millis: number;
  /** When the change was made, and when its reconcile was seen. Milliseconds of the machine's clock. */
  readonly from: number;
  readonly to: number;
  history(crashes: readonly number[]): string[];
}

/** Reports the Probes of a query, and each change of one, in order, until the signal aborts. */
export async function followProbes(
  environment: TestEnvironment,
  query: NonNullable<ApiRequest["query"]>,
  signal: AbortSignal,
  changed: (probe: Stored<Probe>) => void | Promise<void>,
): Promise<void> {
  const once = async () => {
    const { items, metadata } = await environment.client.list(Probe, "default", query, signal);
    for (const probe of items) await changed(probe);
    const from = { ...query, resourceVersion: metadata.resourceVersion };
    const request = { path: resourcePath(Probe, "default"), query: from, signal };
    for await (const { type, object } of await environment.client.watch<Probe>(request))
      if (type !== "BOOKMARK") await changed(object);
  };
  // A watch may end at any time: the next one starts with a list.
  while (!signal.aborted)
    await once().catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
}

/** Changes healthy objects all the time, and follows their status. */
export async function startHealthy(
  trial: Trial,
  environment: TestEnvironment,
): Promise<{ readonly objects: number; stop(): Promise<Delay[]> }> {
  // A short run shares two cores with its API server. More load would measure the API server.
  const objects = trial.scaled(20, 10);
  const everyMillis = 250;
  const names = Array.from({ length: objects }, (_, at) => `healthy-${at}`);
  const sent = new Map<string, number[]>(names.map((name) => [name, []]));
  const seen = new Map<string, number[]>(names.map((name) => [name, []]));
  const watching = new AbortController();
  trial.defer(() => watching.abort());
  const record = ({ metadata: { name }, status }: Stored<Probe>): void => {
    const times = seen.get(name);
    // A reconcile that saw a later change covers the earlier ones.
    for (let value = times?.length ?? 0; times && value < (status?.value ?? 0); value++) times.push(now());
  };
  for (const name of names)
    await environment.client.create(
      Probe,
      {
        apiVersion: "test.denrei.dev/v1",
        kind: "Probe",
        metadata: { namespace: "default", name },
        spec: { mode: "ok", value: 0 },
      },
      { fieldManager: "prove" },
    );
  let broken: unknown;
  followProbes(environment, {}, watching.signal, record).catch((error: unknown) => {
    broken = error;
  });

  let isRunning = true;
  const changed = Promise.all(
    names.map(async (name, at) => {
      await sleep((everyMillis * at) / objects);
      for (let value = 1; isRunning; value++) {
        const begun = now();
        await environment.client.mergePatch(
          Probe,
          { namespace: "default", name },
          { spec: { value } },
          { fieldManager: "prove" },
        );
        sent.get(name)?.push(now());
        await sleep(Math.max(1, everyMillis - (now() - begun)));
      }
    }),
  );
  // `stop` reports the error.
  changed.catch(() => undefined);
  const missing = () => names.filter((name) => (seen.get(name)?.length ?? 0) < (sent.get(name)?.length ?? 0));

  return {
    objects,
    async stop() {
      isRunning = false;
      await changed;
      for (const until = now() + 60_000; missing().length > 0; await sleep(20))
        if (now() > until || broken !== undefined)
          throw new Error(`never reconciled to the last change: ${missing().join(", ")}`, { cause: broken });
      watching.abort();
      return names.flatMap((name) => delaysOf(name, sent.get(name) ?? [], seen.get(name) ?? []));
    },
  };
}

function delaysOf(key: string, sent: readonly number[], seen: readonly number[]): Delay[] {
  return sent.map((from, at) => {
    const to = seen[at] ?? Number.POSITIVE_INFINITY;
    return {
      key,
      millis: Math.max(0, to - from),
      from,
      to,
      history: (crashes) =>
        [
          ...sent
            .slice(Math.max(0, at - 5), at + 5)
            .map((time, i) => `${time.toFixed(0)} changed (${Math.max(0, at - 5) + i + 1})`),
          ...seen
            .slice(Math.max(0, at - 5), at + 5)
            .map((time, i) => `${time.toFixed(0)} reconciled (${Math.max(0, at - 5) + i + 1})`),
          ...crashes.map((time) => `${time.toFixed(0)} a worker crashed`),
        ].sort(),
    };
  });
}
