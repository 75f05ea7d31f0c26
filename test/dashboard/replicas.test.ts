/** Behavior across replicas: logout, key rotation, restart; and a replica's probes and metrics. */
import { readFile, rename, writeFile } from "node:fs/promises";
import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cookieHeader, toCallback } from "../../deploy/cli/demo/visitor.ts";
import {
  type DashboardEnvironment,
  newKey,
  people,
  startDashboardEnvironment,
  team,
} from "../harness/dashboard.ts";
import type { Replica } from "../harness/environment.ts";
import { metricSum } from "../harness/metrics.ts";
import { openRecords, type Records } from "../harness/sessionrecords.ts";
import { loginCookieName, sessionCookieName, type Visitor, visitor } from "../harness/visitor.ts";

let environment: DashboardEnvironment;
let second: Replica & { readonly url: string };
let records: Records;
beforeAll(async () => {
  environment = await startDashboardEnvironment();
  second = await environment.secondReplica();
  records = await openRecords(environment);
});
afterAll(async () => {
  await records?.close();
  await environment?.stop();
});

const apps = `/apis/modoki.tsuzu.dev/v1alpha1/namespaces/${team}/applications`;
const list = `/api/kubernetes${apps}`;
const watch = `/api/watch?of=${encodeURIComponent(apps)}`;
const cookieOf = ({ cookies }: Visitor) => cookies.get(sessionCookieName) ?? "";
const streams = () => metricSum([environment.dashboard, second], /^denrei_dashboard_streams_open /);

/** Opens a stream of a user, and waits for its first event. */
async function openStream(user: Visitor, at: string) {
  const { statusCode, body } = await request(`${at}${watch}`, {
    headers: { host: new URL(environment.url).host, cookie: cookieHeader(user.cookies) },
    bodyTimeout: 0,
  });
  expect(statusCode).toBe(200);
  let text = "";
  const first = Promise.withResolvers<void>();
  const ended = (async () => {
    for await (const chunk of body) {
      text += String(chunk);
      if (text.includes("event: list")) first.resolve();
    }
  })();
  ended.catch(first.reject);
  await first.promise;
  return { ended, text: () => text, leave: () => body.destroy() };
}

test("a logout takes effect on all replicas, at the issuer, and for open streams", async () => {
  const user = await environment.visitor(people.alice);
  const cookie = cookieOf(user);
  const { refreshToken } = (await records.of(cookie)).session;
  await user.ask("/auth/login");
  // Its token ends soon. dashboard/server/eventstream.test.ts covers a token with time left.
  await records.change(cookie, { expiresAt: Date.now() + 15_000 });
  const stream = await openStream(user, second.url);
  expect(await streams()).toBe(1);
  const before = environment.issuer.tally.revocations;

  const answer = await user.ask("/api/session", { method: "DELETE" });
  expect(answer.status).toBe(200);
  const goTo = new URL(answer.json<{ goTo: string }>().goTo);
  expect(goTo.pathname).toBe("/session/end");
  expect(Object.fromEntries(goTo.searchParams)).toEqual({
    client_id: environment.issuer.clientId,
    logout_hint: "alice",
    post_logout_redirect_uri: `${environment.url}/`,
  });
  const cleared = answer.headers.getSetCookie().map((line) => line.split("=", 1)[0]);
  expect(cleared.sort()).toEqual(["denrei-github", loginCookieName, sessionCookieName]);
  expect(user.cookies).toEqual(new Map());
  expect(environment.issuer.tally.revocations).toBe(before + 1);
  expect(refreshToken).toBeDefined();

  // The old cookie is worthless.
  for (const at of [environment.url, second.url]) {
    const kept = visitor(environment.url);
    kept.cookies.set(sessionCookieName, cookie);
    expect((await kept.ask(list, { at })).status).toBe(401);
  }
  await stream.ended;
  await expect.poll(streams, { timeout: 30_000 }).toBe(0);
});

test("a logout while another replica refreshes leaves no token behind", async () => {
  const user = await environment.visitor(people.alice);
  const cookie = cookieOf(user);
  await records.age(cookie);
  const { requested, release } = environment.issuer.holdTokens();
  const refreshing = user.ask(list, { at: second.url });
  await requested;
  const before = environment.issuer.tally.revocations;
  expect((await user.ask("/api/session", { method: "DELETE" })).status).toBe(200);
  release();
  expect((await refreshing).status).toBe(401);
  await expect(records.of(cookie)).rejects.toThrow("no session for the cookie");
  // The former token, and the new one if the issuer still issued it.
  expect(environment.issuer.tally.revocations).toBeGreaterThan(before);
});

test("a stream continues with the next token, and no event is lost", async () => {
  const user = await environment.visitor(people.alice);
  const before = environment.issuer.tally.refreshes;
  // Valid for one second longer than the refresh margin.
  await records.change(cookieOf(user), { expiresAt: Date.now() + 11_000 });
  const stream = await openStream(user, environment.url);
  await expect.poll(() => environment.issuer.tally.refreshes, { timeout: 60_000 }).toBe(before + 1);
  expect((await user.ask(list, { method: "POST", body: application("after-refresh") })).status).toBe(201);
  await expect.poll(() => stream.text(), { timeout: 60_000 }).toContain("after-refresh");
  expect(stream.text().match(/event: list/g)).toHaveLength(1);
  stream.leave();
  await expect.poll(streams, { timeout: 30_000 }).toBe(0);
});

const application = (name: string) => ({
  apiVersion: "modoki.tsuzu.dev/v1alpha1",
  kind: "Application",
  metadata: { name, namespace: team },
  spec: { domains: [`${name}.example.com`], replicas: 1 },
});

test("a restart ends streams cleanly, answers pending requests, and keeps sessions", async () => {
  const user = await environment.visitor(people.alice);
  await records.age(cookieOf(user));
  const { requested, release } = environment.issuer.holdTokens();
  const request = user.ask(list, { at: second.url });
  await requested;
  const stopped = second.stop();
  release();
  expect((await request).status).toBe(200);
  await stopped;
  expect(second.log.records().at(-1)).toMatchObject({ msg: "stopped" });
  await second.start();
  expect((await user.ask(list, { at: second.url })).status).toBe(200);

  const stream = await openStream(user, second.url);
  await second.stop();
  // A clean end, not a broken connection.
  await stream.ended;
  expect(second.log.all.filter((line) => line.includes("requests not finished in time"))).toEqual([]);
  await second.start();
});

test("keys can be rotated while sessions continue, and a removed key no longer decrypts", async () => {
  const [used, unused] = [await environment.visitor(people.alice), await environment.visitor(people.alice)];
  const [old] = (await readFile(environment.keysPath, "utf8")).split("\n");
  const newest = newKey();
  const exchange = async (...keys: string[]) => {
    const lives = [environment.dashboard, second].map(({ log }) => ({ log, from: log.all.length }));
    await writeFile(`${environment.keysPath}.new`, `${keys.join("\n")}\n`);
    await rename(`${environment.keysPath}.new`, environment.keysPath);
    for (const { log, from } of lives)
      await log.until((line) => line.includes("session keys changed"), 60_000, from);
  };
  await exchange(`${old}`, newest);
  await exchange(newest, `${old}`);
  const before = cookieOf(used);
  await records.age(before);
  expect((await used.ask(list, { at: second.url })).status).toBe(200);
  expect(cookieOf(used)).not.toBe(before);
  await exchange(newest);
  for (const at of [environment.url, second.url]) {
    expect((await used.ask(list, { at })).status).toBe(200);
    const answer = await unused.ask(list, { at });
    expect([answer.status, answer.json<{ reason: string }>().reason]).toEqual([401, "LoggedOut"]);
  }
  expect((await (await environment.visitor(people.bob)).ask(list, { at: second.url })).status).toBe(200);
});

test("probes and responses report an unavailable bus, which ends no session", async () => {
  const user = await environment.visitor(people.alice);
  const loggingIn = visitor(environment.url);
  const callback = await toCallback(loggingIn, people.bob);
  expect(await environment.dashboard.probe("/readyz")).toEqual({ status: 200, text: "ok" });
  await environment.platform.nats.stop("SIGKILL");
  try {
    await expect
      .poll(async () => (await environment.dashboard.probe("/readyz")).status, { timeout: 60_000 })
      .toBe(503);
    expect((await environment.dashboard.probe("/readyz")).text).toMatch(/bus/);
    const answer = await user.ask(list);
    expect(answer.status).toBe(503);
    expect(answer.json()).toEqual({
      reason: "BusUnavailable",
      message: "The bus, which stores the sessions, does not answer. Try again in a moment.",
    });
    expect((await loggingIn.ask(callback)).headers.get("location")).toBe(
      "/login-failed?why=bus-unavailable&to=%2F",
    );
    expect((await visitor(environment.url).ask("/")).status).toBe(200);
  } finally {
    await environment.platform.nats.start();
  }
  await expect
    .poll(async () => (await environment.dashboard.probe("/readyz")).status, { timeout: 60_000 })
    .toBe(200);
  expect((await user.ask(list)).status).toBe(200);
});

test("counts logins, refreshes, and requests", async () => {
  const count = (sample: string) =>
    metricSum([environment.dashboard], new RegExp(`^denrei_dashboard_${sample} `));
  const samples = [
    'logins_total{outcome="succeeded"}',
    'logins_total{outcome="interrupted"}',
    'session_refreshes_total{outcome="refreshed"}',
    'requests_total{route="/auth/callback",code="303"}',
    'requests_total{route="/api/kubernetes/\\*",code="200"}',
    'requests_total{route="page",code="200"}',
  ];
  const before = await Promise.all(samples.map(count));
  const user = await environment.visitor(people.alice);
  await records.age(cookieOf(user));
  await user.ask(list);
  await user.ask("/applications");
  await user.ask("/auth/callback");
  const after = await Promise.all(samples.map(count));
  expect(after.map((value, at) => value - (before[at] ?? 0))).toEqual([1, 1, 1, 2, 1, 1]);
});
