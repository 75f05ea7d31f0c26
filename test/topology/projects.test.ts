/** The streams and consumers of two projects on one bus. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { consumers, streams, workStream } from "../../bus/subjects.ts";
import { leftovers } from "../../bus/topology/leftovers.ts";
import { adopt } from "../../bus/topology/owner.ts";
import { ensureFunctions, ensureTopology, type FunctionSubscription } from "../../bus/topology.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";

const cluster = "default";
const optionsOf = (project: string) => ({ replicas: 1, ackWaitMillis: 5000, project });
const subscription = (fn: string): FunctionSubscription => ({
  scope: { fn, cluster },
  kinds: [{ group: "g", kind: "Thing" }],
  indexes: ["name"],
});
const apple = subscription("apple");
const pear = subscription("pear");

let local: LocalBus;
beforeAll(async () => {
  local = await startLocalBus();
  await ensureTopology(local.bus, optionsOf("apples"), [apple]);
  await ensureTopology(local.bus, optionsOf("pears"), [pear]);
});
afterAll(() => local?.stop());

test("functions of another project are not leftovers", async () => {
  const of = async (project?: string) => {
    const found = await leftovers(local.bus.jsm, {
      ...{ subscriptions: [apple], cluster, latelyMillis: 0, force: true },
      ...(project !== undefined && { project }),
    });
    return found.map(({ stream }) => stream).filter((stream) => stream.endsWith("_pear"));
  };
  expect(await of("apples")).toEqual([]);
  expect(await of()).toContain(workStream("pear"));
});

test("an index stream that the bridge of one project creates again restarts the routers of both", async () => {
  const { bus } = local;
  const router = (one: FunctionSubscription) =>
    bus.jsm.consumers.info(streams.objects, consumers.router(one)).then(({ created }) => created);
  await bus.js.publish(`objects.${cluster}.g.Thing.n._.x`, "{}");
  // Only a consumer that has delivered something is restarted.
  for (const one of [apple, pear])
    await (await bus.js.consumers.get(streams.objects, consumers.router(one))).next();
  const before = await Promise.all([apple, pear].map(router));
  await bus.jsm.streams.delete(streams.indexes);
  await ensureTopology(bus, optionsOf("apples"), [apple]);
  await ensureTopology(bus, optionsOf("pears"), [pear]);
  const after = await Promise.all([apple, pear].map(router));
  expect(after[0]).not.toBe(before[0]);
  expect(after[1]).not.toBe(before[1]);
  await ensureTopology(bus, optionsOf("pears"), [pear]);
  expect(await router(pear)).toBe(after[1]);
});

test("a function belongs to the project of its first bridge, until another one adopts it", async () => {
  const refused =
    'the function pear of this bus belongs to the project "pears", and this is the project "apples"';
  await expect(ensureTopology(local.bus, optionsOf("apples"), [apple, pear])).rejects.toThrow(refused);
  await expect(ensureFunctions(local.bus, optionsOf("apples"), [pear])).rejects.toThrow(refused);
  await adopt(local.bus.jsm, "pear", "apples");
  await ensureTopology(local.bus, optionsOf("apples"), [apple, pear]);
  await expect(ensureFunctions(local.bus, optionsOf("pears"), [pear])).rejects.toThrow('project "apples"');
});
