/** Objects that the bus may have without fields of their CRD. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { changedObject, changeHead } from "../../bus/events/received.ts";
import { externalKind } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import type { Bus } from "../../bus/nats/connect.ts";
import { objectByName, streams } from "../../bus/subjects.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";
import { publisherOf, stored } from "../harness/publish.ts";

type Thing = KubeObject<{ text: string }>;
const Thing = externalKind<Thing>({
  group: "test.denrei.dev",
  version: "v1",
  kind: "Thing",
  plural: "things",
});

let local: LocalBus;
let bus: Bus;

beforeAll(async () => {
  local = await startLocalBus();
  bus = local.bus;
  await ensureTopology(bus, { replicas: 1, ackWaitMillis: 10_000 });
});
afterAll(() => local?.stop());

/** The last message of an object. */
async function last(name: string) {
  const last_by_subj = objectByName("test", Thing, { namespace: "default", name });
  const message = await bus.jsm.streams.getMessage(streams.objects, { last_by_subj });
  const { text } = changedObject<Thing>(message?.string() ?? "").spec;
  return { text, correction: changeHead(message?.header).correction };
}

test("a doubtful object is corrected by the same version with other content, and by a newer one", async () => {
  const publisher = await publisherOf(bus, Thing);
  const publish = async (name: string, version: number, text: string, source: "watch" | "list") => {
    await publisher.publish("modified", stored(Thing, name, version, { text }), source);
    await publisher.settled();
  };
  await publish("certain", 1, "without", "watch");
  const { sequence } = publisher;
  const doubtful = ["changed", "gone", "lacking", "whole"];
  for (const name of doubtful) await publish(name, 2, "without", "watch");

  publisher.doubt(sequence);
  expect(publisher.doubtful().sort()).toEqual(doubtful.map((name) => `default/${name}`));
  const before = publisher.sequence;
  await publish("certain", 1, "with", "list");
  await publish("whole", 2, "without", "list");
  expect(publisher.sequence, "nothing was published").toBe(before);
  await publish("lacking", 2, "with", "list");
  await publish("changed", 3, "with", "list");
  await publisher.vanished("default/gone", "3");
  await publisher.settled();
  expect(await last("certain")).toEqual({ text: "without", correction: false });
  expect(await last("lacking")).toEqual({ text: "with", correction: true });
  expect(await last("changed")).toEqual({ text: "with", correction: true });
  expect(await last("gone")).toEqual({ text: "without", correction: false });

  publisher.trust();
  expect(publisher.doubtful()).toEqual([]);
  await publish("whole", 2, "with", "list");
  await publish("changed", 4, "again", "watch");
  expect(await last("whole")).toEqual({ text: "without", correction: false });
  expect(await last("changed")).toEqual({ text: "again", correction: false });
});
