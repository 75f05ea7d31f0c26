/**
 * The server publishes a response on the reply subject of its request without checking whether the client may publish there.
 * With a separate account, a role reaches only itself that way.
 */
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { busRoles } from "../../bus/permissions.ts";
import { streams, work } from "../../bus/subjects.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { inOneAccount, maxConnections } from "../../deploy/authorization.ts";
import {
  cluster,
  key,
  mine,
  objectOfBridge,
  openParties,
  options,
  type Parties,
  refusesPublish,
  subscriptions,
  theirs,
} from "./parties.ts";

/** Responses on these subjects would be other roles' requests, objects, and acknowledgments, or commands to the server. */
const targets = [
  objectOfBridge,
  work.ticket(mine, key),
  work.ticket(theirs, key),
  work.timer(theirs, key),
  `marks.at.theirs.${cluster}.default.thing.a.1`,
  work.deadLetter(theirs, key),
  "webhooks.github.push.o.r",
  "sessions.x",
  `activities.theirs.${cluster}.default.thing`,
  `$KV.BRIDGE.lease.${cluster}.g.Thing`,
  "$JS.API.STREAM.PURGE.WEBHOOKS",
  "$JS.API.STREAM.DELETE.OBJECTS",
  "$JS.API.STREAM.UPDATE.WEBHOOKS",
  "$JS.API.CONSUMER.DURABLE.CREATE.SESSIONS.x",
  "$JS.ACK.WORK_theirs.test.1.1.1.1.0",
  "_INBOX_denrei-bridge.x",
  "anything",
];

/** Payloads of requests: which message, how many, and an acknowledgment that asks for more. */
const bodies = [
  "",
  '{"seq":1}',
  '{"last_by_subj":">"}',
  '{"multi_last":[">"]}',
  '{"batch":5,"no_wait":true}',
  '+NXT {"batch":5,"no_wait":true}',
];

/** A stored message that is a request, an object, and a command at once. */
const forged = JSON.stringify({ cause: { type: "replay" }, attempt: 0, config: { name: "WEBHOOKS" } });

const own = busRoles(subscriptions, cluster).filter(({ account }) => account === "own");

/** A subject that matches this pattern. */
const matching = (subject: string): string => subject.replaceAll("*", "x").replace(/>$/, "a.b");

let parties: Parties;
/** The targets that received a message. */
let arrived: string[] = [];

beforeAll(async () => {
  parties = await openParties();
  await ensureTopology(parties.of("bridge"), options, subscriptions);
  for (const subject of targets)
    parties.admin.nc.subscribe(subject, { callback: () => void arrived.push(subject) });
});
afterAll(() => parties?.stop());

test.for(own)(
  "$name: responses of the server reach no subject of another role",
  async ({ name, permissions }) => {
    const bus = parties.of(name);
    const published = permissions?.publish.map(matching) ?? [];
    const isQuestion = (subject: string): boolean => /^\$JS\.(API|ACK)\./.test(subject);
    const questions = published.filter(isQuestion);
    // roles.test.ts covers what it may publish itself.
    const foreign: string[] = [];
    for (const target of targets) if (await refusesPublish(bus, target)) foreign.push(target);
    for (const subject of published) if (!isQuestion(subject)) bus.nc.publish(subject, forged);
    await bus.nc.flush();
    await parties.admin.nc.flush();
    arrived = [];

    const ask = async (reply: string): Promise<void> => {
      for (const question of questions) for (const body of bodies) bus.nc.publish(question, body, { reply });
      await bus.nc.flush();
    };
    for (const target of foreign) await ask(target);
    // The server responds in the order of the requests.
    const answer = bus.inbox.create();
    let answers = 0;
    bus.nc.subscribe(answer, { callback: () => void answers++ });
    await ask(answer);
    await expect.poll(() => answers).toBeGreaterThan(questions.length);
    await parties.admin.nc.flush();

    expect(arrived).toEqual([]);
    expect(foreign.length * questions.length * bodies.length).toBeGreaterThan(100);
  },
);

/**
 * Opens another connection of a role until the test ends, and resolves with the server's response to it. Everything is written
 * at once, because a client that writes to a connection closed by the server may lose the reason.
 */
function answerToNew(role: string): Promise<string> {
  const { hostname, port, username, password } = new URL(parties.urlOf(role));
  const login = JSON.stringify({ verbose: false, user: username, pass: password });
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    createInterface({ input: socket }).on("line", (line) => {
      if (line.startsWith("INFO")) socket.write(`CONNECT ${login}\r\nPING\r\n`);
      else resolve(line);
    });
  });
}

test("a role that opens too many connections does not exclude other roles", async () => {
  const answers: string[] = [];
  while (answers.length <= maxConnections && !answers.at(-1)?.startsWith("-ERR"))
    answers.push(await answerToNew(mine.fn));
  expect(answers.at(-1)).toMatch(/maximum account active connections/i);
  expect(await answerToNew(theirs.fn)).toBe("PONG");
});

test("with all roles in one account, a function can forge another function's ticket that way", async () => {
  const shared = await openParties(inOneAccount(busRoles(subscriptions, cluster)));
  onTestFinished(() => shared.stop());
  await ensureTopology(shared.of("bridge"), options, subscriptions);
  const tickets: string[] = [];
  shared.admin.nc.subscribe(work.ticket(theirs, key), {
    callback: (_error, message) => void tickets.push(message.string()),
  });
  await shared.admin.nc.flush();
  const { nc, inbox } = shared.of(mine.fn);
  const letter = work.deadLetter(mine, key);
  await inbox.request(letter, forged);
  nc.publish(`$JS.API.DIRECT.GET.${streams.deadLetters}.${letter}`, "", { reply: work.ticket(theirs, key) });
  await expect.poll(() => tickets).toContain(forged);
});
