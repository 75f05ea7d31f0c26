/** Following container logs. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Pod } from "../../bus/kube/kind.ts";
import { maxLogs } from "../../dashboard/api/log.ts";
import {
  type Pod as BuildPod,
  Image as KpackImage,
  ServiceAccount,
} from "../../deploy/simulators/kpack/kinds.ts";
import { type Kpack, startKpack } from "../../deploy/simulators/kpack/kpack.ts";
import {
  type DashboardEnvironment,
  foreign,
  people,
  startDashboardEnvironment,
  team,
} from "../harness/dashboard.ts";
import { type LogReader, readLogs } from "../harness/logreader.ts";
import { type SimulatedNode, startSimulatedNode } from "../harness/simulatednode.ts";
import type { Visitor } from "../harness/visitor.ts";
import { account, accountIn, imageIn } from "../kpack/environment.ts";

let environment: DashboardEnvironment;
let node: SimulatedNode;
let alice: Visitor;
const readers: LogReader[] = [];
beforeAll(async () => {
  environment = await startDashboardEnvironment();
  node = await startSimulatedNode(environment.client);
  alice = await environment.visitor(people.alice);
});
afterAll(async () => {
  for (const reader of readers) reader.close();
  await node?.stop();
  await environment?.stop();
});

/** Follows the container `main` of a pod. */
const follow = (
  pod: string,
  query: Readonly<Record<string, string>> = {},
  from?: string,
  namespace = team,
): Promise<LogReader> => open([`${pod}/main`], { query, from }, namespace);

async function open(
  logs: readonly string[],
  options: Parameters<typeof readLogs>[3] = {},
  namespace = team,
): Promise<LogReader> {
  const reader = await readLogs(alice, namespace, logs, options);
  readers.push(reader);
  return reader;
}

const texts = (from: number, to: number, of = "line") =>
  Array.from({ length: to - from }, (_, at) => `${of} ${from + at}`);
const time = (millis: number) => new Date(Date.UTC(2026, 0, 2, 3, 4, 5) + millis);
const textsOf = (reader: LogReader, log = 0) =>
  reader
    .lines()
    .filter(({ of }) => of === log)
    .map(({ text }) => text);

test("sends the last lines, then new ones, then the end", async () => {
  const log = await node.pod(team, "ends", "main");
  log.write(time(0), ...texts(0, 600));
  const reader = await follow("ends");
  expect(reader.status).toBe(200);
  expect(await reader.nextLines(500)).toEqual(texts(100, 600));
  log.write(time(1), "more");
  expect(await reader.next()).toMatchObject({
    event: "lines",
    id: "2026-01-02T03:04:05.001000000Z/1",
    data: { lines: [{ of: 0, text: "more", at: "2026-01-02T03:04:05.001000000Z", isCut: false }] },
  });
  await log.end();
  expect(await reader.next()).toMatchObject({ event: "end", data: { of: 0 } });
  expect(await reader.next()).toBeUndefined();
  // A client that reconnects gets no more lines either.
  const again = await follow("ends", {}, reader.all.at(-1)?.id);
  expect(await again.next()).toMatchObject({ event: "end" });
  const short = await follow("ends", { tailLines: "2" });
  expect(await short.nextLines(2)).toEqual(["line 599", "more"]);
  expect(await short.next()).toMatchObject({ event: "end" });
});

test("a client that reconnects gets each line once, even if many were written at once", async () => {
  const log = await node.pod(team, "resumes", "main");
  const written: string[] = [];
  const write = (millis: number, count: number) => {
    const more = texts(written.length, written.length + count);
    written.push(...more);
    log.write(time(millis), ...more);
  };
  write(0, 5);
  write(700, 3);
  let id: string | undefined;
  const received: string[] = [];
  // Each reader but the first continues among lines of the same time.
  for (const [millis, count] of [
    [700, 4],
    [700, 2],
    [700, 1],
    [1400, 2],
    [1400, 3],
    [5000, 1],
    [5000, 1],
  ] as const) {
    write(millis, count);
    const reader = await follow("resumes", {}, id);
    await reader.nextLines(written.length - received.length);
    received.push(...textsOf(reader));
    id = reader.all.at(-1)?.id;
    reader.close();
  }
  write(5000, 2);
  const rest = await follow("resumes", { since: id ?? "" });
  await log.end();
  await rest.nextOf("end");
  expect([...received, ...textsOf(rest)]).toEqual(written);
});

test("follows several logs over one stream, and resumes each of them without loss or repetition", async () => {
  const names = ["merged-a", "merged-b", "merged-c"];
  const logs = await Promise.all(names.map((name) => node.pod(team, name, "main")));
  const written = names.map((): string[] => []);
  const write = (of: number, millis: number, count: number) => {
    const more = texts(written[of]?.length ?? 0, (written[of]?.length ?? 0) + count, names[of]);
    written[of]?.push(...more);
    logs[of]?.write(time(millis), ...more);
  };
  const targets = names.map((name) => `${name}/main`);
  const received = names.map((): string[] => []);
  const take = (reader: LogReader) =>
    received.forEach((lines, of) => void lines.push(...textsOf(reader, of)));
  let id: string | undefined;
  // The third log is silent at first, and so has no position.
  for (const [a, b, c] of [
    [3, 1200, 0],
    [0, 2, 0],
    [5, 0, 4],
    [1, 1, 1],
  ] as const) {
    for (const [of, count] of [a, b, c].entries()) write(of, 700, count);
    const reader = await open(targets, { from: id, query: { tailLines: "2000" } });
    await reader.nextLines(a + b + c);
    take(reader);
    id = reader.all.at(-1)?.id;
    reader.close();
  }
  expect(id?.split(",")).toEqual(
    ["9", "1203", "5"].map((count) => `2026-01-02T03:04:05.700000000Z/${count}`),
  );
  const rest = await open(targets, { from: id });
  write(2, 700, 1);
  expect(await rest.nextLines(1)).toEqual(["merged-c 5"]);
  // A log that ends, and one that does not exist, leave the others alone.
  await logs[0]?.end();
  expect((await rest.nextOf("end")).data).toEqual({ of: 0 });
  write(1, 700, 2);
  await rest.nextLines(2);
  for (const log of logs.slice(1)) await log.end();
  await rest.nextOf("end");
  await rest.nextOf("end");
  expect(await rest.next()).toBeUndefined();
  take(rest);
  expect(received).toEqual(written);
  const partly = await open(["nobody/main", "merged-a/main"]);
  expect(await partly.nextLines(9)).toEqual(written[0]);
  expect(
    partly.all.find(({ event }) => event === "problem")?.data ?? (await partly.nextOf("problem")).data,
  ).toMatchObject({ of: 0, status: 404 });
});

test("reports an unreachable kubelet, and resumes the log afterwards", async () => {
  const log = await node.pod(team, "away", "main");
  log.write(time(0), ...texts(0, 3));
  const reader = await follow("away");
  await reader.nextLines(3);
  await node.away();
  expect(await reader.next()).toMatchObject({
    event: "problem",
    data: { of: 0, status: 500, message: expect.stringContaining("connect") },
  });
  log.write(time(0), ...texts(3, 5));
  await node.back();
  expect(await reader.next()).toMatchObject({ event: "problem", data: { of: 0, status: 0 } });
  log.write(time(10), ...texts(5, 7));
  await log.end();
  await reader.nextOf("end");
  expect(textsOf(reader)).toEqual(texts(0, 7));
});

test("sends any text unchanged, and cuts a line that is too long", async () => {
  const log = await node.pod(team, "odd", "main");
  const odd = [
    "",
    "\r",
    "data: x\r\revent: end\r\r",
    "id: 2026-01-02T03:04:05Z/1",
    "\u001b[31mred\u001b[0m\u0000\u2028",
    "<script>alert(1)</script> 寿司 🍣",
    '{"event":"end"}',
    "2026-01-02T03:04:05Z a time",
  ];
  log.write(time(0), ...odd, "long ".repeat(100_000), "after");
  const reader = await follow("odd");
  expect(await reader.nextLines(odd.length)).toEqual(odd);
  await reader.nextLines(2);
  const [long, after] = reader.lines().slice(odd.length);
  if (long === undefined) throw new Error("no line");
  expect([long.isCut, after?.isCut]).toEqual([true, false]);
  expect(long.text).toBe("long ".repeat(100_000).slice(0, long.text.length));
  expect(long.text.length).toBeGreaterThan(16_000);
  expect(long.text.length).toBeLessThanOrEqual(16_384);
  expect(after?.text).toBe("after");
});

test("says why there is no log", async () => {
  await node.pod(team, "before", "main");
  const previous = await follow("before", { previous: "true" });
  expect(await previous.next()).toMatchObject({
    event: "problem",
    data: { status: 400, message: expect.stringContaining("previous terminated container") },
  });
  expect(await previous.next()).toBeUndefined();
  const absent = await follow("nobody");
  expect(await absent.next()).toMatchObject({ event: "problem", data: { status: 404, reason: "NotFound" } });
  expect(await absent.next()).toBeUndefined();
  const forbidden = await follow("nobody", {}, undefined, foreign);
  expect(await forbidden.next()).toMatchObject({
    event: "problem",
    data: { status: 403, reason: "Forbidden" },
  });
});

test.each([
  ["of=x/main", "no namespace"],
  [`namespace=${team}`, "no log"],
  [`namespace=${team}&of=x`, "no container"],
  [`namespace=${team}&of=/main`, "no pod"],
  [`namespace=${team}&of=x/y/main`, "an invalid pod name"],
  [`namespace=${team}&of=x/main&of=y`, "one of two logs without a container"],
  [`namespace=${team}${"&of=x/main".repeat(maxLogs + 1)}`, "too many logs"],
  [`namespace=${team}&of=x/main&tailLines=-1`, "a negative number of lines"],
  [`namespace=${team}&of=x/main&tailLines=1e9`, "too many lines"],
])("rejects %s: %s", async (query) => {
  const answer = await alice.fetch(`/api/log?${query}`);
  expect([answer.status, await answer.json()]).toMatchObject([400, { reason: "NotAllowed" }]);
});

test("follows the steps of a build, also before they start", async () => {
  const { client } = environment;
  const kpack: Kpack = await startKpack({ client });
  try {
    await kpack.builder("default", "ready");
    await client.create(ServiceAccount, accountIn(team, account), { fieldManager: "test" });
    const annotations = { "sim.kpk/hold-step": "detect" };
    await client.create(KpackImage, imageIn(team, "web", { annotations }), { fieldManager: "test" });
    const pod = { namespace: team, name: "web-build-1-build-pod" };
    const isRunning = (step: string) => (found: BuildPod) =>
      found.status?.initContainerStatuses?.some(({ name, state }) => name === step && state.running) ?? false;
    await environment.until(Pod, pod, isRunning("detect") as never);
    const step = (container: string) => open([`${pod.name}/${container}`]);
    const restore = await step("restore");
    expect(await restore.next()).toMatchObject({
      event: "problem",
      data: { status: 400, message: expect.stringContaining("waiting to start") },
    });
    const detect = await step("detect");
    expect(await detect.nextLines(1)).toEqual(["detect started"]);
    await client.mergePatch(
      Pod,
      pod,
      { metadata: { annotations: { "sim.kpk/hold-step": null } } },
      { fieldManager: "test" },
    );
    await detect.nextOf("end");
    expect(textsOf(detect)).toEqual(["detect started", "detect finished"]);
    expect(await restore.next()).toMatchObject({ event: "problem", data: { status: 0 } });
    await restore.nextOf("end");
    expect(textsOf(restore)).toEqual(["restore started", "restore finished"]);
  } finally {
    await kpack.stop();
  }
});
