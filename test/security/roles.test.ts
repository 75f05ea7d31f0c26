/** What each role must not do on the bus, tried on a real server with its generated users. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Bus } from "../../bus/nats/connect.ts";
import { inboxPrefixOf, userOf } from "../../bus/nats/identity.ts";
import { watched } from "../../bus/objects/watchsubjects.ts";
import {
  activity,
  activityStream,
  consumers,
  indexes,
  kindSubjects,
  streams,
  timersStream,
  work,
  working,
  workStream,
} from "../../bus/subjects.ts";
import {
  ensureFunctions,
  ensureTopology,
  type FunctionSubscription,
  TopologyError,
} from "../../bus/topology.ts";
import {
  cluster,
  key,
  kind,
  mine,
  objectOfBridge,
  openParties,
  options,
  type Parties,
  refusesPublish,
  subscriptions,
  theirs,
} from "./parties.ts";

/** Every stream that a request of the JetStream API may name. */
const streamNames = [
  ...Object.values(streams),
  "KV_BRIDGE",
  ...subscriptions.flatMap(({ scope: { fn } }) => [workStream(fn), timersStream(fn), activityStream(fn)]),
];

let parties: Parties;
beforeAll(async () => {
  parties = await openParties();
});
afterAll(() => parties?.stop());

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

/** The roles whose processes `run` replaces. */
const partsOfRun = ["bridge", "gateway", "worker"];
/** Roles that may do something, and `run` if one of its parts may. */
const withRun = (roles: readonly string[]): string[] =>
  (roles.some((role) => partsOfRun.includes(role)) ? [...roles, "run"] : [...roles]).sort();

describe("before the bridge has created the streams", () => {
  test.for(["worker", "mine"])("%s reports the missing stream and its creator", async (role) => {
    const error = await ensureFunctions(parties.of(role), options, subscriptions.slice(0, 1)).catch(
      (caught: unknown) => caught,
    );
    expect(error).toBeInstanceOf(TopologyError);
    expect((error as Error).message).toMatch(
      new RegExp(`expected the stream \\w+ on the bus .* found none, and ${userOf(role)} may not .*bridge`),
    );
    expect(await parties.admin.jsm.streams.names().next()).toEqual([]);
  });

  test("the bridge creates all streams, and every function finds its own", async () => {
    await ensureTopology(parties.of("bridge"), options, subscriptions);
    for (const subscription of subscriptions)
      await ensureFunctions(parties.of(subscription.scope.fn), options, [subscription]);
    await ensureFunctions(parties.of("worker"), options, subscriptions);
    expect((await parties.admin.jsm.streams.names().next()).sort()).toEqual([...streamNames].sort());
  });

  test("a worker that expects another configuration on the bus reports it and changes nothing", async () => {
    const other = { ...options, ackWaitMillis: 7000 };
    await expect(ensureFunctions(parties.of("mine"), other, subscriptions.slice(0, 1))).rejects.toThrow(
      /consumer test of WORK_mine.*another configuration/,
    );
    const { config } = await parties.admin.jsm.consumers.info(workStream("mine"), consumers.worker(mine));
    expect(config.ack_wait).toBe(options.ackWaitMillis * 1e6);
  });
});

/** Requests of the JetStream API that change or reveal a stream. */
const streamVerbs = [
  "STREAM.INFO",
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

/** Names of routers start like those of webhook consumers, and contain a hash of the subscription. */
const routers = {
  mine: consumers.router(subscriptions[0] as FunctionSubscription),
  theirs: consumers.router(subscriptions[1] as FunctionSubscription),
};
const consumerNames = ["x", "test", "mine_test", ...Object.values(routers)];

const whatIsShown = [
  ...streamNames
    .filter((name) => !["OBJECTS", "INDEXES", "SESSIONS"].includes(name))
    .map((name) => `STREAM.INFO.${name}`),
  "DIRECT.GET.WEBHOOKS",
  "DIRECT.GET.DEADLETTERS",
  "DIRECT.GET.KV_BRIDGE",
  "DIRECT.GET.WORK_mine",
  "DIRECT.GET.WORK_theirs",
  "DIRECT.GET.TIMERS_mine",
  "DIRECT.GET.TIMERS_theirs",
  "DIRECT.GET.ACTIVITY_mine",
  "DIRECT.GET.ACTIVITY_theirs",
  // The number of pending messages, for any cluster.
  ...["OBJECTS", "WEBHOOKS", "WORK_mine", "WORK_theirs", "TIMERS_mine", "TIMERS_theirs"].flatMap((stream) =>
    consumerNames.map((name) => `CONSUMER.INFO.${stream}.${name}`),
  ),
];

/** The requests that each role may make; all others in the table are denied. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  bridge: [
    ...streamNames.flatMap((name) => ["INFO", "CREATE", "UPDATE"].map((verb) => `STREAM.${verb}.${name}`)),
    "STREAM.MSG.GET.OBJECTS",
    "STREAM.MSG.GET.KV_BRIDGE",
    "DIRECT.GET.KV_BRIDGE",
    "CONSUMER.CREATE.OBJECTS",
    ...consumerNames.flatMap((name) =>
      ["INFO", "DELETE", "MSG.NEXT"].map((verb) => `CONSUMER.${verb}.OBJECTS.${name}`),
    ),
    ...["INFO", "DURABLE.CREATE", "DELETE", "PAUSE"].map((verb) => `CONSUMER.${verb}.WEBHOOKS.mine_test`),
    ...(["mine", "theirs"] as const).flatMap((fn) =>
      ["INFO", "DURABLE.CREATE", "DELETE", "PAUSE"].flatMap((verb) => [
        `CONSUMER.${verb}.OBJECTS.${routers[fn]}`,
        `CONSUMER.${verb}.WORK_${fn}.test`,
        `CONSUMER.${verb}.TIMERS_${fn}.test`,
      ]),
    ),
  ],
  gateway: ["WEBHOOKS", "KV_BRIDGE"].flatMap((name) => [`STREAM.INFO.${name}`, `DIRECT.GET.${name}`]),
  operator: whatIsShown,
  dashboard: [...whatIsShown, "STREAM.INFO.SESSIONS", "STREAM.MSG.GET.SESSIONS"],
  backup: ["DEADLETTERS", "WEBHOOKS"].flatMap((name) => [`STREAM.INFO.${name}`, `STREAM.SNAPSHOT.${name}`]),
  restore: ["DEADLETTERS", "WEBHOOKS"].flatMap((name) => [`STREAM.INFO.${name}`, `STREAM.RESTORE.${name}`]),
  mine: [
    ...["OBJECTS", "WORK_mine", "TIMERS_mine"].map((name) => `STREAM.INFO.${name}`),
    "DIRECT.GET.OBJECTS",
    "DIRECT.GET.INDEXES",
    "STREAM.MSG.GET.INDEXES",
    "DIRECT.GET.TIMERS_mine",
    "STREAM.PURGE.TIMERS_mine",
    "STREAM.MSG.DELETE.TIMERS_mine",
    "DIRECT.GET.WORK_mine",
    "STREAM.MSG.DELETE.WORK_mine",
    ...[`OBJECTS.${routers.mine}`, "WEBHOOKS.mine_test", "WORK_mine.test", "TIMERS_mine.test"].flatMap(
      (name) => [`CONSUMER.INFO.${name}`, `CONSUMER.MSG.NEXT.${name}`],
    ),
  ],
};

const asked = [
  ...streamVerbs.flatMap((verb) => streamNames.map((name) => `${verb}.${name}`)),
  ...consumerVerbs.flatMap((verb) =>
    streamNames.flatMap((name) => consumerNames.map((consumer) => `${verb}.${name}.${consumer}`)),
  ),
  ...["STREAM.NAMES", "STREAM.LIST", "ACCOUNT.PURGE.x", "SERVER.REMOVE", "META.LEADER.STEPDOWN"],
];

/** The requests that the server does not deny to a role. */
async function heardOf(role: string): Promise<string[]> {
  const heard: string[] = [];
  for (const question of asked)
    if (!(await refusesPublish(parties.of(role), `$JS.API.${question}`))) heard.push(question);
  return heard.sort();
}

test("run may make the JetStream requests of its parts, and is denied all others", async () => {
  const parts = await Promise.all(partsOfRun.map(heardOf));
  expect(await heardOf("run")).toEqual([...new Set(parts.flat())].sort());
});

describe.each(Object.keys(allowed))("%s", (role) => {
  test("may make the JetStream requests it needs, and is denied all others", async () => {
    expect(await heardOf(role)).toEqual([...new Set(allowed[role])].sort());
    expect(asked.length).toBeGreaterThan(250);
  });

  test("cannot subscribe to other roles' responses or data", async () => {
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
      "indexes.>",
      "indexes.mine.>",
      "watched.>",
      "watched.mine.>",
      "activities.>",
      "activities.mine.>",
      "sessions.>",
      "working.>",
      "echoes.>",
      "echoes.theirs.>",
      echo("theirs"),
      "_INBOX.>",
      "_INBOX.*",
      ...["bridge", "gateway", "dashboard", "operator", "run", "worker", "mine", "theirs", "admin"]
        .filter((other) => other !== role)
        .map((other) => `${inboxPrefixOf(userOf(other))}.>`),
    ];
    for (const subject of subjects)
      expect([subject, await refusesSubscribe(parties.of(role), subject)]).toEqual([subject, true]);
    expect(await refusesSubscribe(parties.of(role), `${inboxPrefixOf(userOf(role))}.one.*`)).toBe(false);
  });
});

describe("listening", () => {
  /** Subjects, and the roles that may subscribe to them. */
  const table: readonly [subject: string, ...roles: string[]][] = [
    [activity.every(cluster), "dashboard"],
    [activity.every("elsewhere")],
    [activity.all(mine), "dashboard"],
    [kindSubjects(cluster, kind), "dashboard"],
    [kindSubjects("elsewhere", kind)],
    [working.asked(cluster), "mine", "theirs", "worker"],
    [working.answers(cluster), "dashboard", "operator"],
    [working.answers("elsewhere")],
  ];

  test.for(table)("to %s", async ([subject, ...roles]) => {
    const may: string[] = [];
    for (const [role, bus] of parties.buses) if (!(await refusesSubscribe(bus, subject))) may.push(role);
    expect(may.sort()).toEqual(withRun(roles));
  });
});

const echo = (fn: string): string => `echoes.${fn}.${cluster}`;

describe("publishing", () => {
  /** Subjects, and the roles that may publish on them. */
  const table: readonly [subject: string, ...roles: string[]][] = [
    [objectOfBridge, "bridge"],
    [objectOfBridge.replace("Thing", "Other")],
    [objectOfBridge.replace(".test.", ".elsewhere.")],
    ["$KV.BRIDGE.lease.test.g.Thing", "bridge"],
    ["$KV.BRIDGE.position.test.g.Thing", "bridge"],
    ["$KV.BRIDGE.project.test.apples", "bridge"],
    ["$KV.BRIDGE.lease.elsewhere.g.Thing"],
    ["$KV.OTHER.x"],
    [work.ticket(mine, key), "mine", "worker", "operator", "dashboard"],
    [work.ticket(theirs, key), "theirs", "worker", "operator", "dashboard"],
    [work.ticket({ fn: "mine", cluster: "elsewhere" }, key)],
    [work.timer(mine, key), "mine", "worker"],
    [work.timer(theirs, key), "theirs", "worker"],
    [work.timerDue(mine, key)],
    [work.timerDue(theirs, key)],
    [`marks.at.${"mine"}.${cluster}.default.thing.a.1`, "mine", "worker"],
    [`marks.due.${"mine"}.${cluster}.default.thing.a.1`],
    [`marks.at.${"theirs"}.${cluster}.default.thing.a.1`, "theirs", "worker"],
    [work.deadLetter(mine, key), "mine", "worker", "operator", "dashboard"],
    [work.deadLetter(theirs, key), "theirs", "worker", "operator", "dashboard"],
    [work.crashes(mine, key), "mine", "worker"],
    [echo("mine"), "mine", "worker"],
    [echo("theirs"), "theirs", "worker"],
    ["$JS.ACK.WORK_mine.test.1.1.1.1.0", "mine", "worker"],
    ["$JS.ACK.WORK_theirs.test.1.1.1.1.0", "theirs", "worker"],
    [`$JS.ACK.OBJECTS.${routers.mine}.1.1.1.1.0`, "mine", "worker"],
    ["$JS.ACK.WEBHOOKS.mine_test.1.1.1.1.0", "mine", "worker"],
    [`$JS.ACK.OBJECTS.${routers.theirs}.1.1.1.1.0`, "theirs", "worker"],
    ["$JS.ACK.TIMERS_theirs.test.1.1.1.1.0", "theirs", "worker"],
    ["$JS.API.DIRECT.GET.DEADLETTERS.deadletters.mine.test.a.b", "mine", "worker", "operator", "dashboard"],
    [
      "$JS.API.DIRECT.GET.DEADLETTERS.deadletters.theirs.test.a.b",
      "theirs",
      "worker",
      "operator",
      "dashboard",
    ],
    ["$JS.API.DIRECT.GET.KV_BRIDGE.$KV.BRIDGE.lease.test.g.Thing", "bridge"],
    ["webhooks.github.push.o.r", "gateway", "operator", "dashboard"],
    [indexes.entry(mine, "repository", "o/r", key), "mine", "worker"],
    [indexes.entry(theirs, "repository", "o/r", key)],
    [indexes.entry({ fn: "mine", cluster: "elsewhere" }, "repository", "o/r", key)],
    [watched.record(mine, { ...key, group: "g", kind: "Thing", owner: "" }, 0), "mine", "worker"],
    [watched.record(theirs, { ...key, group: "g", kind: "Thing", owner: "" }, 0)],
    ["$JS.SNAPSHOT.ACK.DEADLETTERS.a.b", "backup"],
    ["$JS.SNAPSHOT.RESTORE.WEBHOOKS.a", "restore"],
    ["$JS.SNAPSHOT.RESTORE.OBJECTS.a"],
    [activity.of(mine, key), "mine", "worker"],
    [activity.of(theirs, key), "theirs", "worker"],
    [activity.of({ fn: "mine", cluster: "elsewhere" }, key)],
    [working.asked(cluster), "operator", "dashboard"],
    [working.asked("elsewhere")],
    [working.answer(mine), "mine", "worker"],
    [working.answer(theirs), "theirs", "worker"],
    ["$JS.API.STREAM.MSG.GET.SESSIONS", "dashboard"],
    ["sessions.x", "dashboard"],
    ["$SYS.REQ.SERVER.PING"],
    [`${inboxPrefixOf(userOf("bridge"))}.x`],
    ["anything"],
  ];

  test.for(table)("on %s", async ([subject, ...roles]) => {
    const may: string[] = [];
    for (const [role, bus] of parties.buses) if (!(await refusesPublish(bus, subject))) may.push(role);
    expect(may.sort()).toEqual(withRun(roles));
  });
});
