/** A CRD gains a field, and objects are written with it at once: the API server's open watches still lack the field. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { crdOf } from "../../bus/kube/crd.ts";
import { installCrds } from "../../bus/kube/install.ts";
import { objectStore } from "../../bus/objects/store.ts";
import { Grain, grainWith } from "../fixtures/functions/grains.ts";
import { type BridgeReplica, type OwnBridged, startOwnBridged } from "../harness/bridged.ts";

const grains = fileURLToPath(new URL("../fixtures/functions/grains.ts", import.meta.url));
const manager = { fieldManager: "test" };

let bridged: OwnBridged;
let bridge: BridgeReplica;
let bridges = 0;

const startBridge = () => bridged.bridge(`bridge-${++bridges}`, { args: [grains] });

beforeAll(async () => {
  bridged = await startOwnBridged([grainWith(1)]);
  bridge = await startBridge();
  await bridged.environment.worker("worker", [grains]);
});
afterAll(() => bridged?.stop());

const at = (name: string) => ({ namespace: "default", name });
const create = (name: string, fields: readonly string[]) =>
  bridged.environment.client.create(
    Grain,
    {
      apiVersion: "test.denrei.dev/v1",
      kind: "Grain",
      metadata: at(name),
      spec: Object.fromEntries(fields.map((field) => [field, "1"])),
    },
    manager,
  );

const gainFields = (count: number) =>
  installCrds(bridged.environment.client, [crdOf(grainWith(count))], {
    ...manager,
    signal: AbortSignal.timeout(60_000),
  });

const onBus = (name: string) => objectStore(bridged.bus, "default").entry(Grain, at(name));

/** Resolves when the function and the bus have these fields of an object. */
const untilKnown = (name: string, fields: readonly string[]) =>
  expect
    .poll(
      async () => {
        const { status } = await bridged.environment.client.get(Grain, at(name));
        return { seen: status?.seen, onBus: Object.keys((await onBus(name))?.object.spec ?? {}).sort() };
      },
      { timeout: 60_000 },
    )
    .toEqual({ seen: fields, onBus: fields });

test("a new field arrives after the API server has ended the watch that lacks it", async () => {
  const others = Array.from({ length: 20 }, (_, index) => `other-${index}`);
  await Promise.all(others.map((name) => create(name, ["a"])));
  await gainFields(2);
  await create("first", ["a", "b"]);
  await untilKnown("first", ["a", "b"]);
  await Promise.all(others.map((name) => untilKnown(name, ["a"])));
});

test("a new field arrives if its object is one of many that did not change", async () => {
  await gainFields(3);
  await create("one-of-many", ["a", "b", "c"]);
  await untilKnown("one-of-many", ["a", "b", "c"]);
});

test("a new field arrives if the bridge is killed before the API server has ended its watch", async () => {
  await gainFields(4);
  await create("last", ["a", "b", "c", "d"]);
  await expect.poll(() => onBus("last")).toBeDefined();
  await bridge.kill();
  bridge = await startBridge();
  await untilKnown("last", ["a", "b", "c", "d"]);
});
