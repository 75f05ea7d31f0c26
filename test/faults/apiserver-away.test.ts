/** Requests while the API server is unavailable: retried for as long as the outage lasts, never dead-lettered. */
import { expect, onTestFinished, test } from "vitest";
import { connectBus } from "../../bus/nats/connect.ts";
import { deadLetters } from "../../bus/queue/deadletters.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { defineFunction } from "../../bus/worker/function.ts";
import { startLocalNats } from "../../deploy/local/index.ts";
import { Note } from "../fixtures/functions/notes.ts";
import { clientOfNobody } from "../harness/clients.ts";
import { programs } from "../harness/programs.ts";
import { publisherOf, stored } from "../harness/publish.ts";
import { startTestWorker } from "../harness/testworker.ts";

await programs("nats-server");

test("an outage longer than all attempts makes no dead letter; an error of the function does", async () => {
  const local = await startLocalNats();
  onTestFinished(() => local.stop());
  const bus = await connectBus({ url: local.natsUrl, name: "test" });
  onTestFinished(() => bus.nc.close());
  const asked = { away: 0, broken: 0 };
  const fn = defineFunction({
    name: "asking",
    for: Note,
    async reconcile(note, ctx) {
      if (note.spec.text === "broken") {
        asked.broken++;
        throw new Error("broken by itself");
      }
      asked.away++;
      await ctx.live.get(Note, "other");
    },
  });
  const busOptions = { replicas: 1, ackWaitMillis: 10_000 };
  await ensureTopology(bus, busOptions);
  const worker = await startTestWorker({
    bus,
    busOptions,
    client: await clientOfNobody(),
    functions: [fn],
    retries: { baseMillis: 10, capMillis: 20, maxAttempts: 2, maxCrashes: 3 },
  });
  onTestFinished(() => worker.stop());
  const publisher = await publisherOf(bus, Note);
  await publisher.publish("added", stored(Note, "away", 1, { text: "away" }), "watch");
  await publisher.publish("added", stored(Note, "broken", 2, { text: "broken" }), "watch");
  await expect.poll(() => asked, { timeout: 60_000 }).toMatchObject({ broken: 2 });
  await expect.poll(() => asked.away, { timeout: 60_000 }).toBeGreaterThan(3);
  const letters = deadLetters(bus, { fn: "asking", cluster: "test" });
  await expect
    .poll(async () => (await letters.list()).map(({ key }) => key.name), { timeout: 60_000 })
    .toEqual(["broken"]);
});
