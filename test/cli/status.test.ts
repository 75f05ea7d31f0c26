/** `denrei status`, `requests`, and `deadletters` on a real platform. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type FunctionStatus, functionStatus, kindStatuses } from "../../bus/inspect/status.ts";
import { kindText } from "../../bus/kube/kind.ts";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import { ticketQueue } from "../../bus/queue/queue.ts";
import { newRequest } from "../../bus/queue/request.ts";
import { consumers, workStream } from "../../bus/subjects.ts";
import { kindsOf } from "../../bus/worker/function.ts";
import { functions } from "../../functions/index.ts";
import hikawaFunction from "../../functions/zundoko/hikawa.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { type Replica, startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { hikawa } from "../harness/song.ts";
import { operatorCommands } from "./operator.ts";
import { run } from "./program.ts";

let environment: TestEnvironment;
let bus: Bus;
let bridge: Replica;
let worker: Replica;
const cluster = "default";
const scope = { fn: "hikawa", cluster };
/** Too long for the names of children: a terminal error. */
const longName = "long".padEnd(250, "g");

const { env, ask, output, json } = operatorCommands(() => environment.platform.natsUrlFor("operator"));
const pollOptions = { timeout: 60_000, interval: 100 };
const queue = (): Promise<FunctionStatus> => functionStatus(bus, hikawaFunction, cluster);
/** The cells of the table row with this first cell. */
const row = (text: string, first: string): string[] | undefined =>
  text
    .split("\n")
    .map((line) => line.split(/ {2,}/))
    .find(([cell]) => cell === first);

beforeAll(async () => {
  environment = await startTestEnvironment();
  bus = await connectBus({ url: environment.platform.natsUrl, name: "test" });
});
afterAll(async () => {
  await bus?.nc.close();
  await environment?.stop();
});

test("reports a new bus", async () => {
  const text = await output("status");
  expect(row(text, "hikawa")).toEqual(["hikawa", "-", "-", "-", "-", "-", "-", "-"]);
  expect(row(text, "Hikawa.zundokokiyoshi.kaitoy.github.com")?.slice(1)).toEqual([
    "-",
    "-",
    "-",
    "-",
    "-",
    "-",
  ]);
  expect(text).toContain('No worker or bridge of the cluster "default" has used this bus');
  expect(await json("status")).toEqual({
    cluster,
    functions: functions.map(({ name }) => ({
      ...{ function: name, events: null, pending: null, parked: null },
      ...{ inFlight: null, delayed: null, retrying: null, deadLetters: null },
    })),
    kinds: [...new Set(functions.flatMap(kindsOf).map(kindText))].map((kind) => ({ kind, bridges: [] })),
  });
  expect(await output("deadletters", "list")).toBe("No dead letters.\n");
  // A process ends by itself, too.
  expect(await run(["status"], { env: env() })).toMatchObject({ code: 0, stdout: text, stderr: "" });
  expect(await json("deadletters", "list")).toEqual([]);
  expect(await output("deadletters", "replay", "hikawa", "--all")).toBe("No dead letters.\n");
  const shown = await ask("deadletters", "show", "hikawa", "default/x");
  expect(shown).toMatchObject({
    code: 1,
    stdout: "",
    stderr:
      "denrei: hikawa has no dead letter for default/x. List dead letters with `denrei deadletters list`.\n",
  });
});

test("an object that waits for its time is DELAYED, and the kinds are where the bridge is", async () => {
  [bridge, worker] = await Promise.all([
    environment.bridge("bridge-1"),
    environment.worker("worker-1", ["hikawa"]),
  ]);
  await environment.client.create(Hikawa, hikawa("waits", 3_600_000), { fieldManager: "test" });
  await expect.poll(queue, pollOptions).toMatchObject({ delayed: 1, pending: 0, inFlight: 0 });
  // The bridge writes down where it is once a second.
  const watched = async () =>
    (await kindStatuses(bus, [hikawaFunction], cluster)).map(({ bridges: [its] }) => [
      its?.state,
      its?.objects,
    ]);
  await expect.poll(watched, pollOptions).toEqual([
    ["watching", 1],
    ["watching", 1],
    ["watching", 0],
  ]);
  // Events of the last writes may still be on their way.
  await expect
    .poll(async () => row(await output("status"), "hikawa"), pollOptions)
    .toEqual(["hikawa", "0", "0", "0", "0", "1", "0", "0"]);
  const text = await output("status");
  expect(text.split("\n")[0]).toMatch(
    /^FUNCTION +EVENTS +PENDING +PARKED +IN FLIGHT +DELAYED +RETRYING +DEAD LETTERS$/,
  );
  expect(text).toMatch(/^KIND +NAMESPACE +OBJECTS +BRIDGE +STATE +POSITION +MOVED$/m);
  const kind = (name: string) => row(text, `${name}.zundokokiyoshi.kaitoy.github.com`)?.slice(1);
  expect(kind("Hikawa")?.slice(0, 4)).toEqual(["(all)", "1", "bridge-1", "watching"]);
  expect(kind("Zundoko")?.slice(0, 4)).toEqual(["(all)", "1", "bridge-1", "watching"]);
  expect(kind("Kiyoshi")?.slice(0, 4)).toEqual(["(all)", "0", "bridge-1", "watching"]);
  expect(kind("Hikawa")?.slice(4)).toEqual([
    expect.stringMatching(/^\d+$/),
    expect.stringMatching(/^(\d+m)?\d+s ago$/),
  ]);
  expect(await output("status", "--cluster", "other")).toContain('cluster "other" has used this bus');
});

test("lists, shows, and replays a dead letter", async () => {
  await environment.client.create(Hikawa, hikawa(longName, 0), { fieldManager: "test" });
  await expect.poll(queue, pollOptions).toMatchObject({ deadLetters: 1 });
  const object = `default/${longName}`;
  const text = await output("deadletters", "list");
  expect(text.split("\n")[0]).toMatch(/^FUNCTION +OBJECT +REASON +ATTEMPTS +AGE +MESSAGE$/);
  expect(row(text, "hikawa")?.slice(0, 3)).toEqual(["hikawa", object, "NameTooLong"]);
  const [letter, ...others] = await json("deadletters", "list", "--function", "hikawa");
  expect(others).toEqual([]);
  expect(letter).toMatchObject({
    ...scope,
    key: { namespace: "default", name: longName },
    letter: { reason: "NameTooLong", replica: "worker-1" },
  });
  expect(await json("deadletters", "list", "--cluster", "other")).toEqual([]);

  const shown = await output("deadletters", "show", "hikawa", object);
  expect(shown).toMatch(/^reason: +NameTooLong$/m);
  expect(shown).toMatch(/^cause: +Hikawa default\/long\S+ at resourceVersion \d+$/m);
  expect(shown).toContain("Create the Hikawa again under a name that is");
  expect(await json("deadletters", "show", "hikawa", object)).toEqual(letter.letter);

  for (const command of ["show", "replay"])
    expect(await ask("deadletters", command, "hikawa", longName)).toMatchObject({
      ...{ code: 2, stdout: "" },
      stderr: `denrei: the namespace of the Hikawa ${longName} is missing. ${longName} is in the namespace default: denrei deadletters ${command} hikawa ${object}\n`,
    });
  expect(await ask("deadletters", "replay", "hikawa", "default/x")).toMatchObject({ code: 1, stdout: "" });
  expect(await output("deadletters", "replay", "hikawa", object)).toBe(
    `hikawa will reconcile ${object} again.\n`,
  );
  // The replay fails again.
  const time = async () => (await json("deadletters", "list"))[0]?.letter.time ?? letter.letter.time;
  await expect.poll(time, pollOptions).not.toBe(letter.letter.time);
});

test("a replay is PENDING without a worker, then IN FLIGHT; a change in the meantime is PARKED", async () => {
  await worker.stop();
  expect(await output("deadletters", "replay", "hikawa", "--all")).toContain(`default/${longName} again.`);
  expect(await output("deadletters", "list")).toBe("No dead letters.\n");
  expect((await json("status")).functions[0]).toMatchObject({ pending: 1, inFlight: 0, deadLetters: 0 });

  const pending = {
    ...{ function: "hikawa", object: `default/${longName}`, state: "pending", time: expect.any(String) },
    ...{ due: null, attempt: 0, reason: null, cause: "replay" },
  };
  const delayed = {
    ...{ function: "hikawa", object: "default/waits", state: "delayed", time: expect.any(String) },
    ...{ due: expect.any(String), attempt: 0, reason: null, cause: "timer" },
  };
  expect(await json("requests", "hikawa")).toEqual([pending, delayed]);
  expect(await output("requests", "githubapp")).toBe("No requests.\n");
  const apps = ticketQueue(bus, { fn: "githubapp", cluster }, { replica: "test" });
  await apps.request({ namespace: "default", name: "app" }, newRequest({ type: "replay" }));
  const app = { ...pending, function: "githubapp", object: "default/app" };
  expect(await json("requests")).toEqual([pending, app, delayed]);
  expect(await json("requests", "--state", "retrying,delayed")).toEqual([delayed]);
  expect(await output("requests", "--limit", "1")).toContain("2 more. Raise --limit (now 1) to see them.");

  const tickets = await bus.js.consumers.get(workStream("hikawa"), consumers.worker(scope));
  const ticket = await tickets.next({ expires: 60_000 });
  // A worker keeps extending the deadline of an in-flight ticket.
  const working = setInterval(() => ticket?.working(), 1000);
  onTestFinished(() => {
    clearInterval(working);
    ticket?.nak();
  });
  expect((await json("status")).functions[0]).toMatchObject({ pending: 0, inFlight: 1 });

  const [, first = "", second = ""] = (await output("requests", "hikawa")).split("\n");
  expect(first).toMatch(/^hikawa +default\/long\S+ +in-flight +\d+s +now +0 +- +replay$/);
  expect(second).toMatch(/^hikawa +default\/waits +delayed +\d+\w* +in \d+m +0 +- +timer$/);

  const key = { namespace: "default", name: longName };
  expect(
    await ticketQueue(bus, scope, { replica: "test", markMillis: 600_000 }).request(
      key,
      newRequest({ type: "replay" }),
    ),
  ).toBe("owned");
  expect(await queue()).toMatchObject({ parked: 1, pending: 0, inFlight: 1 });
});

test("new objects count as EVENTS without a worker, also in the bridge's metrics", async () => {
  const { events: before = 0 } = await queue();
  const names = ["new-1", "new-2", "new-3"];
  for (const name of names)
    await environment.client.create(Hikawa, hikawa(name, 0), { fieldManager: "test" });
  await expect
    .poll(async () => (await queue()).events, pollOptions)
    .toBeGreaterThanOrEqual(before + names.length);
  const { events } = (await json("status")).functions[0];
  expect(events).toBeGreaterThanOrEqual(before + names.length);
  expect(Number(row(await output("status"), "hikawa")?.[1])).toBeGreaterThanOrEqual(events);
  const waiting = /^denrei_events_waiting\{name="hikawa"\} (\d+)$/m;
  const scraped = Number(waiting.exec((await bridge.probe("/metrics")).text)?.[1]);
  expect(scraped).toBeGreaterThanOrEqual(events);
});
