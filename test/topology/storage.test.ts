/** Servers with less storage than the streams' limits would reserve. */
import { expect, onTestFinished, test } from "vitest";
import { streams, workStream } from "../../bus/subjects.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { subscriptionOf } from "../../bus/worker/function.ts";
import stickers from "../fixtures/functions/stickers.ts";
import { startLocalBus } from "../harness/localbus.ts";

const options = { replicas: 1, ackWaitMillis: 10_000 };
const subscription = subscriptionOf(stickers, "default");

test.for([
  [64, streams.webhooks],
  [256, streams.webhooks],
  [512, streams.webhooks],
  [1024, workStream(subscription.scope.fn)],
] as const)("with %i MiB every stream exists, and %s has no limit", async ([mebibytes, unlimited]) => {
  const local = await startLocalBus({ storage: { maxFileBytes: mebibytes * 2 ** 20 } });
  onTestFinished(() => local.stop());
  const without: string[] = [];
  await ensureTopology(local.bus, options, [subscription], (stream) => without.push(stream));
  expect(without).toContain(unlimited);
  await local.bus.js.publish("webhooks.github.push.acme.web", "stored");
});

test("a bridge creates streams one by one: at once, their limits could reserve more than the server has", async () => {
  const local = await startLocalBus();
  onTestFinished(() => local.stop());
  const api = local.bus.jsm.streams;
  const add = api.add.bind(api);
  const created: string[] = [];
  let pending = 0;
  api.add = async (config) => {
    expect(++pending, config.name).toBe(1);
    const answer = await add(config);
    pending--;
    created.push(answer.config.name);
    return answer;
  };
  await ensureTopology(local.bus, options, [subscription]);
  expect(created).toContain(streams.webhooks);
  expect(created).toContain(workStream(subscription.scope.fn));
});

test("when other streams reserve all storage, the error names the setting to raise", async () => {
  const maxFileBytes = 64 * 2 ** 20;
  const local = await startLocalBus({ storage: { maxFileBytes } });
  onTestFinished(() => local.stop());
  await local.bus.jsm.streams.add({ name: "OTHERS", subjects: ["others"], max_bytes: maxFileBytes });
  await expect(ensureTopology(local.bus, options, [subscription])).rejects.toThrow(
    /no storage left for the stream \w+, because limits of streams reserve all of it.* Raise max_file_store/,
  );
});
