/** Thousands of changes while an object is being reconciled: more than one message can hold. */
import { expect, onTestFinished, test } from "vitest";
import { ticketQueue } from "../../bus/queue/queue.ts";
import { newRequest } from "../../bus/queue/request.ts";
import { timersStream, work } from "../../bus/subjects.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { defineFunction } from "../../bus/worker/function.ts";
import { Note } from "../fixtures/functions/notes.ts";
import { startLocalBus } from "../harness/localbus.ts";
import { publisherOf, stored } from "../harness/publish.ts";
import { startTestWorker } from "../harness/testworker.ts";

const changes = 2500;

test("all changes are requested, and the worker's only slot becomes free again", async () => {
  const local = await startLocalBus();
  onTestFinished(() => local.stop());
  const { bus } = local;
  const scope = { fn: "busy", cluster: "test" };
  const begun = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const reconciled: string[] = [];
  const busOptions = { replicas: 1, ackWaitMillis: 30_000 };
  await ensureTopology(bus, busOptions);
  const worker = await startTestWorker({
    bus,
    busOptions,
    functions: [
      defineFunction({
        name: scope.fn,
        for: Note,
        concurrency: 1,
        async reconcile({ metadata: { name } }) {
          reconciled.push(name);
          begun.resolve();
          await gate.promise;
        },
      }),
    ],
  });
  onTestFinished(() => worker.stop());
  const publisher = await publisherOf(bus, Note);
  await publisher.publish("added", stored(Note, "parent", 1, { text: "" }), "watch");
  await begun.promise;

  const queue = ticketQueue(bus, scope, { replica: "replica-2", markMillis: 60_000 });
  const key = { namespace: "default", name: "parent" };
  await Promise.all(
    Array.from({ length: changes }, (_, at) => {
      const child = { namespace: "default", name: `${"n".repeat(240)}-${at}`, uid: `uid-of-child-${at}` };
      const change = { group: "g", kind: "Child", ...child, resourceVersion: String(at + 2) };
      return queue.request(key, newRequest({ type: "object", ...change }));
    }),
  );
  gate.resolve();
  await publisher.publish("added", stored(Note, "other", 9999, { text: "" }), "watch");
  await expect.poll(() => reconciled).toContain("other");
  await expect.poll(() => queue.marks(key), { timeout: 120_000 }).toEqual([]);
  expect(reconciled.filter((name) => name === "parent").length).toBeGreaterThan(1);
  const { state } = await bus.jsm.streams.info(timersStream(scope.fn), {
    subjects_filter: work.marks(scope),
  });
  expect(state.subjects ?? {}).toEqual({});
});
