/** A bridge that starts with other declarations than the one before brings what is on the bus to them. */
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startBridge } from "../../bus/bridge/bridge.ts";
import { type Bus, connectBus } from "../../bus/connect.ts";
import { ConfigMap } from "../../bus/kube/kind.ts";
import { objectStore } from "../../bus/objects/store.ts";
import { type LocalKit, startLocalKit } from "../harness/kit.ts";

let kit: LocalKit;
let bus: Bus;
beforeAll(async () => {
  kit = await startLocalKit({ crds: [] });
  bus = await connectBus({ url: kit.platform.natsUrl, name: "test" });
});
afterAll(async () => {
  await bus?.nc.close();
  await kit?.stop();
});

const at = { namespace: "default", name: "annotated" };
const cluster = "annotations";

/** Runs a bridge until the object has these annotations on the bus. */
async function bridgeUntil(allowed: string, annotations: Record<string, string>): Promise<void> {
  const bridge = await startBridge({
    ...{ bus, cluster, client: kit.client, registry: new Registry(), replica: `bridge-${allowed}` },
    busOptions: { replicas: 1, ackWaitMillis: 10_000 },
    kinds: [ConfigMap],
    annotations: new Set([allowed]),
    log: pino({ level: "silent" }),
  });
  try {
    const stored = async () => (await objectStore(bus, cluster).entry(ConfigMap, at))?.object.metadata;
    await expect.poll(async () => (await stored())?.annotations, { timeout: 20_000 }).toEqual(annotations);
    await expect.poll(() => [...bridge.states().values()]).toEqual(["watching"]);
  } finally {
    await bridge.stop();
  }
}

test("publishes objects again that did not change when other annotations are declared", async () => {
  await kit.client.create(
    ConfigMap,
    {
      ...{ apiVersion: "v1", kind: "ConfigMap" },
      metadata: { ...at, annotations: { former: "1", next: "2" } },
      spec: undefined,
    },
    { fieldManager: "test" },
  );
  await bridgeUntil("former", { former: "1" });
  await bridgeUntil("next", { next: "2" });
});
