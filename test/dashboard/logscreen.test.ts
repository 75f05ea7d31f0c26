/** The log view: merged logs, colors, search, pausing, and downloads. */
import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resourcePath } from "../../bus/kube/client.ts";
import { apiVersionOf, Pod } from "../../bus/kube/kind.ts";
import { maxLogs } from "../../dashboard/api/log.ts";
import { Application } from "../../functions/paas/kinds.ts";
import { labels } from "../../functions/paas/names.ts";
import { expectAccessible } from "../harness/accessible.ts";
import { type DashboardEnvironment, people, startDashboardEnvironment, team } from "../harness/dashboard.ts";
import { type SimulatedLog, type SimulatedNode, startSimulatedNode } from "../harness/simulatednode.ts";

let environment: DashboardEnvironment;
let node: SimulatedNode;
let page: Page;
/** Violations of the page's Content Security Policy, and uncaught errors. */
const complaints: string[] = [];

beforeAll(async () => {
  environment = await startDashboardEnvironment();
  node = await startSimulatedNode(environment.client);
  page = await environment.loggedIn(people.alice, team);
  page.on("pageerror", ({ message }) => complaints.push(message));
  page.on("console", (message) => {
    if (/Content Security Policy|TrustedScript/.test(message.text())) complaints.push(message.text());
  });
});
afterAll(async () => {
  await node?.stop();
  await environment?.stop();
});

/** Creates an Application without a worker, and pods that seem to be its own. */
async function application(name: string, ...pods: readonly string[]): Promise<SimulatedLog[]> {
  const metadata = { name, namespace: team };
  const spec = { domains: [`${name}.example.com`], replicas: pods.length };
  const object = { apiVersion: apiVersionOf(Application), kind: "Application", metadata, spec };
  await environment.client.create(Application, object, { fieldManager: "test" });
  return Promise.all(pods.map((pod) => podOf(name, pod)));
}
const podOf = (name: string, pod: string): Promise<SimulatedLog> =>
  node.pod(team, `${name}-${pod}`, "main", { [labels.app]: name });

async function open(name: string, query = ""): Promise<Locator> {
  await page.goto(`${environment.url}/applications/${team}/${name}/logs${query}`);
  const log = page.getByRole("log");
  await log.waitFor();
  return log;
}

const time = (millis: number) => new Date(Date.UTC(2026, 0, 2, 3, 4, 5) + millis);
const texts = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `line ${from + at}`);
const shown = (log: Locator): Promise<string[]> => log.locator(".line:not([hidden])").allTextContents();
const shows = (log: Locator, lines: readonly string[]) => expect.poll(() => shown(log)).toEqual(lines);
/** How far the end of the log is below what is shown, in pixels. */
const belowEnd = (log: Locator): Promise<number> =>
  log.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
/** The marked texts. Colors of marks are in no element. */
const marked = (name: string): Promise<string[]> =>
  page.evaluate<string[]>(`[...(CSS.highlights.get("${name}") ?? [])].map((mark) => {
    const range = document.createRange();
    range.setStart(mark.startContainer, mark.startOffset);
    range.setEnd(mark.endContainer, mark.endOffset);
    return range.toString();
  })`);
/** As a kubelet does after the pod has stopped. */
const deletePod = (name: string): Promise<unknown> =>
  environment.client.request({
    method: "DELETE",
    path: resourcePath(Pod, team, name),
    query: { gracePeriodSeconds: 0 },
  });

test("the logs of all pods are one log in order of time, which pods join and leave", async () => {
  const [a, b] = await application("merged", "1-a", "1-b");
  a?.write(time(0), "a starts");
  b?.write(time(1000), "b starts");
  a?.write(time(2000), "a serves");
  const log = await open("merged");
  await shows(log, ["1-a a starts", "1-b b starts", "1-a a serves"]);
  const pods = page.getByRole("combobox", { name: "Pod" });
  expect(await pods.getByRole("option").allTextContents()).toEqual(
    ["All pods (2)", "merged-1-b", "merged-1-a"].sort(),
  );
  await expectAccessible(page);
  const c = await podOf("merged", "2-c");
  c.write(time(1500), "c starts");
  b?.write(time(3000), "b serves");
  const all = ["1-a a starts", "1-b b starts", "2-c c starts", "1-a a serves", "1-b b serves"];
  await shows(log, all);
  await deletePod("merged-1-a");
  await page.getByRole("option", { name: "All pods (2)" }).waitFor({ state: "attached" });
  c.write(time(4000), "c serves");
  await shows(log, [...all, "2-c c serves"]);

  await pods.selectOption("merged-1-b");
  await shows(log, ["b starts", "b serves"]);
  await page.reload();
  await shows(log, ["b starts", "b serves"]);
  await deletePod("merged-1-b");
  await page.getByText("This pod no longer exists.").waitFor();
  await shows(log, ["b starts", "b serves"]);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Show all pods" }).click();
  await shows(log, ["c starts", "c serves"]);
});

test("a restarted container continues its log, and the page offers the log before the restart", async () => {
  const [log] = await application("restarted", "1-a");
  log?.write(time(0), "first run");
  const view = await open("restarted");
  await shows(view, ["first run"]);
  await log?.end();
  await page.getByText("End of log.").waitFor();
  await log?.restart(time(5000));
  log?.write(time(6000), "second run");
  await shows(view, ["first run", "second run"]);
  await page.getByLabel("Show the log from before the last restart").check();
  await page.getByText(/Cannot read the log: previous terminated container/).waitFor();
});

test("colors are shown, and no text hides or imitates other text", async () => {
  const [log] = await application("colors", "1-a");
  const names = Array.from({ length: 16 }, (_, at) => (at < 8 ? 30 + at : 82 + at));
  log?.write(
    time(0),
    ...names.map((code) => `\u001b[${code}mtext ${code}\u001b[0m \u001b[${code + 10}mground ${code}`),
    "\u001b[38;5;17mpalette\u001b[0m and \u001b[48;2;255;255;255mtruecolor\u001b[0m",
    "\u001b[1;3;4;9mstyles\u001b[22;2m dim \u001b[7minverse",
    "10 %\r50 %\r100 %",
    "bell \u0007 and \u202eevil\u200b",
    `<img src=x onerror="document.title='taken'">`,
    "\u001b]8;;https://example.com\u0007link\u001b]8;;\u0007",
  );
  const view = await open("colors");
  await view.getByText("link", { exact: true }).waitFor();
  expect((await shown(view)).slice(16)).toEqual([
    "palette and truecolor",
    "styles dim inverse",
    "100 %",
    "bell \\x07 and \\u202eevil\\u200b",
    `<img src=x onerror="document.title='taken'">`,
    "link",
  ]);
  expect(await view.locator("img, a").count()).toBe(0);
  const colorOf = (text: string) =>
    view
      .getByText(text, { exact: true })
      .evaluate((element) => element.ownerDocument.defaultView?.getComputedStyle(element).color ?? "");
  const colors = await Promise.all(names.map((code) => colorOf(`text ${code}`)));
  expect(new Set(colors).size).toBe(16);
  const [red = 0, , blue = 0] = (await colorOf("palette")).match(/\d+/g)?.map(Number) ?? [];
  expect(blue).toBeGreaterThan(red);
  await expectAccessible(page);
});

test("a search marks and counts matches, steps through them, and filters lines", async () => {
  const [log] = await application("search", "1-a");
  log?.write(
    time(0),
    "GET / 200",
    "get /a 500 \u001b[31mGe\u001b[32mT\u001b[0m",
    ...texts(0, 300),
    "last get (.*)",
  );
  const view = await open("search");
  await view.getByText("last get").waitFor();
  const field = page.getByRole("searchbox", { name: "Find in the log" });
  const count = page.locator("search").getByRole("status");
  await field.fill("get");
  await expect.poll(() => count.textContent()).toBe("4 matches");
  // Only what is in view is marked.
  expect(await marked("log-match")).toEqual(["get"]);
  await field.press("Enter");
  await expect.poll(() => count.textContent()).toBe("1 of 4");
  expect(await marked("log-current-match")).toEqual(["GET"]);
  await expect.poll(() => marked("log-match")).toEqual(["GET", "get", "GeT"]);
  const isInView = (text: string) =>
    view.getByText(text).evaluate((line) => {
      const [outer, inner] = [line.closest(".log"), line].map((element) => element?.getBoundingClientRect());
      return (
        outer !== undefined && inner !== undefined && inner.top >= outer.top && inner.bottom <= outer.bottom
      );
    });
  expect(await isInView("GET / 200")).toBe(true);
  await field.press("Shift+Enter");
  await expect.poll(() => count.textContent()).toBe("4 of 4");
  expect(await isInView("last get")).toBe(true);
  await page.getByRole("button", { name: "Previous match" }).click();
  expect(await marked("log-current-match")).toEqual(["GeT"]);
  await expectAccessible(page);
  await page.getByLabel("Only matching lines").check();
  await shows(view, ["GET / 200", "get /a 500 GeT", "last get (.*)"]);
  await expect.poll(() => marked("log-match")).toEqual(["GET", "get", "GeT", "get"]);
  await field.fill("(.*)");
  await shows(view, ["last get (.*)"]);
  await field.fill("nothing");
  await expect.poll(() => count.textContent()).toBe("No matches");
  await shows(view, []);
  await field.press("Escape");
  await expect.poll(async () => (await shown(view)).length).toBe(303);
  expect(await marked("log-match")).toEqual([]);
});

test("the log follows its end until the user scrolls up, and again after a jump to the end", async () => {
  const [log] = await application("follow", "1-a");
  log?.write(time(0), ...texts(0, 300));
  const view = await open("follow");
  await view.getByText("line 299").waitFor();
  await expect.poll(() => belowEnd(view)).toBeLessThan(2);
  log?.write(time(1), ...texts(300, 400));
  await view.getByText("line 399").waitFor();
  await expect.poll(() => belowEnd(view)).toBeLessThan(2);

  await view.hover();
  await page.mouse.wheel(0, -500);
  await page.getByRole("button", { name: "Jump to the end" }).waitFor();
  const top = await view.evaluate((element) => element.scrollTop);
  log?.write(time(2), ...texts(400, 412));
  const more = page.getByRole("button", { name: "12 new lines" });
  await more.waitFor();
  expect(await view.evaluate((element) => element.scrollTop)).toBe(top);
  expect(await view.getByText("line 411").count()).toBe(0);
  await expectAccessible(page);
  await more.click();
  await view.getByText("line 411").waitFor();
  await expect.poll(() => belowEnd(view)).toBeLessThan(2);
  expect(await view.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);

  await page.keyboard.press("Home");
  await page.getByRole("button", { name: "Jump to the end" }).waitFor();
  await expect.poll(() => view.evaluate((element) => element.scrollTop)).toBe(0);
  await page.keyboard.press("End");
  await page.getByRole("button", { name: "Stop following" }).click();
  log?.write(time(3), "line 412");
  await page.getByRole("button", { name: "1 new line" }).waitFor();
  await page.getByRole("button", { name: "Follow", exact: true }).click();
  await view.getByText("line 412").waitFor();

  // A new line leaves the others alone.
  await page.evaluate(`(() => {
    const log = document.querySelector(".log");
    window.changedChunks = new Set();
    new MutationObserver((changes) => {
      for (const { target } of changes) window.changedChunks.add(target.parentElement.closest(".chunk") ?? target);
    }).observe(log, { subtree: true, childList: true, characterData: true, attributes: true });
  })()`);
  log?.write(time(4), "line 413");
  await view.getByText("line 413").waitFor();
  expect(await page.evaluate("[...window.changedChunks].map((chunk) => chunk.nextElementSibling)")).toEqual([
    null,
  ]);
});

test("timestamps and wrapping are remembered, and all lines can be downloaded", async () => {
  const [a, b] = await application("settings", "1-a", "1-b");
  a?.write(time(0), `\u001b[32mgreen\u001b[0m ${"long ".repeat(100)}end`);
  b?.write(time(1), "second");
  const view = await open("settings");
  await view.getByText("second").waitFor();
  const isWide = () => view.evaluate((element) => element.scrollWidth > element.clientWidth);
  expect([await view.locator("time").count(), await isWide()]).toEqual([0, false]);
  await page.getByLabel("Timestamps").check();
  await page.getByLabel("Wrap lines").uncheck();
  await page.reload();
  await view.getByText("second").waitFor();
  await expect.poll(() => view.locator("time").count()).toBe(2);
  expect(await isWide()).toBe(true);
  const first = view.locator("time").first();
  expect(await first.textContent()).toMatch(/^2026-01-0[123] \d\d:\d\d:05\.000 $/);
  // Ends with the name of the zone.
  expect(await first.getAttribute("title")).toMatch(/January [123], 2026 .*:05.* [A-Z].*/);
  await expectAccessible(page);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download" }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^settings-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.log$/);
  expect(await readFile(await download.path(), "utf8")).toBe(
    `2026-01-02T03:04:05.000000000Z settings-1-a/main green ${"long ".repeat(100)}end\n` +
      "2026-01-02T03:04:05.001000000Z settings-1-b/main second\n",
  );
  await page.getByLabel("Timestamps").uncheck();
  await page.getByLabel("Wrap lines").check();
});

test("only the newest logs are merged if there are many", async () => {
  const names = Array.from({ length: maxLogs + 1 }, (_, at) => `1-${at}`);
  const logs = await application("many", ...names);
  logs.forEach((log, at) => {
    log.write(time(at), `pod ${at}`);
  });
  const view = await open("many");
  await page.getByText(`Showing the newest ${maxLogs} of ${maxLogs + 1} logs.`).waitFor();
  await expect.poll(async () => (await shown(view)).length).toBe(maxLogs);
  await expectAccessible(page);
});

test("the page violates no policy and throws no error", () => {
  expect(complaints).toEqual([]);
});
