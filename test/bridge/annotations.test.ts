/** A bridge that starts with changed declarations updates the objects on the bus. */
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startBridge } from "../../bus/bridge/bridge.ts";
import { openPublisher, type Publisher, type PublisherOptions } from "../../bus/bridge/publisher.ts";
import { ConfigMap, Secret } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import { objectStore } from "../../bus/objects/store.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { type LocalTestEnvironment, startLocalTestEnvironment } from "../harness/environment.ts";

const busOptions = { replicas: 1, ackWaitMillis: 10_000 };
let environment: LocalTestEnvironment;
let bus: Bus;
beforeAll(async () => {
  environment = await startLocalTestEnvironment({ crds: [] });
  bus = await connectBus({ url: environment.platform.natsUrl, name: "test" });
  await ensureTopology(bus, busOptions);
});
afterAll(async () => {
  await bus?.nc.close();
  await environment?.stop();
});

const at = { namespace: "default", name: "annotated" };
const cluster = "annotations";

/** Runs a bridge until the object has these annotations on the bus. */
async function bridgeUntil(allowed: string, annotations: Record<string, string>): Promise<void> {
  const bridge = await startBridge({
    ...{ bus, cluster, client: environment.client, registry: new Registry(), replica: `bridge-${allowed}` },
    busOptions,
    kinds: [ConfigMap],
    annotations: new Set([allowed]),
    log: pino({ level: "silent" }),
  });
  try {
    const stored = async () => (await objectStore(bus, cluster).entry(ConfigMap, at))?.object.metadata;
    await expect.poll(async () => (await stored())?.annotations).toEqual(annotations);
    await expect.poll(() => [...bridge.states().values()]).toEqual(["watching"]);
  } finally {
    await bridge.stop();
  }
}

test("publishes unchanged objects again when the declared annotations change", async () => {
  await environment.client.create(
    ConfigMap,
    {
      ...{ apiVersion: "v1", kind: "ConfigMap" },
      metadata: { ...at, annotations: { former: "1", next: "2" } },
    },
    { fieldManager: "test" },
  );
  await bridgeUntil("former", { former: "1" });
  await bridgeUntil("next", { next: "2" });
});

const secret = (name: string, version: number, annotations: Record<string, string>): Stored => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: {
    ...{ name, namespace: "default", uid: `uid-of-${name}`, resourceVersion: String(version) },
    annotations,
  },
  spec: undefined,
});

test("a publisher renews known versions when the declared annotations change, and drops the others from tombstones", async () => {
  const store = objectStore(bus, "published-again");
  const open = (options: Partial<PublisherOptions> = {}): Promise<Publisher> =>
    openPublisher({
      ...{ bus, cluster: "published-again", kind: Secret, onPublished: () => undefined },
      signal: new AbortController().signal,
      ...options,
    });
  const openFor = (...annotations: string[]) =>
    open({ annotations: new Set(annotations), position: "5", renew: true });
  const both = secret("both", 10, { former: "1", next: "2" });
  const plain = secret("plain", 11, { other: "3" });
  const list = async (publisher: Publisher) => {
    for (const object of [both, plain]) await publisher.publish("modified", object, "list");
    await publisher.settled();
    publisher.advance("20");
  };
  const stored = async (name: string) => {
    const entry = await store.entry(Secret, { namespace: "default", name });
    return { ...entry, annotations: entry?.object.metadata.annotations };
  };
  await list(await openFor("former"));
  expect((await stored("both")).annotations).toEqual({ former: "1" });
  const before = await stored("plain");

  const publisher = await openFor("next");
  expect(publisher.position).toBeUndefined();
  await list(publisher);
  const renewed = await stored("both");
  expect(renewed).toMatchObject({ annotations: { next: "2" }, resourceVersion: "10", deleted: false });
  await list(publisher);
  expect(await stored("both")).toEqual(renewed);
  expect(await stored("plain")).toEqual(before);

  const last = await open();
  await last.vanished("default/both", "30");
  await last.settled();
  expect(await stored("both")).toMatchObject({ annotations: {}, resourceVersion: "30", deleted: true });
});
