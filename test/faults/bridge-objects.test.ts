/** How the bridge publishes objects: Secrets, objects that change owner, reused names, many children, and large objects. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { positionKey } from "../../bus/bridge/position.ts";
import { toMessage } from "../../bus/events/binding.ts";
import { changeEvent, publishable } from "../../bus/events/kubernetes.ts";
import { ConfigMap, type Kind, Secret } from "../../bus/kube/kind.ts";
import { compareVersions, controllerReference, type KubeObject, type Stored } from "../../bus/kube/object.ts";
import { living, type ObjectStore, objectStore } from "../../bus/objects/store.ts";
import { Note } from "../fixtures/functions/notes.ts";
import { watchedIn } from "../harness/agreement.ts";
import { type Bridged, type BridgeReplica, startBridged } from "../harness/bridged.ts";
import { sized } from "../harness/size.ts";

const manager = { fieldManager: "test" };
const at = (name: string) => ({ namespace: "default", name });
let bridged: Bridged;
let bridge: BridgeReplica;
let store: ObjectStore;
let lives = 0;

const startBridge = () => bridged.bridge(`bridge-${++lives}`);

beforeAll(async () => {
  bridged = await startBridged();
  store = objectStore(bridged.bus, "default");
  await createSecrets("listed");
  bridge = await startBridge();
  for (const kind of [Note, Secret, ConfigMap]) await bridged.untilAgreed(kind);
});
afterAll(() => bridged?.stop());
beforeEach(async () => {
  if (bridge.pid === undefined) bridge = await startBridge();
});

const oversized = "object larger than max_payload, functions read it from the API server";
/** What must never be on the bus. */
const hidden = "hunter2-hunter2";
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

async function createSecrets(name: string): Promise<void> {
  const metadata = {
    ...at(name),
    labels: { seen: "yes" },
    annotations: {
      [lastApplied]: JSON.stringify({ stringData: { password: hidden } }),
      "example.com/original": JSON.stringify({ stringData: { password: hidden } }),
      kept: "yes",
    },
  };
  const base64 = Buffer.from(`${hidden}-in-data`).toString("base64");
  await bridged.environment.client.create(
    Secret,
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata,
      data: { password: base64 },
      stringData: { other: hidden },
    } as unknown as KubeObject,
    manager,
  );
  await bridged.environment.client.create(
    ConfigMap,
    { apiVersion: "v1", kind: "ConfigMap", metadata, data: { password: hidden } } as unknown as KubeObject,
    manager,
  );
}

/** Deletes the saved position, so that the next start lists. */
async function forgetPosition(kind: Kind): Promise<void> {
  await bridged.untilAgreed(kind);
  await bridge.stop();
  await bridged.kv.delete(positionKey("default", kind, watchedIn(kind)));
}

const asOwner = (owner: Stored) => [controllerReference(owner)];

test("publishes only the metadata of Secrets and ConfigMaps", async () => {
  await createSecrets("watched");
  await createSecrets("deleted");
  for (const kind of [Secret, ConfigMap]) {
    await bridged.environment.client.mergePatch(
      kind,
      at("watched"),
      { stringData: { third: hidden }, data: { fourth: kind === Secret ? btoa(hidden) : hidden } },
      manager,
    );
    await bridged.environment.client.delete(kind, at("deleted"), {});
    await bridged.untilSettled(kind);
  }
  // Also a Secret that is deleted while no bridge watches.
  await createSecrets("vanished");
  await bridged.untilSettled(Secret);
  await forgetPosition(Secret);
  await bridged.environment.client.delete(Secret, at("vanished"), {});
  bridge = await startBridge();
  await bridged.untilSettled(Secret);

  for (const kind of [Secret, ConfigMap]) {
    const published = bridged.history.of(kind);
    const versions = (name: string) =>
      published.filter((one) => one.at.name === name).map(({ change }) => change);
    expect(versions("watched")).toEqual(["added", "modified"]);
    expect(versions("deleted")).toEqual(["added", "deleted"]);
    for (const { object } of published) {
      expect(Object.keys(object).sort()).toEqual(["apiVersion", "kind", "metadata"]);
      if (object.metadata.labels?.seen) expect(object.metadata.annotations).toEqual({ kept: "yes" });
    }
  }
  expect(bridged.history.of(Secret, "vanished").map(({ change }) => change)).toEqual(["added", "deleted"]);
  const secrets = [hidden, btoa(hidden), Buffer.from(`${hidden}-in-data`).toString("base64")];
  const places = [...bridged.history.all.map(({ raw }) => raw), ...bridge.log.all];
  for (const secret of [...secrets, lastApplied, "managedFields", "stringData"])
    expect(places.filter((text) => text.includes(secret))).toEqual([]);
});

test.each(["while it watches", "while it is away"])(
  "a child that gets another controller %s: one tombstone at the old address, the child at the new one",
  async (when) => {
    const tag = when.replaceAll(" ", "-");
    const [first, second] = [await bridged.create(`first-${tag}`), await bridged.create(`second-${tag}`)];
    const child = `child-${tag}`;
    await bridged.create(child, { ownerReferences: asOwner(first) });
    await bridged.untilSettled(Note);
    const namesOf = async (owner: Stored) =>
      living(await store.childEntries(Note, owner)).map(({ metadata }) => metadata.name);
    expect(await namesOf(first)).toEqual([child]);

    if (when.endsWith("away")) await forgetPosition(Note);
    const moved = await bridged.change(child, { metadata: { ownerReferences: asOwner(second) } });
    if (when.endsWith("away")) bridge = await startBridge();
    await bridged.untilSettled(Note);
    expect(await namesOf(first)).toEqual([]);
    expect(await namesOf(second)).toEqual([child]);
    expect(await store.entry(Note, at(child))).toMatchObject({
      deleted: false,
      uid: moved.metadata.uid,
      resourceVersion: moved.metadata.resourceVersion,
    });
    const published = bridged.history.of(Note, child);
    expect(published.map(({ at, change }) => [at.owner, change])).toEqual([
      [first.metadata.uid, "added"],
      // In this order the child exists at every moment.
      [second.metadata.uid, "modified"],
      [first.metadata.uid, "deleted"],
    ]);
    // The tombstone names the former controller, so that its function is enqueued.
    expect(published.at(-1)?.object.metadata.ownerReferences).toMatchObject([{ uid: first.metadata.uid }]);

    // Without a controller.
    await bridged.change(child, { metadata: { ownerReferences: null } });
    await bridged.untilSettled(Note);
    expect(await namesOf(second)).toEqual([]);
    await bridged.remove(child);
    await bridged.untilSettled(Note);
    expect(await store.entry(Note, at(child))).toMatchObject({ deleted: true });
    expect(bridged.history.disorder()).toEqual([]);
  },
);

test("a bridge that died while moving an object leaves no stale message", async () => {
  const [first, second] = [await bridged.create("left"), await bridged.create("right")];
  const child = await bridged.create("in-between", { ownerReferences: asOwner(first) });
  await bridged.untilSettled(Note);
  const old = await store.entry(Note, at("in-between"));
  await bridged.change("in-between", { metadata: { ownerReferences: asOwner(second) } });
  await bridged.untilSettled(Note);
  await bridge.stop();
  // The state between the two publishes: the old address still holds the live object.
  const { data, headers } = toMessage(changeEvent(Note, "added", publishable(Note, child)));
  const { seq } = await bridged.bus.js.publish(old?.subject ?? "", data, { headers });
  expect(living(await store.childEntries(Note, first))).toHaveLength(1);
  bridge = await startBridge();
  await bridged.history.until(() =>
    bridged.history
      .of(Note, "in-between")
      .some(({ change, sequence }) => change === "deleted" && sequence > seq),
  );
  expect(living(await store.childEntries(Note, first))).toEqual([]);
  expect(living(await store.childEntries(Note, second))).toHaveLength(1);
  await bridged.untilSettled(Note);
});

test("an object repeatedly deleted and recreated under one name ends with its last incarnation", async () => {
  const owners = [await bridged.create("owner-0"), await bridged.create("owner-1")];
  const uids: string[] = [];
  for (let i = 0; i < 20; i++) {
    // Every third one has a different controller from the one before.
    const owner = owners[Math.floor(i / 3) % 2] as Stored;
    const { metadata } = await bridged.create("phoenix", { ownerReferences: asOwner(owner) });
    uids.push(metadata.uid);
    if (i < 19) await bridged.remove("phoenix");
  }
  await bridged.untilSettled(Note);
  expect(await store.entry(Note, at("phoenix"))).toMatchObject({ deleted: false, uid: uids.at(-1) });
  const published = bridged.history.of(Note, "phoenix");
  expect([...new Set(published.map(({ uid }) => uid))]).toEqual(
    uids.filter((uid) => published.some((one) => one.uid === uid)),
  );
  expect(published.filter(({ uid }) => uid === uids.at(-1)).map(({ change }) => change)).toEqual(["added"]);
  expect(bridged.history.disorder(published)).toEqual([]);
});

test("lists many children of one owner over several pages, and the store reads all of them", async () => {
  await forgetPosition(Note);
  const owner = await bridged.create("crowded");
  // A page has 500 objects. In the nightly run the bus needs more than one batch as well.
  const names = Array.from({ length: sized(520, 1100) }, (_, i) => `one-of-many-${i}`);
  const waiting = [...names];
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
        await bridged.create(name, { ownerReferences: asOwner(owner) });
    }),
  );
  bridge = await startBridge();
  await bridged.untilSettled(Note);
  expect(await bridge.counts(Note)).toMatchObject({ lists: 1, added: names.length + 1 });
  expect(Number(bridge.logged("listed", Note)[0]?.objects)).toBeGreaterThan(names.length);
  const namesOf = (entries: { object: Stored }[]) => entries.map(({ object }) => object.metadata.name).sort();
  expect(namesOf(await store.childEntries(Note, owner))).toEqual([...names].sort());
  await bridged.remove("one-of-many-500");
  await bridged.untilSettled(Note);
  const left = living(await store.childEntries(Note, owner));
  expect(left).toHaveLength(names.length - 1);
});

test("publishes an object larger than a message as a partial event", async () => {
  const text = "x".repeat(1_100_000);
  const published = (name: string) => bridged.history.of(Note, name).map(({ change }) => change);
  await bridged.create("grows");
  await bridged.create("giant", {}, text);
  await bridged.change("grows", { spec: { text } });
  const { metadata } = await bridged.create("behind-the-giant");
  await bridged.position(
    Note,
    ({ resourceVersion }) => compareVersions(resourceVersion, metadata.resourceVersion) >= 0,
  );
  const all = { giant: 1, grows: 2, "behind-the-giant": 1 };
  await bridged.history.until(() =>
    Object.entries(all).every(([name, times]) => published(name).length >= times),
  );
  expect([published("giant"), published("grows")]).toEqual([["added"], ["added", "modified"]]);
  for (const name of ["giant", "grows"]) {
    const entry = await store.entry(Note, at(name));
    expect(entry).toMatchObject({ partial: true, object: { metadata: at(name) } });
    expect(entry?.object.spec).toBeUndefined();
  }
  expect(await bridge.metric("denrei_bridge_oversized_total")).toBe(2);
  expect(bridge.logged(oversized, Note)).toMatchObject([
    { subject: expect.stringContaining("giant") },
    { subject: expect.stringContaining("grows") },
  ]);
  // A list publishes it in part, too.
  await bridge.stop();
  await bridged.kv.delete(positionKey("default", Note));
  bridge = await startBridge();
  await bridge.log.until(() => bridge.logged("listed", Note).length === 1);
  // Once it is small it is published in full, and its deletion as a tombstone.
  await bridged.change("giant", { spec: { text: "small" } });
  await bridged.remove("grows");
  await bridged.untilSettled(Note);
  expect([published("giant"), published("grows")]).toEqual([
    ["added", "modified"],
    ["added", "modified", "deleted"],
  ]);
  expect(await store.entry(Note, at("giant"))).toMatchObject({ partial: false });
});
