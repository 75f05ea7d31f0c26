/** Following container logs. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Pod } from "../../bus/kube/kind.ts";
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
import { type EventReader, readEvents } from "../harness/eventreader.ts";
import { type SimulatedNode, startSimulatedNode } from "../harness/simulatednode.ts";
import type { Visitor } from "../harness/visitor.ts";
import { account, accountIn, imageIn } from "../kpack/environment.ts";

let environment: DashboardEnvironment;
let node: SimulatedNode;
let alice: Visitor;
const readers: EventReader[] = [];
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

interface Line {
  readonly at: string;
  readonly text: string;
  readonly isCut: boolean;
}

async function follow(pod: string, query = "", from?: string, namespace = team): Promise<EventReader> {
  const path = `/api/log?namespace=${namespace}&pod=${pod}&container=main${query}`;
  const reader = await readEvents(alice, path, from);
  readers.push(reader);
  return reader;
}

/** The texts of the next lines. */
async function next(reader: EventReader, count: number): Promise<string[]> {
  const texts: string[] = [];
  while (texts.length < count) texts.push((await reader.nextOf<Line>("line")).data.text);
  return texts;
}

const texts = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `line ${from + at}`);
const time = (millis: number) => new Date(Date.UTC(2026, 0, 2, 3, 4, 5) + millis);
const linesOf = ({ all }: EventReader) =>
  all.filter(({ event }) => event === "line").map(({ data }) => (data as Line).text);

test("sends the last lines, then new ones, then the end", async () => {
  const log = await node.pod(team, "ends", "main");
  log.write(time(0), ...texts(0, 600));
  const reader = await follow("ends");
  expect(reader.status).toBe(200);
  expect(await next(reader, 500)).toEqual(texts(100, 600));
  log.write(time(1), "more");
  expect(await reader.next()).toMatchObject({
    event: "line",
    id: "2026-01-02T03:04:05.001000000Z/1",
    data: { text: "more", at: "2026-01-02T03:04:05.001000000Z", isCut: false },
  });
  await log.end();
  expect(await reader.next()).toMatchObject({ event: "end" });
  expect(await reader.next()).toBeUndefined();
  // A client that reconnects gets no more lines either.
  const again = await follow("ends", "", reader.all.findLast(({ event }) => event === "line")?.id);
  expect(await again.next()).toMatchObject({ event: "end" });
  const short = await follow("ends", "&tailLines=2");
  expect(await next(short, 2)).toEqual(["line 599", "more"]);
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
  for (const [millis, count, taken] of [
    [700, 4, 2],
    [700, 0, 6],
    [700, 1, 1],
    [1400, 2, 5],
    [5000, 3, 4],
    [5000, 1, 1],
  ] as const) {
    write(millis, count);
    const reader = await follow("resumes", "", id);
    received.push(...(await next(reader, taken)));
    id = reader.all.at(-1)?.id;
    reader.close();
  }
  const rest = await follow("resumes", `&since=${id}`);
  await log.end();
  await rest.nextOf("end");
  expect([...received, ...linesOf(rest)]).toEqual(written);
});

test("reports an unreachable kubelet, and resumes the log afterwards", async () => {
  const log = await node.pod(team, "away", "main");
  log.write(time(0), ...texts(0, 3));
  const reader = await follow("away");
  await next(reader, 3);
  await node.away();
  expect(await reader.next()).toMatchObject({
    event: "problem",
    data: { status: 500, message: expect.stringContaining("connect") },
  });
  log.write(time(0), ...texts(3, 5));
  await node.back();
  expect(await reader.next()).toMatchObject({ event: "problem", data: { status: 0 } });
  log.write(time(10), ...texts(5, 7));
  await log.end();
  await reader.nextOf("end");
  expect(linesOf(reader)).toEqual(texts(0, 7));
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
  expect(await next(reader, odd.length)).toEqual(odd);
  const { data: long } = await reader.nextOf<Line>("line");
  expect(long.isCut).toBe(true);
  expect(long.text).toBe("long ".repeat(100_000).slice(0, long.text.length));
  expect(long.text.length).toBeGreaterThan(16_000);
  expect(long.text.length).toBeLessThanOrEqual(16_384);
  expect(await next(reader, 1)).toEqual(["after"]);
});

test("says why there is no log", async () => {
  await node.pod(team, "before", "main");
  const previous = await follow("before", "&previous=true");
  expect(await previous.next()).toMatchObject({
    event: "problem",
    data: { status: 400, message: expect.stringContaining("previous terminated container") },
  });
  expect(await previous.next()).toBeUndefined();
  const absent = await follow("nobody");
  expect(await absent.next()).toMatchObject({ event: "problem", data: { status: 404, reason: "NotFound" } });
  expect(await absent.next()).toBeUndefined();
  const forbidden = await follow("nobody", "", undefined, foreign);
  expect(await forbidden.next()).toMatchObject({
    event: "problem",
    data: { status: 403, reason: "Forbidden" },
  });
});

test.each([
  ["pod=x&container=main", "no namespace"],
  [`namespace=${team}&container=main`, "no pod"],
  [`namespace=${team}&pod=x`, "no container"],
  [`namespace=${team}&pod=x/y&container=main`, "an invalid pod name"],
  [`namespace=${team}&pod=x&container=main&tailLines=-1`, "a negative number of lines"],
  [`namespace=${team}&pod=x&container=main&tailLines=1e9`, "too many lines"],
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
    const open = async (container: string) => {
      const reader = await readEvents(
        alice,
        `/api/log?namespace=${team}&pod=${pod.name}&container=${container}`,
      );
      readers.push(reader);
      return reader;
    };
    const restore = await open("restore");
    expect(await restore.next()).toMatchObject({
      event: "problem",
      data: { status: 400, message: expect.stringContaining("waiting to start") },
    });
    const detect = await open("detect");
    expect(await next(detect, 1)).toEqual(["detect started"]);
    await client.mergePatch(
      Pod,
      pod,
      { metadata: { annotations: { "sim.kpk/hold-step": null } } },
      { fieldManager: "test" },
    );
    await detect.nextOf("end");
    expect(linesOf(detect)).toEqual(["detect started", "detect finished"]);
    expect(await restore.next()).toMatchObject({ event: "problem", data: { status: 0 } });
    await restore.nextOf("end");
    expect(linesOf(restore)).toEqual(["restore started", "restore finished"]);
  } finally {
    await kpack.stop();
  }
});
