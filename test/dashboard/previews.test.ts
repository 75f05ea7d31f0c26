/** AppPipelines and their previews on the page. The tests write the statuses that functions would write. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { installCrds } from "../../bus/kube/install.ts";
import { apiVersionOf } from "../../bus/kube/kind.ts";
import { kpackCrds } from "../../deploy/simulators/kpack/crds.ts";
import { Image } from "../../functions/paas/kinds/kpack.ts";
import { AppPipeline } from "../../functions/paas/kinds.ts";
import { annotations, labels } from "../../functions/paas/names.ts";
import { expectAccessible } from "../harness/accessible.ts";
import { type DashboardEnvironment, people, startDashboardEnvironment, team } from "../harness/dashboard.ts";
import { at, type Pipelines, pipelinesOn, specOf } from "../harness/pipelines.ts";

const manager = { fieldManager: "test" };
const later = new Date(Date.now() + 3_600_000).toISOString();

let environment: DashboardEnvironment;
let pipelines: Pipelines;
let alice: Page;
/** Violations of the page's Content Security Policy, and uncaught errors. */
const complaints: string[] = [];

beforeAll(async () => {
  environment = await startDashboardEnvironment();
  const { client } = environment;
  pipelines = pipelinesOn(environment);
  await installCrds(client, kpackCrds, { ...manager, signal: AbortSignal.timeout(60_000) });
  alice = await environment.loggedIn(people.alice, team);
  alice.on("pageerror", ({ message }) => complaints.push(message));
  alice.on("console", (message) => {
    if (/Content Security Policy|TrustedScript/.test(message.text())) complaints.push(message.text());
  });
});
afterAll(() => environment?.stop());

async function open(path: string, page = alice): Promise<Page> {
  await page.goto(environment.url + path);
  await page.getByRole("heading", { level: 1 }).waitFor();
  return page;
}

const given = (digit: string) => ({
  context: "denrei/prod/team-a/told",
  sha: digit.repeat(40),
  digest: "digest",
});

test("describes what was reported to GitHub, with links if GitHub's URL is known", async () => {
  await pipelines.create("told", {
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
  expect((await pipelines.get("made")).spec).toEqual({
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
  expect((await pipelines.get("made")).spec).toMatchObject({
    applicationTemplate: {},
    maxPreviews: 5,
    ttl: "72h",
  });
  expect((await pipelines.get("made")).spec.applicationTemplate.spec?.env).toBeUndefined();

  await page.getByLabel("Maximum number of previews").fill("6");
  await client.mergePatch(AppPipeline, at("made"), { spec: { ttl: "24h", maxPreviews: 1 } }, manager);
  await page.getByText("The object changed since you started editing.").first().waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").getByText("Start over from the current version.").waitFor();
  expect((await pipelines.get("made")).spec.maxPreviews).toBe(1);
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
