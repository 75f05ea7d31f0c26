/** Exactly one replica refreshes a token in time, whatever happens to replicas and timers. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Stored } from "../../bus/kube/object.ts";
import { sweeps, timersStream, work } from "../../bus/subjects.ts";
import type { Fault } from "../../deploy/simulators/github/faults.ts";
import { Installation } from "../../functions/ghapp/kinds.ts";
import { annotations, type SecretObject, TokenSecret } from "../../functions/ghapp/secret.ts";
import type { Replica } from "../harness/environment.ts";
import { type GhApps, startGhApps } from "../harness/ghapp.ts";
import { metricSum } from "../harness/metrics.ts";
import { texts } from "../harness/secretvalues.ts";
import { sweep } from "../harness/sweep.ts";
import { has } from "../harness/testobjects.ts";
import { timerLeft } from "../harness/timers.ts";

const timeout = 100_000;
const scope = { fn: "installation", cluster: "default" };

let ghapps: GhApps;
/** Installation IDs, one per test, so that tests can tell their requests apart. */
let ids: number[];
beforeAll(async () => {
  const installations = Array.from({ length: 4 }, () => ({ account: "acme" }));
  ghapps = await startGhApps({
    apps: [{ installations }],
    // One test waits for the request of a killed worker to be redelivered.
    env: { DENREI_ACK_WAIT_SECONDS: "4" },
  });
  ids = ghapps.github.apps[0]?.installations.map(({ id }) => id) ?? [];
  await ghapps.keySecret("default");
  await ghapps.app("app");
});
afterAll(() => ghapps?.stop());

/** Creates an Installation and deletes it after the test, so that workers are idle when the next test starts. */
async function installation(name: string, finished = onTestFinished): Promise<number> {
  const installationID = ids.pop() ?? 0;
  await ghapps.installation(name, { installationID });
  finished(async () => {
    await ghapps.environment.client.delete(Installation, { namespace: "default", name }, {});
    await ghapps.environment.untilGone(Installation, { namespace: "default", name });
    await ghapps.untilQuiet();
  });
  return installationID;
}

const untilReady = (name: string) => ghapps.environment.until(Installation, { name }, has("Ready", "True"));
const secretOf = async (name: string) => (await ghapps.secret(name)) as Stored<SecretObject>;
const use = (token: string | undefined) => ghapps.use(token, "GET /repos/acme/web");

/** Holds back the next token of an installation until it is released. */
function held(id: number): Fault & { release(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const path = new RegExp(`/installations/${id}/access_tokens`);
  const fault = ghapps.github.fault({ path }, { heldUntil: promise }, 1);
  return Object.assign(Object.create(fault) as Fault, { release: resolve });
}

/** The worker that is reconciling an Installation. */
async function busy(): Promise<Replica[]> {
  const active = await Promise.all(
    ghapps.workers.map((worker) =>
      metricSum([worker], /^controller_runtime_active_workers\{controller="installation"/),
    ),
  );
  return ghapps.workers.filter((_, at) => (active[at] ?? 0) > 0);
}

test("another worker gets a token when the worker that requested it is killed", async () => {
  const id = ids.at(-1) ?? 0;
  const slow = held(id);
  await installation("killed");
  await expect.poll(() => slow.hits, { timeout, interval: 20 }).toBe(1);
  const [worker, ...more] = await busy();
  expect(more).toEqual([]);
  await worker?.kill();
  slow.release();
  await untilReady("killed");
  const { token } = texts(await secretOf("killed"));
  expect(await use(token)).toBe(200);
  // GitHub creates the token of the killed worker as well.
  await expect.poll(() => ghapps.mints(id).map(({ status }) => status), { timeout }).toEqual([201, 201]);
  await ghapps.untilQuiet();
  expect(texts(await secretOf("killed"))).toEqual({ token });
  await worker?.start();
});

test("requests one token, however often it is triggered", async () => {
  const name = "woken";
  const id = ids.at(-1) ?? 0;
  const wake = async () => {
    for (let time = 0; time < 20; time++) await ghapps.touch(Installation, name);
  };
  const first = held(id);
  await installation(name);
  await expect.poll(() => first.hits, { timeout, interval: 20 }).toBe(1);
  await wake();
  expect(ghapps.mints(id).map(({ status }) => status)).toEqual([undefined]);
  first.release();
  await untilReady(name);
  await ghapps.untilQuiet();
  expect(ghapps.mints(id).map(({ status }) => status)).toEqual([201]);

  const { token } = texts(await secretOf(name));
  const second = held(id);
  const due = { [annotations.refresh]: new Date().toISOString() };
  await ghapps.patch(TokenSecret, name, { metadata: { annotations: due } });
  await expect.poll(() => second.hits, { timeout, interval: 20 }).toBe(1);
  await wake();
  expect(texts(await secretOf(name)).token).toBe(token);
  second.release();
  await expect.poll(async () => texts(await secretOf(name)).token, { timeout }).not.toBe(token);
  await ghapps.untilQuiet();
  expect(ghapps.mints(id).map(({ status }) => status)).toEqual([201, 201]);
});

// They wait for a token to expire, all at the same time. The refresh is due in the last sixth of a token's life.
describe.concurrent("with tokens of less than a minute", () => {
  const lifetimeMillis = 48_000;
  beforeAll(() => ghapps.github.issueTokens({ lifetimeMillis }));
  afterAll(() => ghapps.github.issueTokens({}));

  test("refreshes a token before it expires, and uses each one", async ({ expect, onTestFinished }) => {
    const id = await installation("short", onTestFinished);
    await untilReady("short");
    const seen = new Set<string>();
    const late: string[] = [];
    const ends: number[] = [];
    const tokens = async () => {
      const found = await secretOf("short");
      const { token = "" } = texts(found);
      const end = Date.parse(found.metadata.annotations?.[annotations.expires] ?? "");
      if (!seen.has(token)) ends.push(end);
      seen.add(token);
      const left = end - Date.now();
      const status = await use(token);
      if (!(left > 0) || status !== 200) late.push(`${status}, with ${left} ms left`);
      return seen.size;
    };
    await expect.poll(tokens, { timeout, interval: 500 }).toBe(2);
    const [first = 0, second = 0] = ends;
    // Also between two polls.
    expect(second - first, "the second one was made before the first one ended").toBeLessThan(lifetimeMillis);
    // The next refresh is scheduled as well.
    const left = await timerLeft(ghapps, "installation", { namespace: "default", name: "short" });
    expect(left).toBeLessThan((lifetimeMillis * 5) / 6);
    expect(late).toEqual([]);
    expect(ghapps.mints(id)).toHaveLength(2);
    expect(ghapps.github.tokens()).toEqual(expect.arrayContaining([...seen]));
  });

  test("refreshes from the sweep when the timer is lost", async ({ expect, onTestFinished }) => {
    const { jsm } = ghapps.bus;
    const name = "swept";
    const id = await installation(name, onTestFinished);
    await untilReady(name);
    const { token } = texts(await secretOf(name));
    await timerLeft(ghapps, "installation", { namespace: "default", name });
    const stream = timersStream(scope.fn);
    for (const filter of [work.timer(scope, { namespace: "default", name }), sweeps.at(scope)])
      expect((await jsm.streams.purge(stream, { filter })).purged).toBe(1);
    await expect.poll(() => use(token), { timeout, interval: 500 }).toBe(401);
    expect(texts(await secretOf(name)).token).toBe(token);
    expect(ghapps.mints(id)).toHaveLength(1);

    await sweep(ghapps, scope.fn);
    await expect.poll(async () => use(texts(await secretOf(name)).token), { timeout }).toBe(200);
    expect(ghapps.mints(id)).toHaveLength(2);
    // The next sweep is scheduled again.
    const last_by_subj = sweeps.at(scope);
    await expect.poll(() => jsm.direct.getMessage(stream, { last_by_subj }), { timeout }).not.toBeNull();
  });
});
