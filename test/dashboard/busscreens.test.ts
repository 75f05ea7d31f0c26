/** The screens of the bus: live figures, reconciles in flight, and replaying dead letters. */
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Branch } from "../fixtures/functions/branches.ts";
import { Probe } from "../fixtures/functions/probe.ts";
import { expectAccessible } from "../harness/accessible.ts";
import {
  type BusDashboardEnvironment,
  refusalsOn,
  startBusDashboardEnvironment,
} from "../harness/busdashboard.ts";
import { foreign, people, team } from "../harness/dashboard.ts";

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

const card = (page: Page, name: string): Locator => page.getByRole("region", { name, exact: true });

/** A cell, by the names of its row and column. */
async function cell(table: Locator, row: string, column: string): Promise<Locator> {
  await table.getByRole("columnheader", { name: column, exact: true }).waitFor();
  const columns = await table.getByRole("columnheader").allInnerTexts();
  const at = columns.findIndex((name) => name.trim() === column);
  const rows = table
    .getByRole("row")
    .filter({ has: table.page().getByRole("rowheader", { name: row, exact: true }) });
  return rows.getByRole("cell").nth(at - 1);
}
const textOf = async (table: Locator, row: string, column: string): Promise<string> =>
  (await cell(table, row, column)).innerText();

const probings = (name: string): number =>
  environment.worker.log.records().filter(({ msg, key }) => msg === "probing" && key === `${team}/${name}`)
    .length;

test("figures and charts follow changes of objects", { timeout: 300_000 }, async () => {
  await alice.goto(`${environment.url}/bus`);
  const functions = card(alice, "Functions");
  await functions.waitFor();
  expect(await textOf(functions, "probe", "Reconcile, p50 / p99")).toBe("no data");
  await environment.create(Probe, "first", { mode: "ok" });
  const events = card(alice, "Events per second");
  const ofProbes = async () => Number(await textOf(events, "Probe.test.denrei.dev", "In 15 minutes"));
  // One event for the creation, one for the status.
  await expect.poll(ofProbes, polling).toBe(2);
  await expect
    .poll(() => textOf(functions, "probe", "Reconcile, p50 / p99"), polling)
    .toMatch(/^(\d+ ms|[\d.]+ s) \/ (\d+ ms|[\d.]+ s)$/);
  for (const name of ["second", "third"]) await environment.create(Probe, name, { mode: "ok" });
  await expect.poll(ofProbes, polling).toBe(6);

  expect(await textOf(functions, "probe", "Retrying")).toBe("0");
  await environment.create(Probe, "fails", { mode: "throw" });
  await expect.poll(() => textOf(functions, "probe", "Retrying"), polling).toBe("1");
  await environment.create(Probe, "ends", { mode: "terminal" });
  await environment.create(Probe, "ends-too", { mode: "terminal" });
  await expect.poll(() => textOf(functions, "probe", "Dead letters"), polling).toBe("2");

  await alice.getByRole("img", { name: /^Reconciles per second of probe .*between 0 and \d/ }).waitFor();
  for (const colorScheme of ["light", "dark"] as const) {
    await alice.emulateMedia({ colorScheme });
    for (const label of ["Events per second of each kind", "Reconciles per second of probe"])
      await expect.poll(() => hasLine(alice, label), polling).toBe(true);
  }
  await card(alice, "Kinds")
    .getByText(/^All \d+ kinds are watched$/)
    .click();
  await expect
    .poll(() => textOf(card(alice, "Kinds"), "Probe.test.denrei.dev", "Objects"), polling)
    .toBe("6");
  expect(await textOf(card(alice, "Kinds"), "Probe.test.denrei.dev", "State")).toBe("Watching");
  await expectAccessible(alice);
});

/** Whether the chart whose label begins so currently contains the color of its first line. */
const hasLine = (page: Page, label: string): Promise<boolean> =>
  page.evaluate(`(() => {
    const canvas = document.querySelector('[aria-label^="${label}"] canvas');
    const wanted = getComputedStyle(canvas).getPropertyValue("--chart-0").match(/\\d+/g).map(Number);
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const isWanted = (at) => data[at + 3] > 200 && wanted.every((part, n) => Math.abs(part - data[at + n]) < 16);
    return Array.from({ length: data.length / 4 }, (_, pixel) => pixel * 4).some(isWanted);
  })()`);

test("inspecting and replaying a dead letter need separate rights", {
  timeout: 300_000,
}, async () => {
  await bob.goto(`${environment.url}/bus/deadletters`);
  await bob.getByRole("link", { name: "ends", exact: true }).click();
  await card(bob, "Error").getByText("the spec asks for a terminal error", { exact: true }).waitFor();
  const refused = bob.getByRole("button", { name: "Replay" });
  expect(await refused.isDisabled()).toBe(true);
  const why = await bob.locator(`[id="${await refused.getAttribute("aria-describedby")}"]`).innerText();
  expect(why).toMatch(/^You cannot replay dead letters in team-a\. .*deadletters\/replay/);
  await expectAccessible(bob);

  await alice.goto(`${environment.url}/bus`);
  await (await cell(card(alice, "Functions"), "probe", "Dead letters")).getByRole("link").click();
  expect(await alice.getByRole("combobox", { name: "Function", exact: true }).inputValue()).toBe("probe");
  await alice.getByRole("link", { name: "ends", exact: true }).click();
  await alice.getByText(/^TerminalError: the spec asks for a terminal error/).waitFor();
  expect(await card(alice, "Request").innerText()).toMatch(/It changed resource version \d+/);
  await expectAccessible(alice);
  expect(probings("ends")).toBe(1);
  await alice.getByRole("button", { name: "Replay" }).click();
  await expectAccessible(alice);
  await alice.getByRole("dialog").getByRole("button", { name: "Replay" }).click();
  const after = card(alice, "After the replay");
  await after.getByText("Given up").waitFor();
  expect(await after.getByRole("listitem").filter({ hasText: "Reconcile by probe" }).count()).toBe(1);
  expect(await after.innerText()).toMatch(/Dead letter replayed/);
  expect(probings("ends")).toBe(2);
  await expectAccessible(alice);
  await after.getByRole("button", { name: "Open the new dead letter" }).click();
  await card(alice, "Request").getByText("Dead letter replayed").waitFor();
  await alice.getByRole("button", { name: "Replay" }).waitFor();
});

test("all shown dead letters can be replayed at once", async () => {
  // Words hide dead letters, and hidden ones are not replayed.
  await alice.goto(`${environment.url}/bus/deadletters?q=ends-too`);
  await alice.getByRole("button", { name: "Replay the one shown" }).waitFor();
  await expectAccessible(alice);
  await alice.getByRole("searchbox").fill("");
  await alice.getByRole("combobox", { name: "Function", exact: true }).selectOption("probe");
  await alice.getByRole("link", { name: "ends-too", exact: true }).waitFor();
  await expectAccessible(alice);
  const before = ["ends", "ends-too"].map(probings);
  await alice.getByRole("button", { name: "Replay all 2 shown" }).click();
  await alice.getByRole("dialog").getByRole("button", { name: "Replay" }).click();
  await alice.getByText("Requested 2 reconciles.").waitFor();
  await expect
    .poll(() => ["ends", "ends-too"].map(probings), polling)
    .toEqual(before.map((times) => times + 1));
});

test("a user of one namespace sees its part, and which role shows more", async () => {
  await environment.create(Branch, "held", { repository: "acme/held", branch: "main", millis: 600_000 });
  await bob.goto(`${environment.url}/bus`);
  const workers = card(bob, "Workers");
  const held = () =>
    Promise.all(["Function", "Object", "Attempt"].map((column) => textOf(workers, "worker-1", column)));
  await expect.poll(held, polling).toEqual(["branches", `Branch held ${team}`, "1st"]);
  await bob.getByText("You need the role denrei-bus-viewer in the whole cluster").waitFor();
  expect(await card(bob, "Functions").count()).toBe(0);
  await expectAccessible(bob);
  for (const namespace of [foreign, ""]) {
    await bob.getByLabel("Namespace", { exact: true }).fill(namespace);
    await bob.keyboard.press("Enter");
    await bob
      .getByText(`You cannot view the workers. You need the role view in ${namespace || "the whole cluster"}`)
      .waitFor();
  }
  await bob.goto(`${environment.url}/bus/deadletters`);
  await bob.getByRole("heading", { name: "You cannot view dead letters" }).waitFor();
  await expectAccessible(bob);
  await bob.getByLabel("Namespace", { exact: true }).fill(team);
  await bob.keyboard.press("Enter");
  await bob.getByRole("link", { name: "ends", exact: true }).waitFor();
});

test("objects are counted by state: in flight, parked, delayed, or retrying", {
  timeout: 300_000,
}, async () => {
  const held = { namespace: team, name: "held" };
  const change = (spec: object) =>
    environment.client.mergePatch(Branch, held, { spec }, { fieldManager: "test" });
  const functions = card(alice, "Functions");
  const counts = (fn: string, ...columns: string[]) =>
    Promise.all(columns.map((column) => textOf(functions, fn, column)));
  await alice.goto(`${environment.url}/bus`);
  await expect.poll(() => counts("branches", "In flight", "Parked"), polling).toEqual(["1", "0"]);
  await change({ branch: "other" });
  await expect.poll(() => counts("branches", "In flight", "Parked"), polling).toEqual(["1", "1"]);
  await environment.create(Branch, "fails", { repository: "acme/held", branch: "main", failure: "told to" });
  await environment.create(Probe, "fails-too", { mode: "throw" });
  await environment.create(Probe, "later", { mode: "later", millis: 600_000 });
  // One probe still fails from a former test.
  await expect.poll(() => counts("probe", "Delayed", "Retrying"), polling).toEqual(["3", "2"]);
  await expect.poll(() => counts("branches", "Retrying"), polling).toEqual(["1"]);
});

test("pointing at a chart shows the values at that time, within the chart", async () => {
  await alice.goto(`${environment.url}/bus`);
  const chart = alice.getByRole("img", { name: /^Events per second of each kind/ });
  const tooltip = alice.locator(".tooltip");
  const { width, height } = (await chart.boundingBox()) ?? { width: 0, height: 0 };
  // Near the right edge: the newest samples.
  await chart.hover({ position: { x: width - 30, y: height / 2 } });
  await expect
    .poll(() => tooltip.innerText(), polling)
    .toMatch(/^\d\d:\d\d:\d\d\nBranch.test.denrei.dev\n[\d.]+\nProbe.test.denrei.dev\n[\d.]+$/);
  expect(await isWithin(tooltip, chart)).toBe(true);
  await expectAccessible(alice);
  const small = alice.getByRole("img", { name: /^Reconciles per second of probe/ });
  // Near the left edge: 15 minutes ago the dashboard was not running yet.
  await small.hover({ position: { x: 2, y: 16 } });
  await expect.poll(() => tooltip.innerText(), polling).toMatch(/^\d\d:\d\d:\d\d\nno data$/);
  await alice.getByRole("heading", { level: 1 }).hover();
  await tooltip.waitFor({ state: "detached" });
});

/** Whether an element lies completely on another one. */
async function isWithin(inner: Locator, outer: Locator): Promise<boolean> {
  const [a, b] = await Promise.all([inner.boundingBox(), outer.boundingBox()]);
  if (a === null || b === null) return false;
  return a.x >= b.x && a.y >= b.y && a.x + a.width <= b.x + b.width && a.y + a.height <= b.y + b.height;
}

test("a function's page shows its figures over time, and links to its objects and runbooks", async () => {
  await alice.goto(`${environment.url}/bus`);
  await card(alice, "Functions").getByRole("link", { name: "probe", exact: true }).click();
  await alice.getByRole("heading", { name: "probe", level: 1 }).waitFor();
  expect(new URL(alice.url()).pathname).toBe("/bus/functions/probe");
  await alice
    .getByText(/^This dashboard process has counted since \w+ \d+, \d{4}, \d\d:\d\d:\d\d, /)
    .waitFor();
  await alice.getByText(/^Show \d+ steps as a table$/).click();
  const table = alice.getByRole("table", { name: "Figures by step, newest first" });
  const known = async (column: string) => {
    await table.getByRole("columnheader", { name: column, exact: true }).waitFor();
    const columns = await table.getByRole("columnheader").allInnerTexts();
    const at = columns.findIndex((name) => name.trim() === column);
    const cells = await table.locator(`tbody tr > :nth-child(${at + 1})`).allInnerTexts();
    return cells.filter((text) => text !== "–");
  };
  // Two dead letters; three failing probes, which are retried; and some that are done.
  await expect.poll(async () => (await known("Dead letters"))[0], polling).toBe("2");
  await expect.poll(async () => (await known("In flight"))[0], polling).toBe("0");
  for (const column of ["Unseen", "Pending"])
    await expect.poll(async () => (await known(column)).length, polling).toBeGreaterThan(0);
  for (const column of ["Reconciles per second", "Retries per minute"])
    await expect.poll(async () => (await known(column)).some((text) => text !== "0"), polling).toBe(true);
  for (const column of ["To the start p95", "Reconcile p99"])
    await expect
      .poll(async () => (await known(column))[0] ?? "", polling)
      .toMatch(/^(< 1 ms|\d+ ms|[\d.]+ s)$/);
  expect(await table.locator("tbody th").first().innerText()).toMatch(/^\w+ \d+, \d{4} \d\d:\d\d:\d\d$/);
  await alice
    .getByRole("img", { name: /^Dead letters of probe, The last 15 minutes: between 0 and 2, last 2\./ })
    .waitFor();
  for (const label of ["Throughput of probe", "Latency to the start of probe", "Dead letters of probe"])
    await expect.poll(() => hasLine(alice, label), polling).toBe(true);
  for (const width of [320, 768, 1280]) {
    await alice.setViewportSize({ width, height: 720 });
    await expectAccessible(alice);
    const surplus = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    expect([width, await alice.evaluate(surplus)]).toEqual([width, 0]);
  }

  await card(alice, "Dead letters").getByRole("link", { name: "Dead letters" }).click();
  await alice.getByRole("heading", { name: "Dead letters", level: 1 }).waitFor();
  await alice.getByText("RetriesExhausted", { exact: true }).waitFor();
  await expectAccessible(alice);
  await alice.getByRole("link", { name: "Requests wait", exact: true }).click();
  await alice.getByRole("heading", { name: "Requests wait", level: 1 }).waitFor();

  await alice.goto(`${environment.url}/bus/functions/branches`);
  await expect
    .poll(() => textOf(card(alice, "Workers"), "worker-1", "Object"), polling)
    .toBe(`Branch held ${team}`);
  await expect
    .poll(() => card(alice, "In flight").getByRole("img").getAttribute("aria-label"), polling)
    .toMatch(/ last 1\. /);
  await alice.getByRole("link", { name: "Objects in flight" }).click();
  expect(new URL(alice.url()).hash).toBe("#working");
  await alice
    .getByRole("navigation", { name: "Related pages" })
    .getByRole("link", { name: "Dead letters" })
    .click();
  await alice.getByRole("heading", { name: "No dead letters of branches" }).waitFor();
});

test("the period of the charts is chosen, zoomed, and moved, and the address keeps it", async () => {
  await alice.goto(`${environment.url}/bus/functions/probe`);
  const period = card(alice, "Figures").getByRole("status").first();
  const press = async (name: string) => {
    await alice.getByRole("button", { name, exact: true }).focus();
    await alice.keyboard.press("Enter");
  };
  const zoomed = () => {
    const { from, to } = Object.fromEntries(new URL(alice.url()).searchParams);
    return { from: Number(from), to: Number(to), length: Number(to) - Number(from) };
  };
  await period.getByText("The last 15 minutes, in steps of 10 s", { exact: true }).waitFor();
  await press("1 h");
  await period.getByText("The last hour, in steps of 10 s", { exact: true }).waitFor();
  expect(new URL(alice.url()).search).toBe("?range=1h");
  expect(await alice.getByRole("button", { name: "1 h" }).getAttribute("aria-pressed")).toBe("true");
  await press("Zoom in");
  await period.getByText(/^\w+ \d+, \d{4}, [\d:]{8} to \w+ \d+, \d{4}, [\d:]{8}, in steps/).waitFor();
  expect(zoomed().length).toBe(1800);
  const before = zoomed();
  await press("Earlier");
  await expect.poll(zoomed).toEqual({ from: before.from - 900, to: before.to - 900, length: 1800 });
  await expectAccessible(alice);
  await alice.reload();
  await period.getByText(/ to /).waitFor();
  await press("Zoom out");
  await expect.poll(() => zoomed().length).toBe(3600);
  await press("Later");
  await press("Reset zoom");
  await period.getByText("The last hour, in steps of 10 s", { exact: true }).waitFor();
  expect(await alice.locator(":focus").innerText()).toBe("Reset zoom");
  expect(new URL(alice.url()).search).toBe("?range=1h");

  const chart = alice.getByRole("img", { name: /^Throughput of probe/ });
  const { x, y, width, height } = (await chart.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await alice.mouse.move(x + width * 0.5, y + height / 2);
  await alice.mouse.down();
  await alice.mouse.move(x + width * 0.7, y + height / 2, { steps: 5 });
  await alice.mouse.up();
  await period.getByText(/ to /).waitFor();
  // A fifth of the chart, which is a little wider than the hour.
  expect(zoomed().length).toBeGreaterThan(700);
  expect(zoomed().length).toBeLessThan(1100);
});

test("a function, a page, and a runbook that do not exist have a way back", async () => {
  await alice.goto(`${environment.url}/bus/functions/nothing`);
  await alice.getByRole("heading", { name: "Function nothing not found" }).waitFor();
  await expectAccessible(alice);
  await alice.goto(`${environment.url}/bus/runbooks/nothing`);
  await alice.getByText("There is no such runbook.").waitFor();
  await alice.goto(`${environment.url}/bus/nothing`);
  await alice.getByRole("heading", { name: "Page not found", level: 1 }).waitFor();
  await expectAccessible(alice);
  await alice.getByRole("link", { name: "Bus overview" }).click();
  await card(alice, "Functions").waitFor();
  await bob.goto(`${environment.url}/bus/functions/probe`);
  await bob.getByRole("heading", { name: "You cannot view this function" }).waitFor();
  await bob.getByText("You need the role denrei-bus-viewer in the whole cluster").waitFor();
  await expectAccessible(bob);
});

test("the bus screens violate no policy", () => {
  expect(refusals).toEqual([[], []]);
});
