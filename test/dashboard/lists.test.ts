/** Lists: order, filters, Back, long texts, and copies of image names. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { apiVersionOf, type Kind } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { Installation } from "../../functions/ghapp/kinds.ts";
import { Application, AppPipeline, RemoteSync } from "../../functions/paas/kinds.ts";
import { expectAccessible } from "../harness/accessible.ts";
import { type DashboardEnvironment, people, startDashboardEnvironment, team } from "../harness/dashboard.ts";
import { Event } from "../ket/event.ts";

const manager = { fieldManager: "test" };
/** As long as a host may be. */
const longHost = `${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.example.com`;
const digest = "0123456789abcdef".repeat(4);
const longName = `a-name-that-is-about-as-long-as-kubernetes-allows-${"x".repeat(13)}`;
const since = "2026-01-01T00:00:00Z";
const longImage = `registry.example.com/a-rather-long-name-of-a-team/web@sha256:${digest}`;
const shortImage = longImage.replace(digest, `${digest.slice(0, 12)}…`);

let environment: DashboardEnvironment;
let page: Page;
beforeAll(async () => {
  environment = await startDashboardEnvironment();
  await Promise.all([...Array.from({ length: 40 }, (_, at) => create(at + 1)), createOthers()]);
  page = await environment.loggedIn(people.alice, team);
});
afterAll(() => environment?.stop());

/** Creates an object with a status that no function changes. */
async function put<T extends KubeObject>(
  kind: Kind<T>,
  name: string,
  { spec, status }: Pick<T, "spec" | "status">,
): Promise<void> {
  const { client } = environment;
  const key = { namespace: team, name };
  const object = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: key, spec };
  await client.create(kind, object as never, manager);
  await client.mergePatch(kind, key, { status }, { ...manager, subresource: "status" });
}

/** The page derives tone and label of an object from its condition `Ready`. */
const ready = (reason: string) => ({
  type: "Ready",
  status: reason === "Deployed" ? ("True" as const) : ("False" as const),
  reason,
  message: "",
  lastTransitionTime: new Date().toISOString(),
});

/** `web-3` has 3 ready pods; every third one failed, and every third one is progressing. */
const create = (at: number) => {
  const host = at === 1 ? longHost : `web-${at}.example.com`;
  const urls = [`https://${host}`];
  return put(Application, `web-${at}`, {
    spec: { domains: [host], replicas: at },
    status: {
      url: urls[0],
      urls,
      currentImage: longImage,
      history: [{ image: longImage, time: new Date().toISOString() }],
      readyReplicas: at,
      conditions: [ready(["Deployed", "RolloutFailed", "Progressing"][at % 3] ?? "")],
    },
  } as Application);
};

/** Objects with long texts in the other lists. */
async function createOthers(): Promise<void> {
  const github = { owner: "acme", repo: longName, secretName: "acme-web" };
  const image = { name: `registry.example.com/${longName}` };
  const conditions = [ready("ImageRepositoryForbidden")];
  await put(RemoteSync, longName, {
    spec: { applicationRef: { name: longName }, base: { github }, image },
    status: { conditions, revision: "1".repeat(40), latestImage: longImage },
  } as RemoteSync);
  const preview = { number: 1, phase: "Ready", headSHA: "1".repeat(40), headRef: longName, since };
  await put(AppPipeline, longName, {
    spec: { applicationTemplate: {}, base: { github }, domainBase: longHost.slice(64), image },
    status: { conditions, open: 1, previews: [{ ...preview, url: `https://${longHost}` }] },
  } as unknown as AppPipeline);
  await put(Installation, longName, {
    spec: {
      appRef: { kind: "GitHubApp", name: longName },
      installationID: 815,
      format: "basic-auth",
      repositories: [longName, "docs"],
      template: {},
    },
    status: { conditions, secret: longName, expiresAt: since, refreshAt: since },
  } as unknown as Installation);
}

const go = async (path: string) => {
  await page.goto(`${environment.url}${path}`);
  await page.getByRole("rowheader").first().waitFor();
};
const names = () => page.locator("tbody th a").allInnerTexts();
const untilNames = (expected: readonly string[]) =>
  expect.poll(async () => (await names()).slice(0, expected.length)).toEqual(expected);
const header = (name: string) => page.getByRole("columnheader", { name, exact: true });
const query = () => {
  const { namespace, ...others } = Object.fromEntries(new URL(page.url()).searchParams);
  expect(namespace).toBe(team);
  return others;
};
const status = (name: string) => page.getByRole("group", { name: "Status" }).getByRole("button", { name });

test("the headers sort a list by mouse and keyboard, and the address keeps the order", async () => {
  await go("/applications?kept=1");
  expect(await header("Name").getAttribute("aria-sort")).toBe("none");
  await header("Name").getByRole("button").click();
  await untilNames(["web-1", "web-2", "web-3"]);
  expect(await header("Name").getAttribute("aria-sort")).toBe("ascending");
  await header("Pods").getByRole("button").focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Space");
  await untilNames(["web-40", "web-39", "web-38"]);
  expect(await header("Pods").getAttribute("aria-sort")).toBe("descending");
  expect(await header("Name").getAttribute("aria-sort")).toBe("none");
  expect(query()).toEqual({ kept: "1", sort: "-pods" });
  await expectAccessible(page);
  await page.reload();
  await untilNames(["web-40", "web-39", "web-38"]);
  await header("Pods").getByRole("button").click();
  await untilNames(["web-1", "web-10", "web-11"]);
  expect(query()).toEqual({ kept: "1" });
  // Objects that need attention come first.
  await header("Health").getByRole("button").click();
  await untilNames(["web-1", "web-10", "web-13"]);
});

test("words and statuses filter a list, and a list without matches names its filters", async () => {
  await go("/applications");
  await page.getByText("40 Applications", { exact: true }).waitFor();
  expect(await page.getByRole("group", { name: "Status" }).getByRole("button").allTextContents()).toEqual([
    "Needs attention 14",
    "In progress 13",
    "Ready 13",
  ]);
  await status("Needs attention").click();
  await page.getByText("14 of 40 Applications").waitFor();
  await status("Ready").click();
  await page.getByText("27 of 40 Applications").waitFor();
  expect(await status("Ready").getAttribute("aria-pressed")).toBe("true");
  await status("Ready").click();
  await page.getByRole("searchbox").fill("web-4 rollout");
  await untilNames(["web-4", "web-40"]);
  await page.getByText("2 of 40 Applications").waitFor();
  await expect.poll(query).toEqual({ q: "web-4 rollout", status: "bad" });
  await expectAccessible(page);
  await page.reload();
  await untilNames(["web-4", "web-40"]);
  await page.getByRole("searchbox").fill("nothing");
  await page
    .getByText("No Applications match the text “nothing” and the status “Needs attention”.")
    .waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByText("40 Applications", { exact: true }).waitFor();
  expect(query()).toEqual({});
  expect(await page.locator(":focus").getAttribute("type")).toBe("search");
});

test("Back restores filter, order, scroll position, and focus, and Forward those of the other screen", async () => {
  await go("/applications");
  await header("Pods").getByRole("button").click();
  await page.getByRole("searchbox").fill("web-");
  const link = page.getByRole("link", { name: "web-30", exact: true });
  await link.scrollIntoViewIfNeeded();
  const top = await page.evaluate<number>("scrollY");
  expect(top).toBeGreaterThan(300);
  await link.click();
  await page.getByRole("heading", { name: "web-30", level: 1 }).waitFor();
  expect(await page.evaluate("scrollY")).toBe(0);

  const position = () => page.evaluate("scrollY");
  await page.goBack();
  await expect.poll(position).toBe(top);
  expect(query()).toEqual({ q: "web-", sort: "pods" });
  await expect.poll(() => page.locator(":focus").innerText()).toBe("web-30");
  expect(await page.getByRole("searchbox").inputValue()).toBe("web-");
  await page.goForward();
  await page.getByRole("heading", { name: "web-30", level: 1 }).waitFor();
  expect(await position()).toBe(0);
  // A reload in between forgets nothing.
  await page.reload();
  await page.getByRole("heading", { name: "web-30", level: 1 }).waitFor();
  await page.goBack();
  await expect.poll(position).toBe(top);
});

test("a user who scrolls before the list is there keeps the position", async () => {
  await go("/applications");
  await page.getByRole("link", { name: "web-30", exact: true }).click();
  await page.getByRole("heading", { name: "web-30", level: 1 }).waitFor();
  // A reload forgets the list, so that Back waits for it.
  await page.reload();
  await page.getByRole("heading", { name: "web-30", level: 1 }).waitFor();
  const watch = /\/api\/watch/;
  let arrive = (): void => undefined;
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  await page.route(watch, async (route) => {
    await arrived;
    await route.continue();
  });
  onTestFinished(() => page.unroute(watch));
  await page.goBack();
  await page.getByRole("heading", { name: "Applications", level: 1 }).waitFor();
  await page.keyboard.press("PageDown");
  arrive();
  await page.getByRole("rowheader").first().waitFor();
  expect(await page.evaluate("scrollY")).toBe(0);
});

/** Words of statuses in tables that break in two. */
const wordsInTwoLines = `[...document.querySelectorAll("td .status")].flatMap(({ firstChild: text }) =>
  [...text.data.matchAll(/\\S+/g)].filter(({ 0: word, index }) => {
    const range = document.createRange();
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    return range.getClientRects().length > 1;
  }).map(([word]) => word))`;

test.each([1280, 1024, 768, 320])("at %i px no column and no action is outside the screen", async (width) => {
  onTestFinished(() => page.setViewportSize({ width: 1280, height: 720 }));
  await page.setViewportSize({ width, height: 800 });
  for (const path of [
    `/applications/${team}/web-1`,
    `/applications/${team}/web-1/history`,
    "/builds",
    `/builds/${team}/${longName}`,
    "/previews",
    `/previews/${team}/${longName}`,
    "/github",
    "/applications",
  ]) {
    await page.goto(`${environment.url}${path}`);
    await page.locator("main .status").first().waitFor();
    const outside = await page.evaluate<string[]>(`[...document.querySelectorAll(
      "main :is(td, th, a, button, code, .status, dd)")].filter((element) => {
        const { left, right, width, height } = element.getBoundingClientRect();
        return width > 1 && height > 1 && (left < 0 || right > innerWidth);
      }).map(({ textContent }) => textContent)`);
    expect(outside, path).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBeLessThanOrEqual(width);
    expect(await page.evaluate(wordsInTwoLines), path).toEqual([]);
    for (const clipped of await page.locator(".table").all())
      expect(await clipped.evaluate((table) => table.scrollWidth - table.clientWidth), path).toBe(0);
  }
  await expectAccessible(page);
});

test("an image is shown with an abbreviated digest, and copied in full", async () => {
  await go("/applications");
  const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: "web-2", exact: true }) });
  expect(await row.locator("code").innerText()).toBe(shortImage);
  expect(await row.locator("code").getAttribute("title")).toBe(longImage);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: environment.url });
  await row.getByRole("button", { name: `Copy ${shortImage}` }).click();
  await row.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(longImage);
  await expectAccessible(page);
  // Without a clipboard, the whole text is selected.
  await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
  await row.getByRole("button", { name: `Copy ${shortImage}` }).click();
  await row.getByRole("button", { name: "Selected" }).waitFor();
  expect(await page.evaluate("getSelection().toString()")).toBe(longImage);
});

test("events are newest first, whatever their precision, with counts and full times", async () => {
  const { uid } = (await environment.client.get(Application, { namespace: team, name: "web-2" })).metadata;
  const base = Date.now() - 60_000;
  const at = (seconds: number) => new Date(base + seconds * 1000).toISOString();
  const micros = (seconds: number) => at(seconds).replace("Z", "000Z");
  const event = (name: string, times: object) =>
    environment.client.create(
      Event,
      {
        apiVersion: apiVersionOf(Event),
        kind: "Event",
        metadata: { namespace: team, name: name.toLowerCase() },
        regarding: {
          apiVersion: apiVersionOf(Application),
          kind: "Application",
          namespace: team,
          name: "web-2",
          uid,
        },
        type: "Normal",
        action: "Test",
        reason: name,
        note: `note of ${name}: ${longImage}`,
        reportingController: "example.com/test",
        reportingInstance: "test-1",
        ...times,
      } as never,
      manager,
    );
  await event("Oldest", { eventTime: micros(0) });
  await event("Newest", { eventTime: micros(1), series: { count: 7, lastObservedTime: micros(30) } });
  await event("Middle", { eventTime: micros(20) });
  await page.goto(`${environment.url}/applications/${team}/web-2`);
  const events = page.getByRole("region", { name: "Events" });
  await events.getByText("note of Oldest").waitFor();
  expect(await events.locator(".status").allInnerTexts()).toEqual(["Newest", "Middle", "Oldest"]);
  const newest = events.getByRole("listitem").first();
  expect(await newest.innerText()).toContain("7 times");
  expect(await newest.locator("p").innerText()).toBe(`note of Newest: ${shortImage}`);
  expect(await newest.locator("p").getAttribute("title")).toBe(`note of Newest: ${longImage}`);
  expect(await events.locator("time").first().getAttribute("title")).toMatch(
    /\b20\d\d\b.* \d{1,2}:\d\d:\d\d.* (UTC|GMT)/,
  );
});
