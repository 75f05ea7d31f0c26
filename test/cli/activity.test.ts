/** What an operator asks about workers: `working` and `history`, as the operator's user. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import hikawaFunction from "../../functions/zundoko/hikawa.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { wordsVariable } from "../../functions/zundoko/words.ts";
import { type Kit, type Replica, startKit } from "../harness/kit.ts";
import { untilQuiet } from "../harness/quiet.ts";
import { hikawa, isFinished } from "../harness/song.ts";
import { runHere } from "./here.ts";
import { run } from "./program.ts";

let kit: Kit;
let bus: Bus;
let worker: Replica;
const patience = { timeout: 60_000, interval: 100 };

const env = () => ({ NATS_URL: kit.platform.natsUrlFor("operator") });
const ask = (...args: string[]) => runHere(args, { env: env() });
async function said(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await ask(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}
const told = async (...args: string[]) => JSON.parse(await said(...args, "--json"));

beforeAll(async () => {
  kit = await startKit();
  bus = await connectBus({ url: kit.platform.natsUrl, name: "test" });
});
afterAll(async () => {
  await bus?.nc.close();
  await kit?.stop();
});

test("on a bus that nobody has used yet", async () => {
  expect(await said("working")).toBe(
    'No worker of the cluster "default" answers. Select another cluster with --cluster.\n',
  );
  expect(await told("working")).toEqual([]);
  // A process ends by itself, too.
  expect(await run(["working", "--json"], { env: env() })).toMatchObject({
    code: 0,
    stdout: "[]\n",
    stderr: "",
  });
  expect(await said("history", "hikawa", "default/song")).toContain("No history.");
  expect(await told("history", "--trace", "0af7651916cd43dd8448eb211c80319c")).toEqual([]);
});

test("history tells from the change to the writes, by kind, by function, and by trace", async () => {
  await kit.bridge("bridge-1");
  const env = { [wordsVariable]: "Zun,Zun,Zun,Zun,Doko" };
  worker = await kit.worker("worker-1", ["hikawa"], { env });
  await kit.client.create(Hikawa, hikawa("song", 10), { fieldManager: "test" });
  await kit.until(Hikawa, { name: "song" }, isFinished);
  const reconciles = async () =>
    (await told("history", "Hikawa", "default/song")) as Record<string, unknown>[];
  const writes = (records: readonly Record<string, unknown>[], verb: string) =>
    records
      .flatMap((record) => record.writes as { verb: string; kind: string }[])
      .filter((one) => one.verb === verb);
  await expect.poll(async () => writes(await reconciles(), "create").length, patience).toBe(6);
  // The last timer may still be due: its reconcile writes nothing, and is in the history.
  const left = async () => {
    const { functions } = await told("status");
    const { events, pending, parked, inFlight, delayed, retrying } = functions[0];
    return [events, pending, parked, inFlight, delayed, retrying];
  };
  const idle = [0, 0, 0, 0, 0, 0];
  await expect.poll(left, patience).toEqual(idle);
  // The bridge may have more events of the last writes to publish.
  await untilQuiet({ bus, client: kit.client, functions: [hikawaFunction] });
  // A worker publishes a record before its hands are empty.
  await expect.poll(() => said("working"), patience).toBe("1 worker, 0 in flight.\n");
  await expect.poll(left, patience).toEqual(idle);
  const all = await reconciles();
  expect(new Set(writes(all, "create").map(({ kind }) => kind))).toEqual(new Set(["Zundoko", "Kiyoshi"]));
  expect(all.map(({ time }) => time)).toEqual(all.map(({ time }) => time).sort());
  expect(await told("history", "hikawa", "default/song")).toEqual(all);
  const [first] = all;
  expect(first).toMatchObject({
    ...{ type: "reconcile", function: "hikawa", replica: "worker-1", attempt: 0 },
    causes: [expect.objectContaining({ type: "object", kind: "Hikawa", name: "song" })],
  });
  // A child has no function of its own: what wrote it is known all the same.
  const [created] = writes(all, "create") as unknown as { name: string }[];
  expect(await told("history", "zundokos", `default/${created?.name}`)).toEqual([
    expect.objectContaining({ writes: expect.arrayContaining([created]) }),
  ]);
  const trace = String(first?.trace);
  expect(await told("history", "--trace", trace)).toEqual(all.filter((record) => record.trace === trace));
  // From the last creation on: events of its writes may have made more reconciles since.
  const last = all.findIndex((record) => writes([record], "create").some(({ kind }) => kind === "Kiyoshi"));
  const limit = all.length - last;
  const text = await said("history", "hikawa", "default/song", "--limit", String(limit));
  expect(text).toMatch(/^TIME +WHAT +BY +TRACE\n/);
  expect(text).toContain("create Kiyoshi default/");
  expect(text).toContain(`Earlier reconciles are not shown. Raise --limit (now ${limit}) to see them.`);
});

test("working tells who is there, and what a wrong question lacks", async () => {
  await expect.poll(() => said("working"), patience).toBe("1 worker, 0 in flight.\n");
  expect(await told("working")).toEqual([
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
