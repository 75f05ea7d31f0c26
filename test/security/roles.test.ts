/** What each role must not do on the bus, tried on a real server with the users that are generated for one. */
import { headers } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bus, connectBus } from "../../bus/connect.ts";
import { BusPermissionError } from "../../bus/denied.ts";
import { inboxPrefixOf, userOf } from "../../bus/identity.ts";
import { openInbox } from "../../bus/inbox.ts";
import { externalKind } from "../../bus/kube/kind.ts";
import { busRoles, type Role } from "../../bus/permissions.ts";
import { deadLetters } from "../../bus/queue/deadletters.ts";
import { publishUntilAnswered } from "../../bus/queue/publish.ts";
import { type Pull, startPull } from "../../bus/queue/pull.ts";
import { ticketQueue } from "../../bus/queue/queue.ts";
import { newRequest } from "../../bus/queue/request.ts";
import { timers } from "../../bus/queue/timers.ts";
import { consumers, streams, timersStream, work, workStream } from "../../bus/subjects.ts";
import { ensureTopology, TopologyError } from "../../bus/topology.ts";
import { type LocalNats, startLocalNats } from "../../deploy/local/index.ts";
import { publisherOf, stored } from "../harness/publish.ts";

const cluster = "test";
const kind = externalKind({ group: "test.denrei.dev", version: "v1", kind: "Thing", plural: "things" });
const interests = ["mine", "theirs"].map((fn) => ({ scope: { fn, cluster }, kinds: [kind] }));
const options = { replicas: 1, ackWaitMillis: 5000 };
const mine = { fn: "mine", cluster };
const theirs = { fn: "theirs", cluster };
const key = { namespace: "default", name: "thing" };
const letter = {
  reason: "ToldSo",
  message: "it was told so",
  attempts: 1,
  cause: { type: "timer" },
  replica: "test",
  time: new Date(0).toISOString(),
} as const;

/** Everything that a request of the JetStream API may be about. */
const streamNames = [
  streams.objects,
  streams.deadLetters,
  "KV_BRIDGE",
  ...interests.flatMap(({ scope: { fn } }) => [workStream(fn), timersStream(fn)]),
];

let local: LocalNats;
let admin: Bus;
const buses = new Map<string, Bus>();
const busOf = (role: string): Bus => {
  const bus = buses.get(role);
  if (bus === undefined) throw new Error(`expected a connection of ${role}`);
  return bus;
};

beforeAll(async () => {
  const roles: Role[] = busRoles(interests, cluster);
  local = await startLocalNats({ roles });
  admin = await connectBus({ url: local.natsUrl, name: "admin" });
  for (const { name } of roles)
    buses.set(name, await connectBus({ url: local.natsUrlFor(name), name: `test-${name}` }));
});
afterAll(async () => {
  for (const bus of [...buses.values(), admin]) await bus?.nc.close();
  await local?.stop();
});

/** Whether the server refuses it: it says so before it answers a ping that was sent behind it. */
async function refusesPublish({ nc, inbox }: Bus, subject: string): Promise<boolean> {
  let refused = false;
  const forget = inbox.onDenied(subject, () => {
    refused = true;
  });
  // An answer goes where nobody listens.
  nc.publish(subject, "{}", { reply: inbox.create() });
  await nc.flush();
  // What the server said was read before the answer to the ping; who is told is told in the same turn.
  await new Promise(setImmediate);
  forget();
  return refused;
}

async function refusesSubscribe({ nc }: Bus, subject: string): Promise<boolean> {
  let refused = false;
  const subscription = nc.subscribe(subject, {
    callback(error) {
      refused ||= error !== null;
    },
  });
  await nc.flush();
  await new Promise(setImmediate);
  if (!refused) subscription.unsubscribe();
  return refused;
}

describe("before the bridge has made the streams", () => {
  test.for(["worker", "mine"])("%s says what is missing and who makes it", async (role) => {
    const error = await ensureTopology(busOf(role), options, interests.slice(0, 1)).catch(
      (caught: unknown) => caught,
    );
    expect(error).toBeInstanceOf(TopologyError);
    expect((error as Error).message).toMatch(
      new RegExp(`expected the stream \\w+ on the bus .* found none, and ${userOf(role)} may not .*bridge`),
    );
    expect(await admin.jsm.streams.names().next()).toEqual([]);
  });

  test("the bridge makes all of them, and every function finds its own", async () => {
    await ensureTopology(busOf("bridge"), options, interests);
    for (const interest of interests) await ensureTopology(busOf(interest.scope.fn), options, [interest]);
    await ensureTopology(busOf("worker"), options, interests);
    expect((await admin.jsm.streams.names().next()).sort()).toEqual([...streamNames].sort());
  });

  test("a worker that expects something else on the bus says so and changes nothing", async () => {
    const other = { ...options, ackWaitMillis: 7000 };
    await expect(ensureTopology(busOf("mine"), other, interests.slice(0, 1))).rejects.toThrow(
      /consumer test of WORK_mine.*another configuration/,
    );
    const { config } = await admin.jsm.consumers.info(workStream("mine"), consumers.worker(mine));
    expect(config.ack_wait).toBe(options.ackWaitMillis * 1e6);
  });
});

/** Requests of the JetStream API that change or reveal a stream. */
const streamVerbs = [
  "STREAM.CREATE",
  "STREAM.UPDATE",
  "STREAM.DELETE",
  "STREAM.PURGE",
  "STREAM.MSG.DELETE",
  "STREAM.MSG.GET",
  "STREAM.SNAPSHOT",
  "STREAM.RESTORE",
  "STREAM.LEADER.STEPDOWN",
  "CONSUMER.LIST",
  "CONSUMER.NAMES",
  "CONSUMER.CREATE",
  "DIRECT.GET",
];
const consumerVerbs = [
  "CONSUMER.CREATE",
  "CONSUMER.DURABLE.CREATE",
  "CONSUMER.DELETE",
  "CONSUMER.INFO",
  "CONSUMER.MSG.NEXT",
  "CONSUMER.PAUSE",
  "CONSUMER.RESET",
  "CONSUMER.UNPIN",
];

const consumerNames = ["x", "test", "mine_test", "theirs_test"];

/** What each role may do of these; all the rest of the table is refused. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  bridge: [
    ...streamNames.flatMap((name) => [`STREAM.CREATE.${name}`, `STREAM.UPDATE.${name}`]),
    "STREAM.MSG.GET.OBJECTS",
    "STREAM.MSG.GET.KV_BRIDGE",
    "CONSUMER.CREATE.OBJECTS",
    ...consumerNames.flatMap((name) =>
      ["INFO", "DELETE", "MSG.NEXT"].map((verb) => `CONSUMER.${verb}.OBJECTS.${name}`),
    ),
    ...["mine", "theirs"].flatMap((fn) =>
      ["INFO", "DURABLE.CREATE"].flatMap((verb) => [
        `CONSUMER.${verb}.OBJECTS.${fn}_test`,
        `CONSUMER.${verb}.WORK_${fn}.test`,
        `CONSUMER.${verb}.TIMERS_${fn}.test`,
      ]),
    ),
  ],
  gateway: [],
  operator: [
    "DIRECT.GET.DEADLETTERS",
    "DIRECT.GET.KV_BRIDGE",
    ...consumerNames.flatMap((name) => [
      `CONSUMER.INFO.WORK_mine.${name}`,
      `CONSUMER.INFO.WORK_theirs.${name}`,
    ]),
  ],
  mine: [
    "DIRECT.GET.OBJECTS",
    "DIRECT.GET.TIMERS_mine",
    "STREAM.PURGE.TIMERS_mine",
    "STREAM.MSG.DELETE.TIMERS_mine",
    ...["OBJECTS.mine_test", "WORK_mine.test", "TIMERS_mine.test"].flatMap((name) => [
      `CONSUMER.INFO.${name}`,
      `CONSUMER.MSG.NEXT.${name}`,
    ]),
  ],
};

describe.each(Object.keys(allowed))("%s", (role) => {
  test("may do of the JetStream API what it must, and is refused the rest", async () => {
    const asked = [
      ...streamVerbs.flatMap((verb) => streamNames.map((name) => `${verb}.${name}`)),
      ...consumerVerbs.flatMap((verb) =>
        streamNames.flatMap((name) => consumerNames.map((consumer) => `${verb}.${name}.${consumer}`)),
      ),
      ...["STREAM.NAMES", "STREAM.LIST", "ACCOUNT.PURGE.x", "SERVER.REMOVE", "META.LEADER.STEPDOWN"],
    ];
    const heard: string[] = [];
    for (const question of asked)
      if (!(await refusesPublish(busOf(role), `$JS.API.${question}`))) heard.push(question);
    expect(heard.sort()).toEqual([...new Set(allowed[role])].sort());
    expect(asked.length).toBeGreaterThan(250);
  });

  test("listens to nobody's answers and to nothing that is not its own", async () => {
    const subjects = [
      ">",
      "*.>",
      "$SYS.>",
      "$JS.>",
      "$KV.>",
      "objects.>",
      "work.>",
      "work.mine.>",
      "timers.>",
      "marks.>",
      "deadletters.>",
      "webhooks.>",
      "echoes.>",
      "echoes.theirs.>",
      echo("theirs"),
      "_INBOX.>",
      "_INBOX.*",
      ...["bridge", "gateway", "operator", "worker", "mine", "theirs", "admin"]
        .filter((other) => other !== role)
        .map((other) => `${inboxPrefixOf(userOf(other))}.>`),
    ];
    for (const subject of subjects)
      expect([subject, await refusesSubscribe(busOf(role), subject)]).toEqual([subject, true]);
    expect(await refusesSubscribe(busOf(role), `${inboxPrefixOf(userOf(role))}.one.*`)).toBe(false);
  });
});

const echo = (fn: string): string => `echoes.${fn}.${cluster}`;
const object = `objects.${cluster}.test=2Edenrei=2Edev.Thing.default._.x`;

describe("publishing", () => {
  /** Subjects, and who may publish there. */
  const table: readonly [subject: string, ...roles: string[]][] = [
    [object, "bridge"],
    [object.replace("Thing", "Other")],
    [object.replace(".test.", ".elsewhere.")],
    ["$KV.BRIDGE.lease.test.g.Thing", "bridge"],
    ["$KV.BRIDGE.position.test.g.Thing", "bridge"],
    ["$KV.BRIDGE.lease.elsewhere.g.Thing"],
    ["$KV.OTHER.x"],
    [work.ticket(mine, key), "mine", "worker", "operator"],
    [work.ticket(theirs, key), "theirs", "worker", "operator"],
    [work.ticket({ fn: "mine", cluster: "elsewhere" }, key)],
    [work.timer(mine, key), "mine", "worker"],
    [work.timer(theirs, key), "theirs", "worker"],
    [work.timerDue(mine, key)],
    [work.timerDue(theirs, key)],
    [`marks.at.${"mine"}.${cluster}.default.thing.a.1`, "mine", "worker", "operator"],
    [`marks.due.${"mine"}.${cluster}.default.thing.a.1`],
    [`marks.at.${"theirs"}.${cluster}.default.thing.a.1`, "theirs", "worker", "operator"],
    [work.deadLetter(mine, key), "mine", "worker", "operator"],
    [work.deadLetter(theirs, key), "theirs", "worker", "operator"],
    [work.crashes(mine, key), "mine", "worker"],
    [echo("mine"), "mine", "worker"],
    [echo("theirs"), "theirs", "worker"],
    ["$JS.ACK.WORK_mine.test.1.1.1.1.0", "mine", "worker"],
    ["$JS.ACK.WORK_theirs.test.1.1.1.1.0", "theirs", "worker"],
    ["$JS.ACK.OBJECTS.mine_test.1.1.1.1.0", "mine", "worker"],
    ["$JS.ACK.OBJECTS.theirs_test.1.1.1.1.0", "theirs", "worker"],
    ["$JS.ACK.TIMERS_theirs.test.1.1.1.1.0", "theirs", "worker"],
    ["$JS.API.DIRECT.GET.DEADLETTERS.deadletters.mine.test.a.b", "mine", "worker", "operator"],
    ["$JS.API.DIRECT.GET.DEADLETTERS.deadletters.theirs.test.a.b", "theirs", "worker", "operator"],
    ["$JS.API.DIRECT.GET.KV_BRIDGE.$KV.BRIDGE.lease.test.g.Thing", "bridge"],
    ["webhooks.github.push.o.r", "gateway"],
    ["$SYS.REQ.SERVER.PING"],
    [`${inboxPrefixOf(userOf("bridge"))}.x`],
    ["anything"],
  ];

  test.for(table)("on %s", async ([subject, ...roles]) => {
    const may: string[] = [];
    for (const [role, bus] of buses) if (!(await refusesPublish(bus, subject))) may.push(role);
    expect(may.sort()).toEqual([...roles].sort());
  });
});

describe("a function with its rights", () => {
  const bus = () => busOf("mine");
  const queue = () => ticketQueue(bus(), mine, { replica: "test", markMillis: 600_000 });
  beforeAll(async () => {
    for (const fn of ["mine", "theirs"])
      for (const stream of [workStream(fn), timersStream(fn), streams.deadLetters])
        await admin.jsm.streams.purge(stream);
  });

  test("can not empty the letters of another one by a rollup", async () => {
    await deadLetters(busOf("theirs"), theirs).put(key, letter);
    const rollup = headers();
    rollup.set("Nats-Rollup", "all");
    const answer = await bus().inbox.request(work.deadLetter(mine, key), "{}", { headers: rollup });
    expect(answer.json()).toMatchObject({ error: { description: expect.stringMatching(/rollup/) } });
    expect(await deadLetters(busOf("theirs"), theirs).get(key)).toMatchObject({ reason: "ToldSo" });
  });

  test("can not have a schedule make a request of another one", async () => {
    const schedule = { at: new Date(Date.now() + 600_000), target: work.ticket(theirs, key) };
    const subject = work.timer(mine, key);
    await expect(publishUntilAnswered(bus(), subject, "{}", { schedule })).rejects.toThrow(/schedul/);
  });

  test("has its queue, timers, marks and letters", async () => {
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
    const starts = [await letters.noteStart(key), await letters.noteStart(key)] as const;
    expect(starts.map(({ before }) => before)).toEqual([0, 1]);
    await letters.survived(key, starts[1], "ended");
    expect((await letters.noteStart(key)).before).toBe(0);
  });
});

describe("an operator", () => {
  const letters = () => deadLetters(busOf("operator"), theirs);
  beforeAll(async () => {
    await admin.jsm.streams.purge(streams.deadLetters);
    await admin.jsm.streams.purge(workStream("theirs"));
    await deadLetters(busOf("theirs"), theirs).put(key, letter);
  });

  test("reads letters and replays one, which leaves nothing on the bus", async () => {
    const queue = ticketQueue(busOf("operator"), theirs, { replica: "operator" });
    expect((await letters().list()).map((found) => found.key)).toEqual([key]);
    await letters().replay(queue, key);
    expect(await letters().list()).toEqual([]);
    const messages = async (stream: string) => (await admin.jsm.streams.info(stream)).state.messages;
    expect(await messages(workStream("theirs"))).toBe(1);
    await expect.poll(() => messages(streams.deadLetters), { timeout: 20_000 }).toBe(0);
  });

  test("that replays takes away the letter that it has seen, not one that was written meanwhile", async () => {
    const its = deadLetters(busOf("theirs"), theirs);
    await its.put(key, letter);
    const queue = ticketQueue(busOf("operator"), theirs, { replica: "operator" });
    await letters().replay(
      {
        ...queue,
        async request(...request) {
          const outcome = await queue.request(...request);
          // The worker gives up again before the operator goes on.
          await its.put(key, { ...letter, reason: "Again" });
          return outcome;
        },
      },
      key,
    );
    expect((await letters().list()).map((found) => found.letter.reason)).toEqual(["Again"]);
  });
});

describe("a refusal is told to whoever asked, and nobody waits", () => {
  const patient = { timeoutMillis: 60_000 };

  test("as an error with user and subject", async () => {
    const error = await busOf("mine")
      .inbox.request(object, "{}", patient)
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(BusPermissionError);
    expect((error as Error).message).toContain(`does not let denrei-mine publish on "${object}"`);
    await expect(
      busOf("operator").inbox.collect("$JS.API.DIRECT.GET.OBJECTS", "{}", () => "last", patient),
    ).rejects.toBeInstanceOf(BusPermissionError);
  });

  test("also where a publish is tried until it is answered", async () => {
    await expect(publishUntilAnswered(busOf("mine"), work.ticket(theirs, key), "{}")).rejects.toBeInstanceOf(
      BusPermissionError,
    );
    const publisher = await publisherOf(admin, kind);
    await publisher.publish("added", stored(kind, "thing", 1, {}), "list");
    await publisher.settled();
  });

  test("also where it was the answers that may not be listened to", async () => {
    const foreign = { user: "denrei-mine", inboxPrefix: inboxPrefixOf(userOf("bridge")) };
    const inbox = openInbox(busOf("mine").nc, foreign);
    await busOf("mine").nc.flush();
    for (let asked = 0; asked < 2; asked++)
      await expect(inbox.request("$JS.API.INFO", "", patient)).rejects.toThrow(/may not|does not let/);
  });

  test("to who pulls from another one's queue, again and again but not in a loop", async () => {
    const refused: string[] = [];
    const twice = Promise.withResolvers<void>();
    const pull: Pull = startPull({
      bus: busOf("mine"),
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
    expect(refused[0]).toMatch(/^403 .*denrei-mine publish on "\$JS\.API\.CONSUMER\.MSG\.NEXT\.WORK_theirs/);
  });
});
