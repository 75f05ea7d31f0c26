/** The dashboard's bus API and its access checks, with real parts. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { crdOf } from "../../bus/kube/crd.ts";
import type {
  BusFigures,
  BusRights,
  DeadLetterDetail,
  DeadLetterList,
  History,
  HistoryEntry,
  LivePast,
  LiveSample,
  ReconcileEntry,
  Working,
} from "../../dashboard/api/bus.ts";
import { crdManifests } from "../../deploy/generate/crds.ts";
import { functions } from "../../functions/index.ts";
import { Branch } from "../fixtures/functions/branches.ts";
import { Probe } from "../fixtures/functions/probe.ts";
import { Sticker } from "../fixtures/functions/stickers.ts";
import type { DashboardEnvironment } from "../harness/dashboard.ts";
import { foreign, people, startDashboardEnvironment, team } from "../harness/dashboard.ts";
import type { GatewayReplica, Replica } from "../harness/environment.ts";
import { readEvents } from "../harness/eventreader.ts";
import { grantBus } from "../harness/rights.ts";
import type { Visitor } from "../harness/visitor.ts";
import { hookOf, post, push } from "../harness/webhooks.ts";

const paths = ["probe", "branches", "stickers"].map((name) =>
  fileURLToPath(new URL(`../fixtures/functions/${name}.ts`, import.meta.url)),
);
const group = "test.denrei.dev";
const polling = { timeout: 60_000, interval: 100 };

let environment: DashboardEnvironment;
let workers: Replica[];
let gateway: GatewayReplica;
let alice: Visitor;
let bob: Visitor;
beforeAll(async () => {
  environment = await startDashboardEnvironment({
    crds: [...crdManifests(functions), ...[Probe, Branch, Sticker].map((kind) => crdOf(kind))],
    functions: paths,
  });
  await environment.bridge("bridge-1", { args: paths });
  workers = await Promise.all([1, 2].map((n) => environment.worker(`worker-${n}`, paths)));
  gateway = await environment.gateway("gateway-1");
  await grantBus(environment.client, people.alice.name);
  [alice, bob] = [await environment.visitor(people.alice), await environment.visitor(people.bob)];
});
afterAll(() => environment?.stop());

interface Answer<T> {
  readonly status: number;
  readonly body: T & { readonly reason?: string; readonly message?: string };
}

async function get<T>(user: Visitor, path: string): Promise<Answer<T>> {
  const response = await user.fetch(`/api/bus/${path}`);
  return { status: response.status, body: (await response.json()) as Answer<T>["body"] };
}

async function replay(user: Visitor, name: string, headers = {}): Promise<Answer<object>> {
  const path = `/api/bus/deadletters/probe/${team}/${name}/replay`;
  const response = await user.fetch(path, { method: "POST", headers });
  return { status: response.status, body: (await response.json()) as object };
}

const create = (name: string, spec: Probe["spec"]) =>
  environment.client.create(
    Probe,
    { apiVersion: `${group}/v1`, kind: "Probe", metadata: { namespace: team, name }, spec },
    { fieldManager: "test" },
  );
const change = (name: string, spec: Partial<Probe["spec"]>) =>
  environment.client.mergePatch(Probe, { namespace: team, name }, { spec }, { fieldManager: "test" });

const of = (kind: string, name: string, namespace = team) =>
  `history?${new URLSearchParams({ group, kind, namespace, name })}`;
const entriesOf = ({ traces }: History): HistoryEntry[] => traces.flatMap(({ entries }) => entries);
const isReconcile = (entry: HistoryEntry): entry is ReconcileEntry => entry.type === "reconcile";
const reconciles = async (user: Visitor, path: string): Promise<ReconcileEntry[]> =>
  entriesOf((await get<History>(user, path)).body).filter(isReconcile);
const figuresOf = async (name: string) =>
  (await get<BusFigures>(alice, "figures")).body.functions.find((one) => one.function === name);
const lettersOf = async (user: Visitor) =>
  (await get<DeadLetterList>(user, `deadletters?namespace=${team}&function=probe`)).body.items;

const replicas = async () => (await get<Working>(bob, `working?namespace=${team}`)).body.replicas;

test("RBAC decides what a user may see", async () => {
  const rights = async (user: Visitor, namespace = "") =>
    (await get<BusRights>(user, `rights?namespace=${namespace}`)).body;
  const allowed = { functions: true, activity: true, deadLetters: true, replay: true };
  const none = { functions: false, activity: false, deadLetters: false, replay: false };
  expect(await rights(alice)).toEqual({ ...none, functions: true });
  expect(await rights(alice, team)).toEqual({ ...none, ...allowed });
  expect(await rights(alice, foreign)).toEqual({ ...none, functions: true });
  expect(await rights(bob)).toEqual(none);
  expect(await rights(bob, team)).toEqual({ ...none, activity: true, deadLetters: true });
  const forbidden = [
    "figures",
    "live",
    "working",
    "functions/probe",
    "deadletters",
    `working?namespace=${foreign}`,
    "history?trace=1",
  ];
  for (const path of [
    ...forbidden,
    `deadletters?namespace=${foreign}`,
    of("Probe", "x", foreign),
    of("Probe", "x", ""),
  ])
    expect([path, (await get(bob, path)).status]).toEqual([path, 403]);
  expect((await get(bob, "deadletters")).body).toEqual({
    reason: "Forbidden",
    message:
      "You lack the right to list deadletters.denrei.dev in the whole cluster. Choose a namespace, or ask an administrator for a role.",
  });
  const nobody = await fetch(`${environment.url}/api/bus/figures`);
  expect(nobody.status).toBe(401);
});

test("a failing object counts as retrying, and its history has each attempt with its writes", async () => {
  await create("fails", { mode: "throw" });
  await expect.poll(async () => (await figuresOf("probe"))?.retrying, polling).toBe(1);
  await expect
    .poll(async () => (await reconciles(bob, of("Probe", "fails"))).length, polling)
    .toBeGreaterThanOrEqual(3);
  const found = (await reconciles(bob, of("Probe", "fails"))).slice(0, 3);
  expect(found.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
    [0, "retry"],
    [1, "retry"],
    [2, "retry"],
  ]);
  const object = { group, kind: "Probe", namespace: team, name: "fails" };
  expect(found[0]).toMatchObject({
    ...{ function: "probe", object, replica: expect.stringMatching(/^worker-[12]$/), moreCauses: 0 },
    causes: [{ type: "object", object, resourceVersion: expect.stringMatching(/^\d+$/) }],
    error: { name: "Error", message: "the spec asks for an exception" },
    nextInMillis: expect.any(Number),
    writes: [],
  });
  // The third failure writes the condition.
  expect(found[2]?.writes).toEqual([
    { verb: "status", object, resourceVersion: expect.stringMatching(/^\d+$/) },
  ]);
  const events = async () =>
    entriesOf((await get<History>(bob, of("Probe", "fails"))).body).filter(({ type }) => type === "event");
  await expect
    .poll(events, polling)
    .toEqual([
      expect.objectContaining({ severity: "Warning", reason: "Retrying", reporter: "denrei.dev/probe" }),
    ]);
  await change("fails", { mode: "ok" });
  await expect
    .poll(async () => (await reconciles(bob, of("Probe", "fails"))).at(-1)?.outcome, polling)
    .toBe("success");
  await expect.poll(async () => (await figuresOf("probe"))?.retrying, polling).toBe(0);
});

test("viewing and replaying a dead letter need separate rights", async () => {
  await create("ends", { mode: "terminal" });
  await expect.poll(async () => (await lettersOf(bob)).length, polling).toBe(1);
  const [letter] = await lettersOf(bob);
  expect(letter).toMatchObject({
    ...{ function: "probe", object: { group, kind: "Probe", namespace: team, name: "ends" } },
    ...{ reason: "TerminalRequested", message: "the spec asks for a terminal error" },
    ...{ attempts: 1, mayReplay: false },
  });
  expect((await lettersOf(alice))[0]?.mayReplay).toBe(true);
  await expect.poll(async () => (await figuresOf("probe"))?.deadLetters, polling).toBe(1);
  const shown = await get<DeadLetterDetail>(bob, `deadletters/probe/${team}/ends`);
  expect(shown.body.stack).toContain("TerminalError");
  expect((await get(bob, `deadletters/probe/${team}/never`)).status).toBe(404);
  expect((await get(bob, `deadletters/unknown/${team}/ends`)).status).toBe(404);
  const inTrace = async () =>
    (await get<History>(bob, `history?trace=${letter?.trace}&namespace=${team}`)).body;
  await expect
    .poll(async () => entriesOf(await inTrace()).map(({ type }) => type), polling)
    .toEqual(["reconcile", "deadletter"]);
  expect((await inTrace()).traces.map(({ trace }) => trace)).toEqual([letter?.trace]);

  expect(await replay(bob, "ends")).toMatchObject({
    status: 403,
    body: { reason: "Forbidden", message: expect.stringContaining("create deadletters/replay.denrei.dev") },
  });
  expect(await replay(alice, "ends", { "x-denrei-csrf": "" })).toMatchObject({
    status: 403,
    body: { reason: "NoCsrfToken" },
  });
  expect((await lettersOf(bob))[0]?.time).toBe(letter?.time);
  expect(await reconciles(bob, of("Probe", "ends"))).toHaveLength(1);

  expect(await replay(alice, "ends")).toEqual({ status: 200, body: { replayed: true } });
  await expect.poll(async () => (await reconciles(bob, of("Probe", "ends"))).length, polling).toBe(2);
  const again = (await reconciles(bob, of("Probe", "ends")))[1];
  expect(again).toMatchObject({
    causes: [{ type: "replay" }],
    outcome: "dead_lettered",
    error: { name: "TerminalRequested" },
  });
  expect((await replay(alice, "never")).status).toBe(404);
});

test("workers report their reconciles in flight", async () => {
  await environment.client.create(
    Branch,
    {
      apiVersion: `${group}/v1`,
      kind: "Branch",
      metadata: { namespace: team, name: "held" },
      spec: { repository: "acme/held", branch: "main", millis: 600_000 },
    },
    { fieldManager: "test" },
  );
  const inFlight = async () =>
    (await replicas()).flatMap((one) => one.inFlight.map((work) => ({ replica: one.replica, ...work })));
  let held: Awaited<ReturnType<typeof inFlight>> = [];
  const count = async () => {
    held = await inFlight();
    return held.length;
  };
  await expect.poll(count, polling).toBe(1);
  // It is in flight before its function starts.
  const holder = () =>
    workers.find(({ log }) =>
      log.records().some(({ msg, key }) => msg === "looking at the branch" && key === `${team}/held`),
    )?.name;
  await expect.poll(holder, polling).toBeDefined();
  expect(held[0]).toMatchObject({
    ...{ replica: holder(), function: "branches", attempt: 0 },
    object: { group, kind: "Branch", namespace: team, name: "held" },
    trace: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
  const known = async () => (await replicas()).map(({ replica, functions }) => [replica, functions]);
  await expect
    .poll(known, polling)
    .toEqual(["worker-1", "worker-2"].map((name) => [name, ["branches", "probe", "stickers"]]));
  await expect.poll(async () => (await figuresOf("branches"))?.inFlight, polling).toBe(1);
});

test("a reconcile that a stopping worker hands back is in flight on another worker, and history has both", async () => {
  const holders = async () =>
    (await replicas())
      .filter(({ inFlight }) => inFlight.some(({ object }) => object.name === "held"))
      .map(({ replica }) => replica);
  let first: string | undefined;
  const holder = async () => {
    [first] = await holders();
    return first;
  };
  await expect.poll(holder, polling).toMatch(/^worker-[12]$/);
  const worker = workers.find(({ name }) => name === first);
  await worker?.stop();
  const other = first === "worker-1" ? "worker-2" : "worker-1";
  await expect.poll(holders, polling).toEqual([other]);
  const records = async () =>
    (await reconciles(bob, of("Branch", "held"))).map(({ replica, outcome }) => [replica, outcome]);
  await expect.poll(records, polling).toEqual([[first, "handed_back"]]);
  await worker?.start();
});

test("a trace covers the webhook to the write, without other namespaces", async () => {
  const spec = { repository: "acme/web" };
  for (const namespace of [team, foreign]) {
    const metadata = { namespace, name: "web" };
    const object = { apiVersion: `${group}/v1`, kind: "Sticker", metadata, spec };
    await environment.client.create(Sticker, object, { fieldManager: "test" });
  }
  const { metadata } = await environment.client.get(Sticker, { namespace: team, name: "web" });
  // A webhook only reaches objects that were reconciled before, because a reconcile writes its index entry.
  await expect.poll(async () => (await reconciles(bob, of("Sticker", "web"))).length, polling).toBe(1);
  const isRouted = () =>
    workers.some(({ log }) =>
      log.records().some(({ msg, key }) => msg === "reconciled" && key === `${foreign}/web`),
    );
  await expect.poll(isRouted, polling).toBe(true);
  const indexed = async () => (await figuresOf("stickers"))?.events;
  await expect.poll(indexed, polling).toBe(0);
  const hook = hookOf("push", push("acme/web", "main"));
  expect(await post(gateway.hookUrl(), hook)).toBe(202);
  for (const namespace of [team, foreign])
    await environment.until(
      Sticker,
      { namespace, name: "web" },
      ({ status }) => status?.delivery === hook.delivery,
    );
  const written = await environment.client.get(Sticker, { namespace: team, name: "web" });
  expect(written.metadata.resourceVersion).not.toBe(metadata.resourceVersion);

  await expect.poll(async () => (await reconciles(bob, of("Sticker", "web"))).length, polling).toBe(2);
  const history = (await get<History>(bob, of("Sticker", "web"))).body;
  const last = history.traces.at(-1);
  expect(last?.entries.map(({ type }) => type)).toEqual(["webhook", "reconcile"]);
  expect(last?.entries[0]).toMatchObject({ event: "push", delivery: hook.delivery, repository: "acme/web" });
  const object = { group, kind: "Sticker", namespace: team, name: "web" };
  expect(last?.entries[1]).toMatchObject({
    causes: [{ type: "webhook", provider: "github", event: "push", delivery: hook.delivery }],
    writes: [{ verb: "status", object, resourceVersion: written.metadata.resourceVersion }],
    outcome: "success",
  });

  const traced = async (trace: string) =>
    (await get<History>(bob, `history?${new URLSearchParams({ trace, namespace: team })}`)).body;
  const byTrace = await traced(String(last?.trace));
  expect(byTrace.traces).toEqual([last]);
  expect(await traced(`00-${last?.trace}-0123456789abcdef-01`)).toEqual(byTrace);
  expect((await traced("0".repeat(31).concat("1"))).traces).toEqual([]);
});

test("a long history is read page by page", async () => {
  expect((await get(bob, `${of("Probe", "fails")}&before=nonsense`)).status).toBe(400);
  expect((await get(bob, "history")).status).toBe(400);
  const [first, second, third] = await reconciles(bob, of("Probe", "fails"));
  const cursor = BigInt(Date.parse(String(third?.at))) * 1_000_000n;
  const before = await reconciles(bob, `${of("Probe", "fails")}&before=${cursor}`);
  expect(before).toEqual([first, second]);
});

test("the live stream sends a sample each second, and the past ones first", async () => {
  const events = await readEvents(alice, "/api/bus/live");
  const past = await events.next<LivePast>();
  const next = [await events.next<LiveSample>(), await events.next<LiveSample>()];
  events.close();
  expect(events.all.map(({ event }) => event)).toEqual(["past", "sample", "sample"]);
  const all = [...(past?.data.samples ?? []), ...next.flatMap((one) => one?.data ?? [])];
  const times = all.map(({ at }) => at);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  const sum = (of: (sample: LiveSample) => number | undefined) =>
    all.reduce((total, sample) => total + (of(sample) ?? 0), 0);
  const published = (await get<BusFigures>(alice, "figures")).body.kinds.map(({ kind }) => kind);
  expect(published).toContain("Probe.test.denrei.dev");
  expect(sum(({ events }) => events["Probe.test.denrei.dev"])).toBeGreaterThanOrEqual(5);
  const counted = [
    ...(await reconciles(bob, of("Probe", "fails"))),
    ...(await reconciles(bob, of("Probe", "ends"))),
  ];
  expect(sum((sample) => sample.functions.probe?.reconciles)).toBe(counted.length);
  expect(sum((sample) => sample.functions.probe?.errors)).toBe(
    counted.filter(({ outcome }) => ["retry", "dead_lettered"].includes(outcome)).length,
  );
  const spread = all.find(({ functions }) => functions.probe !== undefined)?.functions.probe;
  expect(spread?.total.p99).toBeGreaterThanOrEqual(spread?.took.p50 ?? Number.NaN);
});
