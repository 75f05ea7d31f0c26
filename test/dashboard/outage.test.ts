/** The dashboard when its API server is down, slow, or changed. The file has its own control plane, because the tests stop it. */
import type { Page } from "playwright-core";
import type { Response } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installCrds } from "../../bus/kube/install.ts";
import { apiVersionOf } from "../../bus/kube/kind.ts";
import { crdManifests } from "../../deploy/generate/crds.ts";
import { functions } from "../../functions/index.ts";
import { Application } from "../../functions/paas/kinds.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { expectAccessible } from "../harness/accessible.ts";
import {
  foreign,
  type OwnDashboardEnvironment,
  people,
  startOwnDashboardEnvironment,
  team,
} from "../harness/dashboard.ts";
import { type EventReader, readEvents } from "../harness/eventreader.ts";
import { readLogs } from "../harness/logreader.ts";
import { type SimulatedNode, startSimulatedNode } from "../harness/simulatednode.ts";
import type { Visitor } from "../harness/visitor.ts";

interface Named {
  readonly spec: { readonly replicas?: number };
}
interface Seen {
  readonly object?: Named;
  readonly items?: readonly Named[];
}

const crds = crdManifests(functions);
const nameOf = ({ metadata }: Record<string, unknown>) => (metadata as { name: string }).name;
const isSong = (crd: Record<string, unknown>) => nameOf(crd).startsWith("hikawas.");
const songs = `/apis/zundokokiyoshi.kaitoy.github.com/v1beta1/namespaces/${team}/hikawas`;
const applications = `/apis/modoki.tsuzu.dev/v1alpha1/namespaces/${team}/applications`;
const proxied = `/api/kubernetes${applications}`;
const prefix = "oidc:";

let environment: OwnDashboardEnvironment;
let node: SimulatedNode;
let alice: Visitor;
let bob: Visitor;
const readers: EventReader[] = [];
beforeAll(async () => {
  environment = await startOwnDashboardEnvironment({
    usernamePrefix: prefix,
    crds: crds.filter((crd) => !isSong(crd)),
  });
  node = await startSimulatedNode(environment.client);
  [alice, bob] = [await environment.visitor(people.alice), await environment.visitor(people.bob)];
});
afterAll(async () => {
  for (const reader of readers) reader.close();
  await node?.stop();
  await environment?.stop();
});

async function read(path: string): Promise<EventReader> {
  const reader = await readEvents(alice, path);
  readers.push(reader);
  return reader;
}
const watch = (path: string) => read(`/api/watch?${new URLSearchParams({ of: path })}`);

test("the page shows the user name that roles and refusals of the API server use", async () => {
  const page = await environment.loggedIn(people.alice, foreign);
  await page.getByText(`Logged in as ${prefix}alice`).waitFor();
  await page.getByText("Details", { exact: true }).click();
  await page.getByText(`User "${prefix}alice" cannot list resource "applications"`).waitFor();
  expect(await page.getByRole("heading", { name: `You cannot view this in ${foreign}` }).count()).toBe(1);
});

test("reports a kind that is not installed, and its objects once it is", async () => {
  const reader = await watch(songs);
  expect(await reader.next()).toMatchObject({ event: "problem", data: { at: 0, status: 404 } });
  await installCrds(environment.client, crds.filter(isSong), {
    fieldManager: "test",
    signal: AbortSignal.timeout(60_000),
  });
  const { data } = await (await watch(songs)).nextOf<Seen>("list");
  expect(data.items).toEqual([]);
  // The waiting stream gets the list as well.
  await reader.nextOf("list");
  expect(await reader.next()).toMatchObject({ event: "problem", data: { at: 0, status: 0 } });
});

test("limits the requests in flight of each user", async () => {
  const { pid } = environment.platform.apiserver;
  process.kill(pid ?? 0, "SIGSTOP");
  const waiting: Promise<Response>[] = [];
  try {
    const refused: Response[] = [];
    waiting.push(
      ...Array.from({ length: 40 }, async () => {
        const answer = await alice.fetch(proxied);
        refused.push(answer);
        return answer;
      }),
    );
    // Requests over the limit are answered while the API server answers none.
    await expect.poll(() => refused.length, { timeout: 60_000 }).toBe(8);
    expect(refused[0]?.status).toBe(429);
    expect(refused[0]?.headers.get("retry-after")).toBe("1");
    expect(await refused[0]?.json()).toMatchObject({ reason: "TooMany" });
    const other = bob.fetch(proxied);
    waiting.push(other);
  } finally {
    process.kill(pid ?? 0, "SIGCONT");
  }
  const statuses = (await Promise.all(waiting)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 429)).toHaveLength(8);
  expect(statuses.filter((status) => status === 200)).toHaveLength(33);
  expect((await alice.fetch(proxied)).status).toBe(200);
});

/** The numbered lines of a log. */
const texts = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `line ${from + at}`);

const createScaledDown = (name: string) =>
  environment.client.create(
    Application,
    {
      apiVersion: apiVersionOf(Application),
      kind: "Application",
      metadata: { name, namespace: team },
      spec: { domains: [`${name}.example.com`], replicas: 0 },
    },
    { fieldManager: "test" },
  );
const scale = (replicas: number) =>
  environment.client.mergePatch(
    Application,
    { namespace: team, name: "first" },
    { spec: { replicas } },
    { fieldManager: "test" },
  );

/** The replicas of each object that the stream has sent, in order. */
const statesIn = (changes: EventReader) =>
  changes.all.flatMap(({ event, data }) => {
    const { object, items = [] } = data as Seen;
    return [object, ...items].flatMap((one) => (one ? [{ event, replicas: one.spec.replicas ?? 0 }] : []));
  });

test("reports an API server outage, then resumes requests, changes, and logs without loss or repetition", async () => {
  const { platform } = environment;
  const log = await node.pod(team, "restarts", "main");
  const written = new Date(Date.UTC(2026, 0, 2, 3, 4, 5));
  log.write(written, ...texts(0, 3));
  await createScaledDown("first");
  const [changes, lines] = [await watch(applications), await readLogs(alice, team, ["restarts/main"])];
  readers.push(lines);
  const untilSeen = async (replicas: number) => {
    while (statesIn(changes).at(-1)?.replicas !== replicas) expect(await changes.next()).toBeDefined();
  };
  await changes.nextOf("list");
  for (const replicas of [11, 12]) await scale(replicas);
  await untilSeen(12);
  expect(await lines.nextLines(3)).toEqual(texts(0, 3));

  await platform.apiserver.stop("SIGKILL");
  try {
    const trouble = { event: "problem", data: { status: 503, reason: "Unavailable" } };
    expect(await changes.next()).toMatchObject({ ...trouble, data: { at: 0, ...trouble.data } });
    expect(await lines.next()).toMatchObject(trouble);
    const answer = await alice.fetch(proxied);
    expect([answer.status, await answer.json()]).toMatchObject([
      503,
      { reason: "Unavailable", message: expect.stringContaining("Kubernetes API") },
    ]);
    const review = await alice.fetch("/api/bus/figures");
    expect([review.status, await review.json()]).toEqual([
      503,
      { reason: "Unavailable", message: "The Kubernetes API does not answer." },
    ]);
    log.write(written, ...texts(3, 5));
  } finally {
    await platform.apiserver.start();
  }

  for (const replicas of [13, 14, 15]) await scale(replicas);
  await untilSeen(15);
  const states = statesIn(changes).map(({ replicas }) => replicas);
  expect(states).toEqual(states.toSorted((one, other) => one - other));
  // A restarted API server may have lost its watch history: then the stream lists the current state again.
  const received = statesIn(changes).flatMap(({ event, replicas }) => (event === "change" ? [replicas] : []));
  expect(received.slice(0, 2)).toEqual([11, 12]);
  expect(received.slice(2)).toEqual([13, 14, 15].slice(3 - (received.length - 2)));
  expect(new Set(received).size).toBe(received.length);
  // Each error is reported once, and its end last.
  const statuses = changes.all
    .filter(({ event }) => event === "problem")
    .map(({ data }) => (data as { status: number }).status);
  expect(statuses.at(-1)).toBe(0);
  expect(statuses.filter((status) => status === 0)).toHaveLength(1);
  expect(new Set(statuses).size).toBe(statuses.length);

  expect(await lines.nextLines(2)).toEqual(texts(3, 5));
  await log.end();
  await lines.nextOf("end");
  expect(lines.lines().map(({ text }) => text)).toEqual(texts(0, 5));
  await expect.poll(async () => (await alice.fetch(proxied)).status, { timeout: 60_000 }).toBe(200);
});

describe("the page", () => {
  beforeAll(async () => {
    await createScaledDown("shown");
  });
  const go = (page: Page, path: string) => page.goto(`${environment.url}${path}`);
  /** Statements that only a response can prove. */
  const unproven = (page: Page) => page.getByText(/not found|deleted|No .* (yet|here)|You cannot/);
  const song = {
    apiVersion: apiVersionOf(Hikawa),
    kind: "Hikawa",
    metadata: { name: "silent", namespace: team },
    spec: { intervalMillis: 500 },
  };
  const stale = (page: Page) => page.getByText("Live updates are interrupted.").first();

  test("shows the last known state while the API server hangs, and never calls the unknown empty", async () => {
    const page = await environment.loggedIn(people.alice, team);
    await environment.client.create(Hikawa, song, { fieldManager: "test" });
    await go(page, "/zundoko");
    await page.getByRole("link", { name: "silent", exact: true }).waitFor();
    await page.getByRole("link", { name: "Applications" }).click();
    await page.getByRole("link", { name: "shown", exact: true }).waitFor();
    const { pid } = environment.platform.apiserver;
    process.kill(pid ?? 0, "SIGSTOP");
    try {
      // The watch is silent, so only a probe shows that it hangs.
      await stale(page).waitFor();
      expect(await page.getByText("This is the last known state, from").innerText()).toMatch(
        /\d+ (s|min) ago/,
      );
      await page.getByRole("link", { name: "shown", exact: true }).click();
      await page.getByText("shown.example.com").waitFor();
      await stale(page).waitFor();
      // The Hikawa is known from its list, and its words are not.
      await page.getByRole("link", { name: "Zundoko" }).click();
      await page.getByRole("link", { name: "silent", exact: true }).click();
      await page.getByRole("heading", { name: "silent", level: 1 }).waitFor();
      await page.getByRole("log").getByRole("heading", { name: "This could not be loaded" }).waitFor();
      expect(await unproven(page).count()).toBe(0);
      await page.getByRole("link", { name: "PipeCD" }).click();
      await page.getByRole("heading", { name: "This could not be loaded" }).first().waitFor();
      expect(await unproven(page).count()).toBe(0);
      await go(page, `/applications/${team}/shown`);
      await page.getByRole("heading", { name: "This could not be loaded" }).first().waitFor();
      expect(await unproven(page).count()).toBe(0);
      await expectAccessible(page);
    } finally {
      process.kill(pid ?? 0, "SIGCONT");
    }
    await page.getByText("shown.example.com").waitFor();
    await stale(page).waitFor({ state: "detached" });
  });

  test("keeps the typed text and the object while the API server restarts", async () => {
    const page = await environment.loggedIn(people.alice, team);
    await go(page, `/applications/${team}/shown/settings`);
    const image = page.getByLabel("Image", { exact: true });
    await image.fill("shown:typed");
    await page.evaluate(`{
      window.shown = [];
      new MutationObserver(() => window.shown.push(document.body.innerText)).observe(document.body, { childList: true, subtree: true });
    }`);
    const { apiserver } = environment.platform;
    await apiserver.stop("SIGKILL");
    await stale(page).waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The Kubernetes API does not answer.").last().waitFor();
    await apiserver.start();
    await stale(page).waitFor({ state: "detached" });
    expect(await page.evaluate("window.shown.filter((text) => /You cannot|not found/.test(text))")).toEqual(
      [],
    );
    expect(await image.inputValue()).toBe("shown:typed");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved shown.").waitFor();
  });
});

test("reports a bus outage without an address of the internal network", async () => {
  const { nats } = environment.platform;
  await nats.stop("SIGKILL");
  try {
    const answer = await alice.fetch("/api/bus/figures");
    expect([answer.status, await answer.json()]).toEqual([
      503,
      {
        reason: "BusUnavailable",
        message: "The bus, which stores the sessions, does not answer. Try again in a moment.",
      },
    ]);
  } finally {
    await nats.start();
  }
  await expect.poll(async () => (await alice.fetch(proxied)).status, { timeout: 60_000 }).toBe(200);
});

test("reports a token that the API server rejects", async () => {
  const { apiserver } = environment.platform;
  // It starts without the issuer's keys.
  await environment.issuer.stop();
  await apiserver.stop("SIGKILL");
  await apiserver.start();
  // At first, the rejection could be due to the start.
  await expect.poll(async () => (await alice.fetch(proxied)).status, { timeout: 60_000 }).toBe(401);
  const answer = await alice.fetch(proxied);
  expect([answer.status, await answer.json()]).toMatchObject([
    401,
    { reason: "TokenRefused", message: expect.stringContaining("Log in again") },
  ]);
});
