/** A dead letter is removed when its object is later reconciled or deleted. */
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Publisher } from "../../bus/bridge/publisher.ts";
import { deadLetterCleanup } from "../../bus/queue/deadlettercleanup.ts";
import { type DeadLetter, type DeadLetters, deadLetters } from "../../bus/queue/deadletters.ts";
import { keyText, type ObjectKey, type QueueScope, streams } from "../../bus/subjects.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { TerminalError } from "../../bus/worker/errors.ts";
import { defineFunction, type FunctionOptions } from "../../bus/worker/function.ts";
import type { Worker } from "../../bus/worker/worker.ts";
import { Note } from "../fixtures/functions/notes.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";
import { publisherOf, stored } from "../harness/publish.ts";
import { startTestWorker } from "../harness/testworker.ts";

const reconcile: FunctionOptions<Note>["reconcile"] = async ({ spec: { text } }) => {
  if (text === "bad") throw new TerminalError("Bad", "expected something good");
};
const busOptions = { replicas: 1, ackWaitMillis: 5000 };
/** Notes have no conditions, so nothing on the object shows that there is a dead letter. */
const functions = [
  defineFunction({ name: "reading", for: Note, reconcile }),
  defineFunction({ name: "beside", for: Note, secondary: true, reconcile }),
];

let local: LocalBus;
let publisher: Publisher;
let worker: Worker;
let registry: Registry;

// A new bus for each test: late reconciles of an earlier test must not be counted.
beforeEach(async () => {
  local = await startLocalBus();
  registry = new Registry();
  await ensureTopology(local.bus, busOptions);
  worker = await startTestWorker({
    bus: local.bus,
    busOptions,
    functions,
    registry,
  });
  publisher = await publisherOf(local.bus, Note);
});
afterEach(async () => {
  await worker?.stop();
  await local?.stop();
});

async function lettersOf(name: string): Promise<string[]> {
  const lists = functions.map(({ name: fn }) => deadLetters(local.bus, { fn, cluster: "test" }).list());
  return (await Promise.all(lists)).flat().flatMap(({ fn, key }) => (key.name === name ? [fn] : []));
}

test.each(["deleted", "modified"] as const)(
  "removes the dead letter of an object that was %s",
  async (change) => {
    await publisher.publish("added", stored(Note, change, 1, { text: "bad" }), "watch");
    await expect.poll(() => lettersOf(change)).toEqual(["reading", "beside"]);
    await publisher.publish(change, stored(Note, change, 2, { text: "good" }), "watch");
    await expect.poll(() => lettersOf(change)).toEqual([]);
  },
);

test("a reconcile still succeeds if its dead letter cannot be looked up", async () => {
  const outcomes = async () => {
    const { values } = (await registry.getSingleMetric("controller_runtime_reconcile_total")?.get()) ?? {
      values: [],
    };
    return Object.fromEntries(
      values.map(({ labels, value }) => [`${labels.controller} ${labels.result}`, value]),
    );
  };
  await local.bus.jsm.streams.delete(streams.deadLetters);
  await publisher.publish("added", stored(Note, "unasked", 1, { text: "good" }), "watch");
  await expect.poll(outcomes).toEqual({ "reading success": 1, "beside success": 1 });
});

const letter: DeadLetter = {
  ...{ reason: "Bad", message: "", attempts: 1, cause: { type: "timer" } },
  ...{ replica: "another", time: new Date().toISOString() },
};

/** Dead letters that count the questions to the bus. */
function counted(scope: QueueScope) {
  const letters = deadLetters(local.bus, scope);
  const asked: string[] = [];
  const counting: Pick<DeadLetters, "any" | "remove"> = {
    any() {
      asked.push("any");
      return letters.any();
    },
    remove(key) {
      asked.push(keyText(key));
      return letters.remove(key);
    },
  };
  return { letters, counting, asked };
}

test("asks once for all objects of a function without dead letters", async () => {
  const { letters, counting, asked } = counted({ fn: "without", cluster: "test" });
  const elsewhere = deadLetters(local.bus, { fn: "with", cluster: "test" });
  const [one, two] = ["one", "two"].map((name) => ({ namespace: "default", name })) as [ObjectKey, ObjectKey];
  await elsewhere.put(one, letter);
  const cleanup = deadLetterCleanup(local.bus.nc, { fn: "without", cluster: "test" }, counting);
  await Promise.all([cleanup.remove(one), cleanup.remove(two)]);
  await cleanup.remove(one);
  expect(asked).toEqual(["any"]);
  await letters.put(two, letter);
  await local.bus.nc.flush();
  await cleanup.remove(two);
  expect(asked).toEqual(["any", "default/two"]);
  expect(await letters.list()).toEqual([]);
  cleanup.stop();
});

test("asks for each object once if the function has dead letters, or after missed messages", async () => {
  const { letters, counting, asked } = counted({ fn: "some", cluster: "test" });
  const [one, two] = ["one", "two"].map((name) => ({ namespace: "default", name })) as [ObjectKey, ObjectKey];
  await letters.put(one, letter);
  const cleanup = deadLetterCleanup(local.bus.nc, { fn: "some", cluster: "test" }, counting);
  for (const key of [two, two, one, one]) await cleanup.remove(key);
  expect(asked).toEqual(["any", "default/two", "default/one"]);
  expect(await letters.list()).toEqual([]);
  await letters.put(two, letter);
  cleanup.forget();
  await cleanup.remove(two);
  expect(asked.slice(3)).toEqual(["any", "default/two"]);
  expect(await letters.list()).toEqual([]);
  cleanup.stop();
});

test("removes a dead letter that another replica writes later", async () => {
  const scope = { fn: "elsewhere", cluster: "test" };
  const key = { namespace: "default", name: "note" };
  const letters = deadLetters(local.bus, scope);
  const cleanup = deadLetterCleanup(local.bus.nc, scope, letters);
  await cleanup.remove(key);
  await letters.put(key, letter);
  // The subscription receives the dead letter a moment later.
  await expect.poll(() => cleanup.remove(key).then(() => letters.list())).toEqual([]);
  cleanup.stop();
});
