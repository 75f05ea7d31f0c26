/** What roles can do with their permissions, and how permission errors are reported. */
import { headers } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inboxPrefixOf, userOf } from "../../bus/nats/identity.ts";
import { openInbox } from "../../bus/nats/inbox.ts";
import { BusPermissionError } from "../../bus/nats/permissionerror.ts";
import { openCrashRecords } from "../../bus/queue/crashrecords.ts";
import { deadLetters } from "../../bus/queue/deadletters.ts";
import { publishUntilAnswered } from "../../bus/queue/publish.ts";
import { type Pull, startPull } from "../../bus/queue/pull.ts";
import { ticketQueue } from "../../bus/queue/queue.ts";
import { newRequest } from "../../bus/queue/request.ts";
import { searchStranded } from "../../bus/queue/stranded.ts";
import { timers } from "../../bus/queue/timers.ts";
import { consumers, streams, timersStream, work, workStream } from "../../bus/subjects.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { publisherOf, stored } from "../harness/publish.ts";
import {
  key,
  kind,
  mine,
  objectOfBridge,
  openParties,
  options,
  type Parties,
  subscriptions,
  theirs,
} from "./parties.ts";

const letter = {
  reason: "TerminalRequested",
  message: "rejected by the test",
  attempts: 1,
  cause: { type: "timer" },
  replica: "test",
  time: new Date(0).toISOString(),
} as const;

let parties: Parties;
beforeAll(async () => {
  parties = await openParties();
  await ensureTopology(parties.of("bridge"), options, subscriptions);
});
afterAll(() => parties?.stop());

describe("a function with its permissions", () => {
  const bus = () => parties.of("mine");
  const queue = () => ticketQueue(bus(), mine, { replica: "test", markMillis: 600_000 });
  beforeAll(async () => {
    for (const fn of ["mine", "theirs"])
      for (const stream of [workStream(fn), timersStream(fn), streams.deadLetters])
        await parties.admin.jsm.streams.purge(stream);
  });

  test("cannot purge another function's dead letters by a rollup", async () => {
    await deadLetters(parties.of("theirs"), theirs).put(key, letter);
    const rollup = headers();
    rollup.set("Nats-Rollup", "all");
    const answer = await bus().inbox.request(work.deadLetter(mine, key), "{}", { headers: rollup });
    expect(answer.json()).toMatchObject({ error: { description: expect.stringMatching(/rollup/) } });
    expect(await deadLetters(parties.of("theirs"), theirs).get(key)).toMatchObject({
      reason: "TerminalRequested",
    });
  });

  test("cannot make a schedule enqueue a request of another function", async () => {
    const schedule = { at: new Date(Date.now() + 600_000), target: work.ticket(theirs, key) };
    const subject = work.timer(mine, key);
    await expect(publishUntilAnswered(bus(), subject, "{}", { schedule })).rejects.toThrow(/schedul/);
  });

  test("has its queue, timers, marks, and dead letters", async () => {
    expect(await queue().request(key, newRequest({ type: "timer" }))).toBe("accepted");
    expect(await queue().request(key, newRequest({ type: "replay" }))).toBe("owned");
    const marks = await queue().marks(key);
    expect(marks.map(({ request }) => request.cause.type)).toEqual(["replay"]);
    await queue().dropMarks(key, marks);
    expect(await queue().marks(key)).toEqual([]);
    const its = timers(bus(), queue(), () => undefined);
    await its.set(key, 60_000, newRequest({ type: "timer" }));
    expect(await its.get(key)).toMatchObject({ cause: { type: "timer" } });
    const letters = deadLetters(bus(), mine);
    expect(await letters.get(key)).toBeUndefined();
    await letters.put(key, letter);
    expect(await letters.get(key)).toMatchObject(letter);
    await letters.remove(key);
    expect(await letters.get(key)).toBeUndefined();
    const starts = openCrashRecords(bus(), mine);
    expect((await starts.add(key)).before.all).toBe(0);
    expect((await starts.add(key)).before.all).toBe(1);
    await starts.clear(key);
    expect((await starts.add(key)).before.all).toBe(0);
  });
});

test("a function can find messages that the bus no longer delivers", async () => {
  const stopping = new AbortController();
  const scope = mine;
  const queue = ticketQueue(parties.of("mine"), scope, { replica: "test" });
  const stuck = { ...key, name: "stuck" };
  const mark = work.mark(scope, stuck, { object: "uid", replica: "somebody", version: "1" });
  // Without a schedule it never becomes due.
  await publishUntilAnswered(parties.of("mine"), mark, JSON.stringify(newRequest({ type: "replay" })));
  const errors: unknown[] = [];
  const found = await new Promise<string>((resolve) => {
    void searchStranded({
      bus: parties.of("mine"),
      queue,
      signal: stopping.signal,
      onFound: resolve,
      onError: (error) => errors.push(error),
      everyMillis: 100,
      graceMillis: 100,
    });
  });
  const gone = async () =>
    (await parties.admin.jsm.streams.info(timersStream("mine"), { subjects_filter: mark })).state.subjects;
  await expect.poll(gone).toBeUndefined();
  stopping.abort();
  expect(found).toBe(mark);
  expect(errors).toEqual([]);
});

describe("an operator", () => {
  const letters = () => deadLetters(parties.of("operator"), theirs);
  beforeAll(async () => {
    await parties.admin.jsm.streams.purge(streams.deadLetters);
    await parties.admin.jsm.streams.purge(workStream("theirs"));
    await deadLetters(parties.of("theirs"), theirs).put(key, letter);
  });

  test("reads dead letters and replays one, which leaves no message behind", async () => {
    const queue = ticketQueue(parties.of("operator"), theirs, { replica: "operator" });
    expect((await letters().list()).map((found) => found.key)).toEqual([key]);
    await letters().replay(queue, key);
    expect(await letters().list()).toEqual([]);
    const messages = async (stream: string) => (await parties.admin.jsm.streams.info(stream)).state.messages;
    expect(await messages(workStream("theirs"))).toBe(1);
    await expect.poll(() => messages(streams.deadLetters), { timeout: 60_000 }).toBe(0);
  });

  test("deletes the dead letter it has read when it replays, not one written meanwhile", async () => {
    const its = deadLetters(parties.of("theirs"), theirs);
    await its.put(key, letter);
    const queue = ticketQueue(parties.of("operator"), theirs, { replica: "operator" });
    await letters().replay(
      {
        ...queue,
        async requestUnlessOwned(...request) {
          const outcome = await queue.requestUnlessOwned(...request);
          // The function rejects the object again before the operator continues.
          await its.put(key, { ...letter, reason: "Again" });
          return outcome;
        },
      },
      key,
    );
    expect((await letters().list()).map((found) => found.letter.reason)).toEqual(["Again"]);
  });
});

describe("a permission error is reported at once", () => {
  const patient = { timeoutMillis: 60_000 };

  test("as an error with user and subject", async () => {
    const error = await parties
      .of("mine")
      .inbox.request(objectOfBridge, "{}", patient)
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(BusPermissionError);
    expect((error as Error).message).toContain(
      `denrei-mine may not publish on "${objectOfBridge}" on the bus`,
    );
    await expect(
      parties.of("operator").inbox.collect("$JS.API.DIRECT.GET.OBJECTS", "{}", () => "last", patient),
    ).rejects.toBeInstanceOf(BusPermissionError);
  });

  test("also for a publish that is retried until it is acknowledged", async () => {
    await expect(
      publishUntilAnswered(parties.of("mine"), work.ticket(theirs, key), "{}"),
    ).rejects.toBeInstanceOf(BusPermissionError);
    const publisher = await publisherOf(parties.admin, kind);
    await publisher.publish("added", stored(kind, "thing", 1, {}), "list");
    await publisher.settled();
  });

  test("also when the client may not subscribe to its responses", async () => {
    const foreign = { user: "denrei-mine", inboxPrefix: inboxPrefixOf(userOf("bridge")) };
    const inbox = openInbox(parties.of("mine").nc, foreign);
    await parties.of("mine").nc.flush();
    for (let asked = 0; asked < 2; asked++)
      await expect(inbox.request("$JS.API.INFO", "", patient)).rejects.toThrow(/may not/);
  });

  test("to a client that pulls from another function's queue, at intervals", async () => {
    const refused: string[] = [];
    const twice = Promise.withResolvers<void>();
    const pull: Pull = startPull({
      bus: parties.of("mine"),
      stream: workStream("theirs"),
      consumer: consumers.worker(theirs),
      slots: 3,
      handle: async () => undefined,
      onRefused({ code, description }) {
        refused.push(`${code} ${description}`);
        if (refused.length === 2) twice.resolve();
      },
    });
    await twice.promise;
    await pull.stop();
    expect(refused.length).toBeLessThan(5);
    expect(refused[0]).toMatch(
      /^403 .*denrei-mine may not publish on "\$JS\.API\.CONSUMER\.MSG\.NEXT\.WORK_theirs/,
    );
  });
});
