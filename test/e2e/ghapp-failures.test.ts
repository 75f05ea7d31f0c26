/** Installations while GitHub is unavailable, rate-limits requests, or rejects them. */
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import type { Fault, FaultAnswer } from "../../deploy/simulators/github/faults.ts";
import { GitHubApp, Installation } from "../../functions/ghapp/kinds.ts";
import { annotations, TokenSecret } from "../../functions/ghapp/secret.ts";
import { type GhApps, pemKey, startGhApps } from "../harness/ghapp.ts";
import { conditionOf, has } from "../harness/testobjects.ts";
import { fireTimer, timerLeft } from "../harness/timers.ts";

const timeout = 100_000;

let ghapps: GhApps;
/** Installation IDs, one per test, so that tests can tell their requests apart. By the App: `app`, `limited`. */
let ids: Record<"app" | "limited", number[]>;
beforeAll(async () => {
  const installations = Array.from({ length: 16 }, () => ({ account: "acme" }));
  ghapps = await startGhApps({ apps: [{ installations }, { installations }] });
  const [app, limited] = ghapps.github.apps.map((one) => one.installations.map(({ id }) => id));
  ids = { app: app ?? [], limited: limited ?? [] };
  const { id: appID, privateKey } = ghapps.github.apps[1] ?? { id: 0, privateKey: "" };
  await ghapps.keySecret("default");
  await ghapps.keySecret("default", "limited-key", privateKey);
  await ghapps.app("app");
  await ghapps.app("limited", { appID, privateKeySecretRef: { name: "limited-key", key: pemKey } });
  for (const name of ["app", "limited"])
    await ghapps.environment.until(GitHubApp, { name }, has("Ready", "True"));
});
afterAll(() => ghapps?.stop());
// A status change of an App triggers its Installations.
beforeEach(() => ghapps.untilQuiet());

function create(name: string, spec: Partial<Installation["spec"]> = {}) {
  const appRef = { kind: "GitHubApp" as const, name: "app" };
  const installationID = spec.installationID ?? ids.app.pop() ?? 0;
  return ghapps.installation(name, { appRef, ...spec, installationID });
}

/** Sets the answers to the next token requests of an installation. */
function fault(id: number | undefined, answer: FaultAnswer, times?: number): Fault {
  const path = new RegExp(`/installations/${id}/access_tokens`);
  const injected = ghapps.github.fault({ path }, answer, times);
  onTestFinished(() => injected.remove());
  return injected;
}

const until = (name: string, status: "True" | "False", reason?: string) =>
  ghapps.environment.until(Installation, { name }, has("Ready", status, reason), timeout);
/** Fires an Installation's retry; resolves with the milliseconds that were left. */
const fire = (name: string) => fireTimer(ghapps, "installation", { namespace: "default", name });

/** Writes into a Secret when its token is due or expires, in milliseconds from now. */
async function note(name: string, times: Readonly<Record<string, number>>): Promise<void> {
  const noted = Object.entries(times).map(([key, millis]) => [
    key,
    new Date(Date.now() + millis).toISOString(),
  ]);
  await ghapps.patch(TokenSecret, name, { metadata: { annotations: Object.fromEntries(noted) } });
}

async function untilNotRefreshed(name: string): Promise<void> {
  await expect
    .poll(async () => (await ghapps.events(name)).map(({ type, reason }) => `${type} ${reason}`), { timeout })
    .toContain("Warning TokenNotRefreshed");
  await ghapps.untilQuiet();
}

const minted = (id: number) => ghapps.mints(id).map(({ status }) => status);
const said = (message: string) => JSON.stringify({ message });

test("all Installations of an App respect a rate limit, however often they are triggered", async () => {
  const limited = ids.limited.splice(0, 3);
  const refused = {
    status: 403,
    headers: { "retry-after": "3600" },
    body: said("You have exceeded a limit"),
  };
  const faults = limited.map((id) => fault(id, refused));
  const hits = () => faults.reduce((sum, one) => sum + one.hits, 0);
  const names = limited.map((id) => `limited-${id}`);
  const appRef = { kind: "GitHubApp" as const, name: "limited" };
  for (const [at, name] of names.entries()) {
    await create(name, { appRef, installationID: limited[at] ?? 0 });
    const { status } = await until(name, "False", "RateLimited");
    expect(status?.message).toContain("Wait for the limit to pass");
  }
  // Each process learns of the limit from one answer.
  for (let wake = 0; wake < 200 && hits() < ghapps.workers.length; wake++) {
    await ghapps.touch(Installation, names[wake % names.length] ?? "");
    await ghapps.untilQuiet();
  }
  for (let wake = 0; wake < 3; wake++) {
    await Promise.all(names.map((name) => ghapps.touch(Installation, name)));
    await ghapps.untilQuiet();
  }
  expect(hits()).toBe(ghapps.workers.length);
  // Another App on the same GitHub is not limited.
  await create("not-limited");
  await until("not-limited", "True");
});

test("continues by itself after the rate limit has passed", async () => {
  // A worker that has not hit the limit itself would send a request before it has passed.
  const [, ...others] = ghapps.workers;
  await Promise.all(others.map((worker) => worker.stop()));
  onTestFinished(async () => {
    await Promise.all(others.map((worker) => worker.start()));
  });
  const id = ids.app.at(-1) ?? 0;
  fault(id, { status: 429, headers: { "retry-after": "2" }, body: said("Slow down") }, 1);
  // Observed from the start, because it lasts only two seconds.
  const limited = until("slowed", "False", "RateLimited");
  await create("slowed");
  const { status } = await limited;
  expect(status?.message).toContain("Slow down");
  await until("slowed", "True");
  const [first, second, ...more] = ghapps.mints(id);
  expect([first?.status, second?.status, more]).toEqual([429, 201, []]);
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(1900);
});

test("retries an unavailable GitHub with growing pauses", async () => {
  const answers: Record<string, [FaultAnswer, string]> = {
    failing: [{ status: 502, body: "<html>" }, "was answered 502: no message. Try again later"],
    broken: ["reset", "Check url and the network"],
  };
  const used: Record<string, number> = {};
  for (const [name, [answer]] of Object.entries(answers)) {
    used[name] = ids.app.at(-1) ?? 0;
    fault(used[name], answer, 1);
    await create(name);
  }
  for (const [name, [, message]] of Object.entries(answers)) {
    const { status } = await until(name, "False", "GitHubUnreachable");
    expect(status?.message).toContain(message);
  }
  await ghapps.untilQuiet();
  for (const name of Object.keys(answers)) {
    const [refused] = ghapps.mints(used[name]);
    const left = await fire(name);
    expect(Date.now() + left - (refused?.at ?? 0), name).toBeGreaterThan(25_000);
    expect(left, name).toBeLessThanOrEqual(30_000);
    await until(name, "True");
    await ghapps.untilQuiet();
    expect(ghapps.mints(used[name]), name).toHaveLength(2);
  }
});

test("stays ready without a newer token while the current one is valid", async () => {
  const id = ids.app.at(-1) ?? 0;
  await create("patient");
  const { metadata, status } = await until("patient", "True");
  const token = await ghapps.token("patient");
  fault(id, { status: 503 }, 1);
  await note("patient", { [annotations.refresh]: 0 });
  await untilNotRefreshed("patient");
  expect(minted(id)).toEqual([201, 503]);
  expect(await ghapps.token("patient")).toBe(token);
  const now = await ghapps.environment.client.get(Installation, { namespace: "default", name: "patient" });
  expect(now.metadata.uid).toBe(metadata.uid);
  expect(conditionOf(now)).toEqual(status?.conditions?.find(({ type }) => type === "Ready"));

  const left = await fire("patient");
  expect(left).toBeGreaterThan(30_000);
  expect(left).toBeLessThanOrEqual(60_000);
  await expect.poll(() => ghapps.token("patient"), { timeout }).not.toBe(token);
  expect(minted(id)).toEqual([201, 503, 201]);
});

test("is not ready from the end of its token until it gets a newer one", async () => {
  const id = ids.app.at(-1) ?? 0;
  await create("over");
  await until("over", "True");
  const down = fault(id, { status: 500 });
  await note("over", { [annotations.refresh]: 0, [annotations.expires]: 40_000 });
  await untilNotRefreshed("over");
  // The next attempt comes when the token expires, sooner than a retry.
  expect(await timerLeft(ghapps, "installation", { namespace: "default", name: "over" })).toBeLessThanOrEqual(
    40_000,
  );
  expect(down.hits).toBe(1);
  await note("over", { [annotations.expires]: 0 });
  const { status } = await until("over", "False", "GitHubUnreachable");
  expect(status).not.toHaveProperty("expiresAt");
  expect(status?.ready).toBe(false);
  await ghapps.untilQuiet();
  expect(down.hits).toBe(2);
  down.remove();
  await fire("over");
  await until("over", "True");
  expect(minted(id)).toEqual([201, 500, 500, 201]);
});

/** By name: GitHub's answer, the request, and the resulting condition. */
const refusals: Record<string, [FaultAnswer | undefined, object, reason: string, words: string]> = {
  away: [
    undefined,
    { installationID: 7 },
    "NotFound",
    "Not Found. The App is not installed there (any more)",
  ],
  more: [
    undefined,
    { permissions: { administration: "write" } },
    "Refused",
    "The permissions requested are not granted to this installation. The installation lacks a requested permission or repository",
  ],
  nowhere: [undefined, { repositories: ["nowhere"] }, "Refused", "repositories requested are not accessible"],
  suspended: [
    { status: 403, body: said("This installation has been suspended") },
    {},
    "Forbidden",
    "This installation has been suspended. Check that",
  ],
  none: [{ status: 200, body: "{}" }, {}, "GitHubFailed", "Check that url is that of a GitHub"],
};

test("reports each rejection once, in GitHub's words", async () => {
  const asked: Record<string, number> = {};
  for (const [name, [answer, spec]] of Object.entries(refusals)) {
    const installationID = ids.app.pop() ?? 0;
    if (answer) fault(installationID, answer);
    const { spec: made } = await create(name, { installationID, ...spec });
    asked[name] = made.installationID;
  }
  for (const [name, [, , reason, words]] of Object.entries(refusals)) {
    const { status } = await until(name, "False", reason);
    expect(status?.message, name).toContain(words);
  }
  await ghapps.untilQuiet();
  for (const [name, id] of Object.entries(asked)) expect(ghapps.mints(id), name).toHaveLength(1);
});

test("checks an App again that GitHub does not answer for, and keeps its tokens", async () => {
  await create("steady");
  const { status } = await until("steady", "True");
  const down = ghapps.github.fault({ path: /^\/app$/ }, "reset", 1);
  await ghapps.touch(GitHubApp, "app");
  await ghapps.environment.until(GitHubApp, { name: "app" }, has("Ready", "False", "GitHubUnreachable"));
  await ghapps.untilQuiet();
  const now = await ghapps.environment.client.get(Installation, { namespace: "default", name: "steady" });
  expect(now.status).toEqual(status);
  expect(await fireTimer(ghapps, "githubapp", { namespace: "default", name: "app" })).toBeLessThanOrEqual(
    30_000,
  );
  await ghapps.environment.until(GitHubApp, { name: "app" }, has("Ready", "True"), timeout);
  expect(down.hits).toBe(1);
});
