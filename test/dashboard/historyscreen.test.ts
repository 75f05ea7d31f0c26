/** The history screen: from the webhook to the write, by object and by trace. */
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { activityReporter } from "../../bus/activity/reporter.ts";
import { connectBus } from "../../bus/nats/connect.ts";
import { activityStream } from "../../bus/subjects.ts";
import { Application } from "../../functions/paas/kinds.ts";
import { Album } from "../fixtures/functions/albums.ts";
import { Probe } from "../fixtures/functions/probe.ts";
import { Sticker } from "../fixtures/functions/stickers.ts";
import { expectAccessible } from "../harness/accessible.ts";
import {
  type BusDashboardEnvironment,
  refusalsOn,
  startBusDashboardEnvironment,
} from "../harness/busdashboard.ts";
import { foreign, people, team } from "../harness/dashboard.ts";
import { hookOf, post, push } from "../harness/webhooks.ts";

const polling = { timeout: 60_000, interval: 100 };

let environment: BusDashboardEnvironment;
let alice: Page;
let bob: Page;
let refusals: readonly (readonly string[])[];
beforeAll(async () => {
  environment = await startBusDashboardEnvironment();
  alice = await environment.loggedIn(people.alice, team);
  bob = await environment.loggedIn(people.bob, team);
  refusals = [alice, bob].map(refusalsOn);
});
afterAll(() => environment?.stop());

const traces = (page: Page): Locator => page.getByRole("region", { name: /^Trace [0-9a-f]{32}$/ });
const suggested = async (page: Page, list: string): Promise<(string | null)[]> =>
  Promise.all((await page.locator(`#${list} option`).all()).map((option) => option.getAttribute("value")));
/** The first words of each entry, in order. */
const headlines = (trace: Locator): Promise<string[]> =>
  trace.locator(".entry > p:first-child > strong").allInnerTexts();

test("an object's history begins with the webhook and ends with the write, as does its trace", {
  timeout: 300_000,
}, async () => {
  await environment.create(Sticker, "web", { repository: "acme/web" });
  await alice.goto(`${environment.url}/bus/history`);
  await alice.getByRole("heading", { name: "From the webhook to the API write" }).waitFor();
  await expectAccessible(alice);
  await expect
    .poll(() => suggested(alice, "bus-kinds"), polling)
    .toEqual(expect.arrayContaining(["Application", "Sticker", "stickers"]));

  await alice.getByLabel("Kind or function").fill("stickers");
  expect(await alice.getByLabel("Object namespace").inputValue()).toBe(team);
  await alice.getByLabel("Object name", { exact: true }).fill("web");
  await alice.getByRole("button", { name: "Show history" }).click();
  await expect.poll(() => traces(alice).count(), polling).toBe(1);
  expect(new URL(alice.url()).search).toBe(`?group=test.denrei.dev&kind=Sticker&namespace=${team}&name=web`);

  // A webhook only reaches objects that were reconciled before.
  const hook = hookOf("push", push("acme/web", "main"));
  expect(await post(environment.gateway.hookUrl(), hook)).toBe(202);
  const written = await environment.until(
    Sticker,
    { namespace: team, name: "web" },
    ({ status }) => status?.delivery === hook.delivery,
  );
  await expect.poll(() => traces(alice).count(), polling).toBe(2);
  const newest = traces(alice).first();
  expect(await headlines(newest)).toEqual(["Webhook", "Reconcile by stickers"]);
  const [webhook, reconcile] = await newest.locator("ol.timeline > li").allInnerTexts();
  expect(webhook).toContain(`Delivery ${hook.delivery}`);
  expect(webhook).toMatch(/^\w+ \d+, \d{4}\s+\d\d:\d\d:\d\d\.\d{3}\n/);
  expect(await alice.getByText(/^All times are in \S+/).count()).toBe(1);
  expect(reconcile).toContain("Done");
  expect(reconcile).toContain(`Webhook github push received delivery ${hook.delivery}`);
  expect(reconcile).toMatch(/1st attempt, by worker-1: waited .+, took .+/);
  const write = newest.getByRole("list", { name: "Writes" }).getByRole("listitem");
  expect(await write.allInnerTexts()).toEqual([
    `Wrote the status of Sticker web ${team} resource version ${written.metadata.resourceVersion}`,
  ]);
  await expectAccessible(alice);

  const id = String(await newest.getByRole("heading").getByRole("link").innerText());
  await newest.getByRole("heading").getByRole("link").click();
  await alice.getByRole("heading", { name: `Trace ${id.slice(0, 8)}`, level: 1 }).waitFor();
  await expect.poll(() => traces(alice).count(), polling).toBe(1);
  expect(await headlines(traces(alice))).toEqual(["Webhook", "Reconcile by stickers"]);
  await expectAccessible(alice);

  await bob.goto(`${environment.url}/bus/history`);
  await bob.getByLabel("Trace ID").fill(`00-${id}-0123456789abcdef-01`);
  await bob.getByRole("button", { name: "Show trace" }).click();
  await expect.poll(() => traces(bob).count(), polling).toBe(1);
  expect(await headlines(traces(bob))).toEqual(["Webhook", "Reconcile by stickers"]);
});

/** The lines of a causal tree: function, object, and outcome of each step, indented by its level. */
async function treeLines(page: Page): Promise<string[]> {
  const items = await page.locator("ol.causes > li").all();
  return Promise.all(
    items.map(async (item) => {
      const levels = await item.locator("xpath=ancestor::ol[@class='causes']").count();
      const row = (await item.locator("> .row").innerText()).replaceAll(/\s+/g, " ");
      return "  ".repeat(levels - 1) + row.replace(/^\+[\d.]+ m?s /, "");
    }),
  );
}

test("a webhook's causal history has every reconcile and write that followed, across functions", {
  timeout: 300_000,
}, async () => {
  await environment.create(Sticker, "front", { repository: "acme/book" });
  await environment.create(Album, "book", { repository: "acme/book" });
  const history = (kind: string, name: string) =>
    `${environment.url}/bus/history?group=test.denrei.dev&kind=${kind}&namespace=${team}&name=${name}`;
  // A webhook only reaches objects that were reconciled before.
  for (const [kind, name] of [
    ["Sticker", "front"],
    ["Album", "book"],
  ] as const) {
    await bob.goto(history(kind, name));
    await expect.poll(() => traces(bob).count(), polling).toBe(1);
  }
  const hook = hookOf("push", push("acme/book", "main"));
  expect(await post(environment.gateway.hookUrl(), hook)).toBe(202);
  // Entered at the end, and followed back to the beginning.
  await bob.goto(history("Sticker", "book"));
  await expect.poll(() => traces(bob).count(), polling).toBe(2);
  await traces(bob).first().getByRole("link", { name: "Causal history" }).click();
  await bob.getByRole("heading", { name: "Causal history", level: 1 }).waitFor();
  await expect.poll(() => treeLines(bob), polling).toHaveLength(3);
  const lines = await treeLines(bob);
  // The webhook triggers both at once.
  const other = `stickers Sticker front ${team} Done`;
  expect(lines).toContain(other);
  expect(lines.filter((line) => line !== other)).toEqual([
    `albums Album book ${team} Done`,
    `  stickers Sticker book ${team} Done You came from here`,
  ]);
  const origin = bob.getByRole("region", { name: "Origin" });
  expect(await origin.innerText()).toContain(`Delivery ${hook.delivery}`);
  expect(await origin.innerText()).toContain("acme/book refs/heads/main");
  const write = bob.getByRole("listitem").filter({ hasText: /^Applied Sticker book/ });
  await write.getByText("1 reconcile followed").click();
  await bob.getByText("You came from here").waitFor({ state: "hidden" });
  await expectAccessible(bob);
  // The run before the webhook was that of the creation.
  await origin.getByRole("link", { name: "albums" }).click();
  await origin.getByText(/by a user or another program$/).waitFor();
  expect(await treeLines(bob)).toEqual([`albums Album book ${team} Done You came from here`]);

  await bob.goto(history("Album", "book"));
  await traces(bob).first().getByRole("link", { name: "Causal history" }).click();
  await expect.poll(() => treeLines(bob), polling).toHaveLength(3);
  expect(await origin.getAttribute("aria-current")).toBe("true");
});

test("reports an entry that is not kept, or that the user may not see", async () => {
  for (const entry of ["reconcile-stickers-999999", "webhook-999999"]) {
    await bob.goto(`${environment.url}/bus/causality?entry=${entry}`);
    await bob.getByRole("heading", { name: "This entry is gone" }).waitFor();
  }
  await expectAccessible(bob);
  await bob.goto(`${environment.url}/bus/causality?entry=reconcile-stickers-1&namespace=${foreign}`);
  await bob.getByRole("heading", { name: "You cannot view this history" }).waitFor();
  await bob.getByLabel("Namespace", { exact: true }).fill(team);
  await bob.keyboard.press("Enter");
  await bob.getByRole("heading", { name: "What followed" }).waitFor();
});

test("suggests the names of objects that the user may list", async () => {
  await environment.create(Application, "shop", { domains: ["shop.example.com"], replicas: 1 });
  await bob.goto(`${environment.url}/bus/history`);
  await bob.getByLabel("Kind or function").fill("Application");
  await expect.poll(() => suggested(bob, "bus-names"), polling).toEqual(["shop"]);
});

test("an Application's screen links to its history, and back", async () => {
  await bob.goto(`${environment.url}/applications/${team}/shop/history`);
  await bob.getByRole("link", { name: "Show its history on the bus" }).click();
  await bob.getByRole("heading", { name: "History of Application shop", level: 1 }).waitFor();
  await bob.getByRole("link", { name: "Open the Application shop" }).click();
  await bob.getByRole("heading", { name: "shop", level: 1 }).waitFor();
});

test("the history has failed attempts, the dead letter, and Kubernetes Events", async () => {
  await environment.create(Probe, "ends", { mode: "terminal" });
  await alice.goto(
    `${environment.url}/bus/history?kind=Probe&group=test.denrei.dev&namespace=${team}&name=ends`,
  );
  await expect
    .poll(async () => headlines(traces(alice).first()), polling)
    .toEqual(["Reconcile by probe", "Dead letter of probe"]);
  await expect
    .poll(() => headlines(alice.getByRole("region", { name: "No trace" })), polling)
    .toEqual(["Event"]);
  await expectAccessible(alice);
  await alice.getByRole("link", { name: "Inspect it" }).click();
  await alice.getByRole("region", { name: "Error" }).waitFor();
});

test("a long history is shown from its end, and loads older entries on demand", async () => {
  // More than fits one response, of two functions, because at most 200 records per object and function are retained.
  const each = 150;
  const bus = await connectBus({ url: environment.platform.natsUrl, name: "test" });
  const tell = activityReporter(bus.nc);
  const start = Date.now() - 2 * each * 1000;
  const lastOf = async (fn: string) => (await bus.jsm.streams.info(activityStream(fn))).state.last_seq;
  const stored = async () => (await lastOf("probe")) + (await lastOf("stickers"));
  const before = await stored();
  for (let at = 0; at < 2 * each; at++) {
    const fn = at % 2 === 0 ? "probe" : "stickers";
    tell(
      { fn, cluster: "default" },
      { namespace: team, name: "busy" },
      {
        replica: "worker-1",
        group: Probe.group,
        kind: Probe.kind,
        causes: [{ type: "timer" }],
        attempt: 0,
        startedAt: start + at * 1000,
        waitedMillis: 1,
        tookMillis: 1,
        outcome: "success",
        writes: [],
        writeCount: 0,
        traceparent: `00-${String(Math.floor(at / each)).padStart(32, "a")}-0123456789abcdef-01`,
      },
    );
  }
  await expect.poll(stored, polling).toBeGreaterThanOrEqual(before + 2 * each);
  await bus.nc.close();
  await alice.goto(
    `${environment.url}/bus/history?kind=Probe&group=test.denrei.dev&namespace=${team}&name=busy`,
  );
  const earlier = alice.getByRole("button", { name: "Show earlier entries" });
  await earlier.waitFor();
  const reconciles = () => alice.getByText(/^Reconcile by (probe|stickers)$/).count();
  expect(await reconciles()).toBe(200);
  await earlier.click();
  await expect.poll(reconciles, polling).toBe(2 * each);
  await earlier.waitFor({ state: "hidden" });
  expect(await headlines(traces(alice).last())).toHaveLength(each);
  const clocks = await traces(alice).last().locator("time.clock").all();
  const times = await Promise.all(clocks.map((clock) => clock.getAttribute("datetime")));
  expect(times).toEqual([...times].sort());
});

test("reports an unknown object, and a missing right", async () => {
  await bob.goto(`${environment.url}/bus/history?kind=Application&namespace=${team}&name=never`);
  await bob.getByRole("heading", { name: "No history of Application never" }).waitFor();
  await expectAccessible(bob);
  await bob.goto(`${environment.url}/bus/history?kind=Application&namespace=${foreign}&name=web`);
  await bob.getByRole("heading", { name: "You cannot view this history" }).waitFor();
  await expectAccessible(bob);
  await bob.goto(`${environment.url}/bus/history?trace=nonsense`);
  await bob.getByRole("heading", { name: "No history of this trace" }).waitFor();
});

test("on a tablet, no figure of a function is outside the table of the overview", async () => {
  await alice.setViewportSize({ width: 768, height: 800 });
  await alice.goto(`${environment.url}/bus`);
  const table = alice.getByRole("region", { name: "Functions" }).locator(".table");
  await table.waitFor();
  const beyond = () => table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
  await expect.poll(beyond).toBe(0);
  await expectAccessible(alice);
});

test("the history screen violates no policy", () => {
  expect(refusals).toEqual([[], []]);
});
