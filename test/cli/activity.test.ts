/** What an operator asks about workers: `working` and `history`, as the operator's user. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import hikawaFunction from "../../functions/zundoko/hikawa.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { wordsVariable } from "../../functions/zundoko/words.ts";
import { type Replica, startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { untilQuiet } from "../harness/quiet.ts";
import { hikawa, isFinished } from "../harness/song.ts";
import { operatorCommands } from "./operator.ts";
import { run } from "./program.ts";

let environment: TestEnvironment;
let bus: Bus;
let worker: Replica;
const pollOptions = { timeout: 60_000, interval: 100 };

const { env, ask, output, json } = operatorCommands(() => environment.platform.natsUrlFor("operator"));

beforeAll(async () => {
  environment = await startTestEnvironment();
  bus = await connectBus({ url: environment.platform.natsUrl, name: "test" });
});
afterAll(async () => {
  await bus?.nc.close();
  await environment?.stop();
});

test("a new bus has neither workers nor a history", async () => {
  expect(await output("working")).toBe(
    'No worker of the cluster "default" answers. Select another cluster with --cluster.\n',
  );
  expect(await json("working")).toEqual([]);
  // A real process exits too.
  expect(await run(["working", "--json"], { env: env() })).toMatchObject({
    code: 0,
    stdout: "[]\n",
    stderr: "",
  });
  expect(await output("history", "hikawa", "default/song")).toContain("No history.");
  expect(await json("history", "--trace", "0af7651916cd43dd8448eb211c80319c")).toEqual([]);
});

test("history shows changes, reconciles, and writes by kind, function, and trace", async () => {
  await environment.bridge("bridge-1");
  const env = { [wordsVariable]: "Zun,Zun,Zun,Zun,Doko" };
  worker = await environment.worker("worker-1", ["hikawa"], { env });
  await environment.client.create(Hikawa, hikawa("song", 10), { fieldManager: "test" });
  await environment.until(Hikawa, { name: "song" }, isFinished);
  const reconciles = async () =>
    (await json("history", "Hikawa", "default/song")) as Record<string, unknown>[];
  const writes = (records: readonly Record<string, unknown>[], verb: string) =>
    records
      .flatMap((record) => record.writes as { verb: string; kind: string }[])
      .filter((one) => one.verb === verb);
  await expect.poll(async () => writes(await reconciles(), "create").length, pollOptions).toBe(6);
  // The last timer may still be due. Its reconcile writes nothing, but is in the history.
  const left = async () => {
    const { functions } = await json("status");
    const { events, pending, parked, inFlight, delayed, retrying } = functions[0];
    return [events, pending, parked, inFlight, delayed, retrying];
  };
  const idle = [0, 0, 0, 0, 0, 0];
  await expect.poll(left, pollOptions).toEqual(idle);
  // The bridge may have more events of the last writes to publish.
  await untilQuiet({ bus, client: environment.client, functions: [hikawaFunction] });
  // A worker publishes the record before the request is no longer in flight.
  await expect.poll(() => output("working"), pollOptions).toBe("1 worker, 0 in flight.\n");
  await expect.poll(left, pollOptions).toEqual(idle);
  const all = await reconciles();
  expect(new Set(writes(all, "create").map(({ kind }) => kind))).toEqual(new Set(["Zundoko", "Kiyoshi"]));
  expect(all.map(({ time }) => time)).toEqual(all.map(({ time }) => time).sort());
  expect(await json("history", "hikawa", "default/song")).toEqual(all);
  const [first] = all;
  expect(first).toMatchObject({
    ...{ type: "reconcile", function: "hikawa", replica: "worker-1", attempt: 0 },
    causes: [expect.objectContaining({ type: "object", kind: "Hikawa", name: "song" })],
  });
  // No function reconciles the child, but its history still has the reconcile that wrote it.
  const [created] = writes(all, "create") as unknown as { name: string }[];
  expect(await json("history", "zundokos", `default/${created?.name}`)).toEqual([
    expect.objectContaining({ writes: expect.arrayContaining([created]) }),
  ]);
  const trace = String(first?.trace);
  expect(await json("history", "--trace", trace)).toEqual(all.filter((record) => record.trace === trace));
  // From the last creation on: events of its writes may have made more reconciles since.
  const last = all.findIndex((record) => writes([record], "create").some(({ kind }) => kind === "Kiyoshi"));
  const limit = all.length - last;
  const text = await output("history", "hikawa", "default/song", "--limit", String(limit));
  expect(text).toMatch(/^TIME +WHAT +BY +TRACE\n/);
  expect(text).toContain("create Kiyoshi default/");
  expect(text).toContain(`Earlier reconciles are not shown. Raise --limit (now ${limit}) to see them.`);
});

test("history says where an object is if its namespace is missing or wrong", async () => {
  const is = "song is in the namespace default: denrei history hikawa default/song\n";
  expect(await ask("history", "hikawa", "song")).toMatchObject({
    ...{ code: 2, stdout: "" },
    stderr: `denrei: the namespace of the Hikawa song is missing. ${is}`,
  });
  expect(await output("history", "hikawa", "other/song")).toBe(
    `No history. Activity is kept for one day. ${is}`,
  );
  for (const [args, problem] of [
    [
      ["hikawa", "unknown"],
      "the namespace of the Hikawa unknown is missing. Expected denrei history hikawa <namespace>/unknown",
    ],
    [
      ["zundoko", "song-zundoko-001"],
      "the namespace of the Zundoko song-zundoko-001 is missing. Expected denrei history zundoko <namespace>/song-zundoko-001",
    ],
    [
      ["clustergithubapp", "default/app"],
      "a ClusterGitHubApp has no namespace: denrei history clustergithubapp app",
    ],
    [["hikawa", "default/"], '"default/" is not the name of an object: expected namespace/name'],
    [["hikawa", "a/b/c"], '"a/b/c" is not the name of an object: expected namespace/name'],
    [["hikwa", "default/song"], 'unknown kind or function "hikwa" (did you mean Hikawa?). Kinds: '],
  ] as const) {
    const { code, stderr } = await ask("history", ...args);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`denrei: ${problem}`) });
  }
});

test("working lists workers; history reports missing arguments", async () => {
  await expect.poll(() => output("working"), pollOptions).toBe("1 worker, 0 in flight.\n");
  expect(await json("working")).toEqual([
    {
      replica: worker.name,
      function: hikawaFunction.name,
      ...{ group: Hikawa.group, kind: Hikawa.kind },
      work: [],
      more: 0,
    },
  ]);
  for (const [args, problem] of [
    [["history"], "specify a kind (or function) and an object, or --trace"],
    [["history", "moon", "x"], 'unknown kind or function "moon". Kinds: '],
    [["history", "hikawa", "x", "--trace", "1"], "specify either an object or --trace, not both"],
  ] as const) {
    const { code, stderr } = await ask(...args);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(problem) });
  }
});
