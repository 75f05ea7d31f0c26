/** A full stream delays only the messages that it refuses. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Stored } from "../../bus/kube/object.ts";
import { streams } from "../../bus/subjects.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { defineFunction } from "../../bus/worker/function.ts";
import { Note } from "../fixtures/functions/notes.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";
import { publisherOf, stored } from "../harness/publish.ts";
import { startTestWorker } from "../harness/testworker.ts";

const busOptions = { replicas: 1, ackWaitMillis: 2000 };
let local: LocalBus;
beforeAll(async () => {
  local = await startLocalBus();
});
afterAll(() => local?.stop());

const limitIndexes = (max_bytes: number) => local.bus.jsm.streams.update(streams.indexes, { max_bytes });

test("while the index stream is full, objects without a new entry are reconciled; the others follow later", async () => {
  const { bus } = local;
  await ensureTopology(bus, busOptions);
  await limitIndexes(1);
  const seen = new Set<string>();
  const worker = await startTestWorker({
    bus,
    busOptions,
    functions: [
      defineFunction({
        name: "indexed",
        for: Note,
        indexes: { text: ({ spec }: Stored<Note>) => (spec.text === "" ? [] : [spec.text]) },
        async reconcile({ metadata }) {
          seen.add(metadata.name);
          return undefined;
        },
      }),
    ],
  });
  try {
    const publisher = await publisherOf(bus, Note);
    // More than a router handles concurrently.
    const refused = Array.from({ length: 300 }, (_, at) => `refused-${at}`);
    let version = 0;
    const publish = (name: string, text: string) =>
      publisher.publish("added", stored(Note, name, ++version, { text }), "watch");
    for (const name of refused) await publish(name, name);
    await publish("free", "");
    await expect.poll(() => [...seen], { timeout: 60_000 }).toEqual(["free"]);
    await limitIndexes(1_000_000);
    // A refused message is redelivered after at most a minute.
    await expect.poll(() => seen.size, { timeout: 180_000 }).toBe(refused.length + 1);
  } finally {
    await worker.stop();
  }
});
