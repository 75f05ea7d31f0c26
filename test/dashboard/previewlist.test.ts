/** The previews of an AppPipeline on the page. The tests write the statuses that functions would write. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { installCrds } from "../../bus/kube/install.ts";
import { apiVersionOf } from "../../bus/kube/kind.ts";
import { kpackCrds } from "../../deploy/simulators/kpack/crds.ts";
import { Build } from "../../functions/paas/kinds/kpack.ts";
import { Application, AppPipeline, RemoteSync } from "../../functions/paas/kinds.ts";
import { kpack, labels } from "../../functions/paas/names.ts";
import { expectAccessible } from "../harness/accessible.ts";
import { specOf as syncSpecOf } from "../harness/buildform.ts";
import { type DashboardEnvironment, people, startDashboardEnvironment, team } from "../harness/dashboard.ts";
import { expectDenied } from "../harness/denied.ts";
import { at, type Pipelines, pipelinesOn, previewOf as preview } from "../harness/pipelines.ts";

const manager = { fieldManager: "test" };
const ofStatus = { ...manager, subresource: "status" } as const;

let environment: DashboardEnvironment;
let pipelines: Pipelines;
let alice: Page;
/** Violations of the page's Content Security Policy, and uncaught errors. */
const complaints: string[] = [];

beforeAll(async () => {
  environment = await startDashboardEnvironment();
  pipelines = pipelinesOn(environment);
  const options = { ...manager, signal: AbortSignal.timeout(60_000) };
  await installCrds(environment.client, kpackCrds, options);
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

/** The pull request, status, and address of each row, without the times. */
async function rows(page: Page): Promise<string[][]> {
  const found = page.getByRole("region", { name: "Pull requests" }).locator("tbody tr");
  await found.first().waitFor();
  const texts = await found.evaluateAll((all) =>
    all.map((one) =>
      [...one.children].slice(0, 3).map((cell) => ("innerText" in cell ? String(cell.innerText) : "")),
    ),
  );
  return texts.map((cells) => cells.map((text) => text.replace(/\s+/g, " ").trim()));
}

const numbers = async (page: Page) => (await rows(page)).map(([pull]) => /#\d+/.exec(pull ?? "")?.[0]);

const row = (page: Page, number: number) =>
  page.getByRole("region", { name: "Pull requests" }).getByRole("row", { name: new RegExp(`#${number}\\b`) });

const nameOf = (number: number) => `modoki-pipeline-web-pr-${number}`;
const addressOf = (number: number) => `https://pr-${number}-web-abc.preview.example.com`;
const running = (number: number) => ({ application: nameOf(number), url: addressOf(number) });
const day = (count: number) => new Date(Date.now() - count * 86_400_000).toISOString();

const previews = [
  preview(1, "NeedsApproval", { fork: "stranger/web", headRef: "fix\u202E\u0007", updatedAt: day(1) }),
  preview(2, "Waiting", { updatedAt: day(2) }),
  preview(3, "Building", { ...running(3), updatedAt: day(3) }),
  preview(4, "Ready", {
    ...running(4),
    title: "<b>Fix</b> the login",
    author: "octocat",
    pullRequestURL: "https://github.example.com/acme/web/pull/4",
    openedAt: day(9),
    updatedAt: day(4),
  }),
  preview(5, "Failed", { message: "build 1 failed in the step build: <b>exit</b> 1", updatedAt: day(5) }),
  preview(6, "Expired", { updatedAt: day(6) }),
  preview(7, "Resolving", { updatedAt: day(7) }),
  preview(8, "Ready", {
    ...{ url: "javascript:alert(1)", fork: "friend/web", approvedSHA: "a".repeat(40), updatedAt: day(8) },
    ...{ title: "Scripts", pullRequestURL: "javascript:alert(2)" },
  }),
  preview(9, "Deploying"),
];

/** Creates the objects of the previews 3 and 4. The latter has a build. */
async function createObjects(): Promise<void> {
  const { client } = environment;
  for (const number of [3, 4]) {
    const metadata = { ...at(nameOf(number)), labels: { [labels.pipeline]: "web" } };
    const app = { apiVersion: apiVersionOf(Application), kind: Application.kind, metadata };
    await client.create(Application, { ...app, spec: { domains: [], replicas: 2 } }, manager);
    const sync = { apiVersion: apiVersionOf(RemoteSync), kind: RemoteSync.kind, metadata };
    await client.create(RemoteSync, { ...sync, spec: syncSpecOf(nameOf(number)) }, manager);
  }
  await setPods(4, 1);
  const metadata = { ...at("build-7"), labels: { [labels.remoteSync]: nameOf(4), [kpack.buildNumber]: "7" } };
  const conditions = [{ type: "Succeeded", status: "False", lastTransitionTime: day(1) }];
  const build = { apiVersion: apiVersionOf(Build), kind: "Build", metadata, spec: {} };
  await client.create(Build, build, manager);
  await client.mergePatch(Build, at("build-7"), { status: { conditions } }, ofStatus);
}

const setPods = (number: number, readyReplicas: number) =>
  environment.client.mergePatch(Application, at(nameOf(number)), { status: { readyReplicas } }, ofStatus);

test("shows each preview with its pull request, status, and address, the last changed one first", async () => {
  await pipelines.create("web", { open: 9, previews });
  await createObjects();
  const page = await open("/previews");
  await page.getByRole("row", { name: /^web Waiting acme\/web 9 2 preview\.example\.com/ }).waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "web", exact: true }).click();
  await row(page, 4).getByText("1 of 2 pods ready").waitFor();
  expect(await rows(page)).toEqual([
    ["#1 fix 1111111 from a fork: stranger/web", "Needs approval", ""],
    ["#2 feature/2 2222222", "Waiting", ""],
    ["#3 feature/3 3333333", "Building", addressOf(3)],
    ["<b>Fix</b> the login #4 by octocat feature/4 4444444", "Ready", `${addressOf(4)} 1 of 2 pods ready`],
    ["#5 feature/5 5555555", "Failed build 1 failed in the step build: <b>exit</b> 1", ""],
    ["#6 feature/6 6666666", "Expired", ""],
    ["#7 feature/7 7777777", "Resolving", ""],
    [
      "Scripts #8 feature/8 aaaaaaa from a fork: friend/web",
      "Ready The newer commit 8888888 is not approved yet.",
      "javascript:alert(1)",
    ],
    ["#9 feature/9 9999999", "Deploying", ""],
  ]);
  expect(await row(page, 4).getByRole("cell").nth(2).innerText()).toBe("4 d ago");
  expect(await row(page, 4).getByRole("cell").nth(3).innerText()).toBe("9 d ago");
  const links = await row(page, 4)
    .getByRole("link")
    .evaluateAll((all) =>
      all.map((link) => [link.textContent, link.getAttribute("href"), link.getAttribute("rel")]),
    );
  expect(links).toEqual([
    ["<b>Fix</b> the login", "https://github.example.com/acme/web/pull/4", "noopener noreferrer"],
    [addressOf(4), addressOf(4), "noopener noreferrer"],
    ["Open the preview of #4", addressOf(4), "noopener noreferrer"],
    ["Application of #4", `/applications/team-a/${nameOf(4)}`, null],
    ["Build of #4", `/builds/team-a/${nameOf(4)}`, null],
  ]);
  expect(await row(page, 8).getByRole("link").count()).toBe(0);
  await expectAccessible(page);

  await setPods(4, 0);
  await row(page, 4).getByText("0 of 2 pods ready").waitFor();
  expect(
    await row(page, 4)
      .getByRole("link", { name: addressOf(4) })
      .count(),
  ).toBe(0);
  await pipelines.say("web", { previews: previews.filter(({ number }) => number !== 9) });
  await row(page, 9).waitFor({ state: "detached" });
  await pipelines.say("web", { previews });
  await row(page, 9).waitFor();
});

test("filters and sorts previews, and the address keeps both", async () => {
  const page = await open("/previews/team-a/web");
  await page.getByRole("searchbox", { name: "Find previews" }).fill("OCTOCAT");
  await expect.poll(() => numbers(page)).toEqual(["#4"]);
  await page.getByRole("searchbox").fill("");
  await page.getByRole("button", { name: "In progress 3" }).click();
  await expect.poll(() => numbers(page)).toEqual(["#3", "#7", "#9"]);
  await page.getByRole("button", { name: "Updated" }).click();
  await expect.poll(() => numbers(page)).toEqual(["#9", "#7", "#3"]);
  expect(new URL(page.url()).search).toMatch(/status=busy&sort=updated/);
  await page.reload();
  await expect.poll(() => numbers(page)).toEqual(["#9", "#7", "#3"]);
});

test("builds the commit of a preview again", async () => {
  const page = await open("/previews/team-a/web");
  await row(page, 3).getByRole("button", { name: "Rebuild" }).click();
  await page.getByText("#3 has no build yet.").waitFor();
  await row(page, 4).getByRole("button", { name: "Rebuild" }).click();
  await page.getByText("Building the commit of build 7 of #4 again.").waitFor();
  const requested = await environment.client.get(Build, at("build-7"));
  expect(requested.metadata.annotations).toHaveProperty([kpack.rebuild]);
  await row(page, 4).getByRole("button", { name: "Rebuild" }).click();
  await page.getByText("A build of #4 already runs or is requested.").waitFor();
  expect(await environment.client.get(Build, at("build-7"))).toEqual(requested);
});

test("deletes a preview after a confirmation, and creates it again on request", async () => {
  const { client } = environment;
  const excluded = async () => (await pipelines.get("web")).spec.filter;
  const spec = { filter: { labels: ["preview"], excluded: [99] } };
  await client.mergePatch(AppPipeline, at("web"), { spec }, manager);
  const page = await open("/previews/team-a/web");
  await page.getByText("labeled preview; forks after approval of the commit; without #99").waitFor();
  await row(page, 4).getByRole("button", { name: "Delete the preview of #4" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete the preview of #4?" });
  await dialog.getByText("its Application, RemoteSync, pods, builds, and build logs.").waitFor();
  await dialog.getByText("stays deleted while the pull request is open, also after new commits,").waitFor();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  expect(await excluded()).toEqual(spec.filter);
  await row(page, 4).getByRole("button", { name: "Delete" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByText("Deleting the preview of #4.").waitFor();
  await row(page, 4).getByText("Deleting", { exact: true }).waitFor();
  expect(await excluded()).toEqual({ labels: ["preview"], excluded: [4, 99] });
  const again = row(page, 4).getByRole("button", { name: "Create preview again for #4", exact: true });
  // The button that opened the dialog, so the keyboard is still at the row.
  await again.and(page.locator(":focus")).waitFor();
  expect(await row(page, 4).getByRole("button", { name: "Rebuild" }).count()).toBe(0);

  const status = previews.map((one) => (one.number === 4 ? preview(4, "Excluded", { title: "Fix" }) : one));
  await pipelines.say("web", { previews: status });
  await row(page, 4).getByText("Excluded", { exact: true }).waitFor();
  await row(page, 4).getByText("New commits do not create it again.").waitFor();
  await expectAccessible(page);
  await again.press("Enter");
  await page.getByText("Creating the preview of #4 again.").waitFor();
  await row(page, 4).getByText("Creating", { exact: true }).waitFor();
  expect(await excluded()).toEqual({ labels: ["preview"], excluded: [99] });
  await again.waitFor({ state: "detached" });
  await pipelines.say("web", { previews });
  await row(page, 4).getByRole("button", { name: "Delete" }).waitFor();
});

test("says why a preview cannot be built again", async () => {
  const { client } = environment;
  const page = await open("/previews/team-a/web");
  const pause = (paused: boolean) =>
    client.mergePatch(RemoteSync, at(nameOf(4)), { spec: { paused } }, manager);
  await pause(true);
  const rebuild = row(page, 4).getByRole("button", { name: "Rebuild", disabled: true });
  await rebuild.focus();
  await page.keyboard.press("Enter");
  const reason = "#4 cannot be built again: its RemoteSync is paused.";
  await page.getByRole("status").getByText(reason).waitFor();
  await pause(false);
  await row(page, 4).getByRole("button", { name: "Rebuild", disabled: false }).waitFor();
});

test("a viewer cannot rebuild or delete a preview", async () => {
  const page = await open("/previews/team-a/web", await environment.loggedIn(people.bob));
  for (const [button, right] of [
    ["Rebuild", "patch builds"],
    ["Delete", "patch apppipelines"],
  ] as const)
    await expectDenied(page, `${button} the preview of #3`, { right, namespace: team });
});

test("fits on narrow screens", async () => {
  onTestFinished(() => alice.setViewportSize({ width: 1280, height: 800 }));
  for (const width of [768, 320]) {
    await alice.setViewportSize({ width, height: 800 });
    for (const [path, text] of [
      ["/previews", "acme/web"],
      ["/previews/team-a/web", "feature/4"],
      ["/previews/new", "Pull request filter"],
    ] as const) {
      await open(path);
      await alice.getByText(text).first().waitFor();
      expect(await alice.evaluate("document.documentElement.scrollWidth"), path).toBe(width);
    }
  }
  await open("/previews/team-a/web");
  await expectAccessible(alice);
});

test("the page violates no policy and throws no error", () => {
  expect(complaints).toEqual([]);
});
