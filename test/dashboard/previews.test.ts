/** AppPipelines and their previews on the page. The tests write the statuses that functions would write. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { installCrds } from "../../bus/kube/install.ts";
import { apiVersionOf } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { kpackCrds } from "../../deploy/simulators/kpack/crds.ts";
import { Image } from "../../functions/paas/kinds/kpack.ts";
import { AppPipeline, type Preview } from "../../functions/paas/kinds.ts";
import { annotations, labels } from "../../functions/paas/names.ts";
import { expectAccessible } from "../harness/accessible.ts";
import { type DashboardEnvironment, people, startDashboardEnvironment, team } from "../harness/dashboard.ts";

const manager = { fieldManager: "test" };
const since = "2026-01-02T03:04:05Z";
const later = new Date(Date.now() + 3_600_000).toISOString();

let environment: DashboardEnvironment;
let alice: Page;
/** Violations of the page's Content Security Policy, and uncaught errors. */
const complaints: string[] = [];

beforeAll(async () => {
  environment = await startDashboardEnvironment();
  const { client } = environment;
  await installCrds(client, kpackCrds, { ...manager, signal: AbortSignal.timeout(60_000) });
  alice = await environment.loggedIn(people.alice, team);
  alice.on("pageerror", ({ message }) => complaints.push(message));
  alice.on("console", (message) => {
    if (/Content Security Policy|TrustedScript/.test(message.text())) complaints.push(message.text());
  });
});
afterAll(() => environment?.stop());

const at = (name: string) => ({ namespace: team, name });

const specOf = (repo: string): AppPipeline["spec"] => ({
  domainBase: "preview.example.com",
  applicationTemplate: {},
  base: { github: { owner: "acme", repo, secretName: "acme-web" } },
  image: { name: "registry.example.com/acme/web" },
});

async function create(name: string, status?: AppPipeline["status"]): Promise<void> {
  const { client } = environment;
  const object = { apiVersion: apiVersionOf(AppPipeline), kind: AppPipeline.kind, spec: specOf(name) };
  await client.create(AppPipeline, { ...object, metadata: at(name) }, manager);
  if (status) await say(name, status);
}

const say = (name: string, status: AppPipeline["status"]) =>
  environment.client.mergePatch(AppPipeline, at(name), { status }, { ...manager, subresource: "status" });

const get = (name: string): Promise<Stored<AppPipeline>> => environment.client.get(AppPipeline, at(name));

const preview = (number: number, phase: Preview["phase"], more: Partial<Preview> = {}): Preview => ({
  number,
  headSHA: String(number).repeat(40),
  headRef: `feature/${number}`,
  since,
  phase,
  ...more,
});

async function open(path: string): Promise<Page> {
  await alice.goto(environment.url + path);
  await alice.getByRole("heading", { level: 1 }).waitFor();
  return alice;
}

/** The contents of each column of the board. */
async function board(page: Page): Promise<Record<string, string[]>> {
  const columns = page.getByRole("region", { name: "Pull requests" }).getByRole("region");
  await columns.first().waitFor();
  const found = await columns.all();
  const entries = found.map(async (column) => {
    const name = await column.getByRole("heading", { level: 3 }).innerText();
    const cards = await column.locator("li strong").allInnerTexts();
    return [name.replace(/\s+/, " "), cards] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

test("a board shows previews by phase, and moves them live", async () => {
  const url = "https://pr-4-web-abc.preview.example.com";
  const previews = [
    preview(1, "NeedsApproval", { fork: "stranger/web" }),
    preview(2, "Waiting"),
    preview(3, "Building", { application: "modoki-pipeline-web-pr-3" }),
    preview(4, "Ready", { url, application: "modoki-pipeline-web-pr-4" }),
    preview(5, "Failed", { message: "build 1 failed in the step build: <b>exit</b> status 1" }),
    preview(6, "Expired"),
    preview(7, "Resolving"),
    preview(8, "Ready", { url: "javascript:alert(1)", fork: "friend/web", approvedSHA: "a".repeat(40) }),
  ];
  await create("web", { open: 8, previews });
  const page = await open("/previews");
  await page.getByRole("row", { name: /^web Waiting acme\/web 8 2 preview\.example\.com/ }).waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "web", exact: true }).click();
  expect(await board(page)).toEqual({
    "Waiting 3": ["#1", "#2", "#6"],
    "Building 2": ["#3", "#7"],
    "Deploying 0": [],
    "Ready 2": ["#4", "#8"],
    "Failed 1": ["#5"],
  });
  const card = (number: number) => page.getByRole("listitem").filter({ hasText: `#${number}` });
  await card(1).getByText("from a fork: stranger/web").waitFor();
  const link = card(4).getByRole("link", { name: url });
  expect([await link.getAttribute("href"), await link.getAttribute("rel")]).toEqual([
    url,
    "noopener noreferrer",
  ]);
  const application = card(4).getByRole("link", { name: "Application of #4" });
  expect(await application.getAttribute("href")).toBe("/applications/team-a/modoki-pipeline-web-pr-4");
  const build = card(3).getByRole("link", { name: "Build of #3" });
  expect(await build.getAttribute("href")).toBe("/builds/team-a/modoki-pipeline-web-pr-3");
  await card(5).getByText("in the step build: <b>exit</b> status 1").waitFor();
  await card(8).getByText("aaaaaaa").waitFor();
  await card(8).getByText("The newer commit 8888888 is not approved yet.").waitFor();
  await card(8).getByText("javascript:alert(1)").waitFor();
  expect(await card(8).getByRole("link").count()).toBe(0);
  await expectAccessible(page);

  await say("web", {
    open: 8,
    previews: previews.map((one) => (one.number === 3 ? preview(3, "Deploying") : one)),
  });
  await page.getByRole("region", { name: "Deploying 1" }).getByText("#3").waitFor();
  expect((await board(page))["Building 1"]).toEqual(["#7"]);
});

test("on a phone the columns are stacked, and nothing is wider than the screen", async () => {
  const page = await open("/previews/team-a/web");
  await page.setViewportSize({ width: 390, height: 800 });
  await page.getByRole("region", { name: "Ready 2" }).waitFor();
  const tops = [];
  for (const name of ["Waiting 3", "Building 1", "Deploying 1", "Ready 2", "Failed 1"])
    tops.push((await page.getByRole("region", { name }).boundingBox())?.y ?? Number.NaN);
  expect(tops).toEqual(tops.toSorted((a, b) => a - b));
  expect(new Set(tops).size).toBe(5);
  for (const [path, text] of [
    ["/previews", "acme/web"],
    ["/previews/team-a/web", "feature/4"],
    ["/previews/new", "Pull request filter"],
  ] as const) {
    await open(path);
    await page.getByText(text).first().waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBe(390);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
});

const given = (digit: string) => ({
  context: "denrei/prod/team-a/told",
  sha: digit.repeat(40),
  digest: "digest",
});

test("describes what was reported to GitHub, with links if GitHub's URL is known", async () => {
  await create("told", {
    reports: [
      { number: 1, statuses: [given("1")], comment: 77, deployment: 5, deployedSHA: "1".repeat(40) },
      { number: 2, statuses: [{ ...given("2"), pending: true }], refused: { comment: later } },
    ],
  });
  const page = await open("/previews/team-a/told");
  const reports = page.getByRole("region", { name: "Reports to GitHub" }).getByRole("listitem");
  expect(await reports.first().innerText()).toBe(
    "#1 Status of the last commit set. Deployment of 1111111 created. Comment posted.",
  );
  expect((await reports.last().innerText()).replaceAll(/\s+/g, " ")).toMatch(
    /^#2 Status of 2222222 set, still pending\. Refused GitHub rejected the comment\. Next attempt: in (\d+ min|1 h)\.$/,
  );
  expect(await reports.getByRole("link").count()).toBe(0);
  const url = "https://github.example.com/acme/told";
  await environment.client.create(
    Image,
    {
      apiVersion: apiVersionOf(Image),
      kind: "Image",
      metadata: { ...at("modoki-told"), labels: { [labels.remoteSync]: "told" } },
      spec: {
        tag: "registry.example.com/acme/told",
        builder: { kind: "ClusterBuilder", name: "default" },
        serviceAccountName: "default",
        source: { git: { url, revision: "1".repeat(40) } },
      },
    },
    manager,
  );
  const link = reports.getByRole("link", { name: "Comment" });
  expect(await link.getAttribute("href")).toBe(`${url}/pull/1#issuecomment-77`);
  await expectAccessible(page);
});

test("an AppPipeline can be created with the form, and problems appear next to their fields", async () => {
  const page = await open("/previews/new");
  await page.getByRole("button", { name: "Create" }).click();
  const name = page.getByLabel("Name", { exact: true });
  await expect.poll(() => name.evaluate((element) => element.matches(":focus"))).toBe(true);
  await expectAccessible(page);
  const texts = {
    Name: "made",
    "Repository owner": "acme",
    Repository: "made",
    "GitHub token Secret": "acme-web",
    "Preview domain": "preview.example.com",
    "Image repository": "registry.example.com/acme/web",
    Labels: "preview\nready",
    "Maximum number of previews": "3",
    "Lifetime after the last commit": "three days",
  };
  for (const [label, text] of Object.entries(texts)) await page.getByLabel(label, { exact: true }).fill(text);
  await page.getByLabel("Forks").selectOption("Never");
  await page.getByRole("switch", { name: "Include drafts" }).uncheck();
  await page.getByRole("switch", { name: "Deployment" }).check();
  for (const [number, value] of [
    [1, "one"],
    [2, "two"],
  ]) {
    await page.getByRole("button", { name: "Add a variable" }).click();
    await page.getByLabel(`Name of variable ${number}`).fill("MODE");
    await page.getByLabel(`Value of variable ${number}`).fill(`${value}`);
  }
  const ttl = page.getByLabel("Lifetime after the last commit");
  expect(await ttl.getAttribute("aria-invalid")).toBe("true");
  await ttl.fill("72h");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByText("Another variable is named MODE. Rename or remove one of them.").waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
  expect((await environment.list(AppPipeline, team)).map(({ metadata }) => metadata.name)).not.toContain(
    "made",
  );
  await page.getByLabel("Name of variable 2").fill("LEVEL");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { level: 1, name: "made" }).waitFor();
  expect((await get("made")).spec).toEqual({
    ...specOf("made"),
    applicationTemplate: {
      spec: {
        env: [
          { name: "MODE", value: "one" },
          { name: "LEVEL", value: "two" },
        ],
      },
    },
    filter: { labels: ["preview", "ready"], drafts: false, forks: "Never" },
    maxPreviews: 3,
    report: { deployment: true },
    ttl: "72h",
  });
  await page.getByText("labeled preview and ready; no drafts; no forks").waitFor();
});

test("an AppPipeline can be changed, but not over a concurrent change", async () => {
  const { client } = environment;
  const page = await open("/previews/team-a/made/settings");
  await page.getByLabel("Maximum number of previews").fill("5");
  await page.getByRole("button", { name: "Remove variable 1" }).click();
  await page.getByRole("button", { name: "Remove variable 1" }).click();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved made.").waitFor();
  expect((await get("made")).spec).toMatchObject({ applicationTemplate: {}, maxPreviews: 5, ttl: "72h" });
  expect((await get("made")).spec.applicationTemplate.spec?.env).toBeUndefined();

  await page.getByLabel("Maximum number of previews").fill("6");
  await client.mergePatch(AppPipeline, at("made"), { spec: { ttl: "24h", maxPreviews: 1 } }, manager);
  await page.getByText("The object changed since you started editing.").first().waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").getByText("Start over from the current version.").waitFor();
  expect((await get("made")).spec.maxPreviews).toBe(1);
  await page.getByRole("button", { name: "Start over from the current version" }).click();
  const most = page.getByLabel("Maximum number of previews");
  await expect.poll(() => most.inputValue()).toBe("1");
  await most.fill("6");
  await page.getByRole("button", { name: "Save" }).click();
  await environment.until(
    AppPipeline,
    at("made"),
    ({ spec }) => spec.maxPreviews === 6 && spec.ttl === "24h",
  );
});

test("a refresh can be requested, and a deletion needs the name to be typed", async () => {
  const page = await open("/previews/team-a/made");
  await page.getByText("The open pull requests have not been listed yet.").waitFor();
  await page.getByRole("button", { name: "Refresh now" }).click();
  const refreshed = await environment.until(
    AppPipeline,
    at("made"),
    ({ metadata }) => metadata.annotations?.[annotations.refreshedAt] !== undefined,
  );
  expect(refreshed.metadata.annotations?.[annotations.refreshedAt]).toMatch(/^\d{4}-\d\d-\d\dT[\d:]{8}Z$/);
  await page.getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete AppPipeline made?" });
  await dialog.getByLabel("Type made to confirm").fill("mad");
  expect(await dialog.getByRole("button", { name: "Delete" }).isDisabled()).toBe(true);
  await dialog.getByLabel("Type made to confirm").fill("made");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await environment.untilGone(AppPipeline, at("made"));
  await page.getByRole("heading", { level: 1, name: "Previews" }).waitFor();
  await open("/previews/team-a/made");
  await page.getByRole("heading", { name: "AppPipeline made not found" }).waitFor();
});

test("the page violates no policy and throws no error", () => {
  expect(complaints).toEqual([]);
});
