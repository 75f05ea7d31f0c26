/** The forms of RemoteSyncs and AppPipelines: rarely used fields, and suggestions from GitHub and the cluster. */
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { apiVersionOf } from "../../bus/kube/kind.ts";
import { type SimulatedGitHub, startGitHub } from "../../deploy/simulators/github/github.ts";
import { Installation } from "../../functions/ghapp/kinds.ts";
import { AppPipeline, RemoteSync } from "../../functions/paas/kinds.ts";
import { expectAccessible } from "../harness/accessible.ts";
import {
  type DashboardEnvironment,
  foreign,
  people,
  startDashboardEnvironment,
  team,
} from "../harness/dashboard.ts";

const manager = { fieldManager: "test" };
const at = (name: string) => ({ namespace: team, name });

let github: SimulatedGitHub;
let environment: DashboardEnvironment;
let alice: Page;
beforeAll(async () => {
  environment = await startDashboardEnvironment({
    github: async (callbackUrl) => {
      github = await startGitHub({
        repositories: ["acme/web", "acme/docs", "acme/secret", "octo/home"],
        people: [{ login: "octo", repositories: ["acme/web", "acme/docs", "octo/home"] }],
        apps: [
          {
            callbackUrls: [callbackUrl],
            installations: [
              { id: 815, account: "acme" },
              { id: 816, account: "octo" },
            ],
          },
        ],
      });
      return github;
    },
  });
  alice = await environment.loggedIn(people.alice, team);
});
afterAll(async () => {
  await environment?.stop();
  await github?.stop();
});

async function open(path: string): Promise<Page> {
  await alice.goto(environment.url + path);
  await alice.getByRole("heading", { level: 1 }).waitFor();
  return alice;
}

const field = (page: Page, label: string): Locator =>
  page.getByRole("main").getByLabel(label, { exact: true });

async function fill(page: Page, texts: Readonly<Record<string, string>>): Promise<void> {
  for (const [label, text] of Object.entries(texts)) await field(page, label).fill(text);
}

const needed = {
  "Repository owner": "acme",
  Repository: "web",
  "GitHub token Secret": "acme-web",
  "Image repository": "registry.example.com/acme/web",
};

/** The suggestions of a field, once there are any. */
async function suggestions(of: Locator): Promise<string[]> {
  const list = of.page().locator(`datalist[id="${await of.getAttribute("list")}"] option`);
  await list.first().waitFor({ state: "attached" });
  return list.evaluateAll((options) => options.map((option) => option.getAttribute("value") ?? ""));
}

/** Adds a name and a value to a group of pairs. */
async function addTo(page: Page, group: string, name: string, value: string): Promise<void> {
  const pairs = page.getByRole("group", { name: group });
  await pairs.getByRole("button", { name: "Add" }).click();
  await pairs
    .getByLabel(/^Name \d+ of/)
    .last()
    .fill(name);
  await pairs
    .getByLabel(/^Value \d+ of/)
    .last()
    .fill(value);
}

/** Fills in the build settings, which both forms share. */
async function sayHowItIsBuilt(page: Page): Promise<void> {
  await field(page, "Builder").selectOption("Builder");
  await fill(page, { "Builder name": "own", "Build cache size": "4G" });
  await fill(page, { "Build timeout in seconds": "900" });
  await addTo(page, "Build resource requests", "cpu", "500m");
  await addTo(page, "Build resource limits", "memory", "3Gi");
}

const howItIsBuilt = {
  builder: { kind: "Builder", name: "own" },
  build: {
    cacheSize: "4G",
    timeoutSeconds: 900,
    resources: { requests: { cpu: "500m" }, limits: { memory: "3Gi" } },
  },
};

test("a RemoteSync's build settings are folded, and unfold if one of them is invalid", async () => {
  const page = await open("/builds/new");
  await fill(page, { Name: "web", Application: "web", ...needed });
  const builder = field(page, "Builder");
  expect(await builder.isVisible()).toBe(false);
  const more = page.getByText("More: folder, builder");
  await more.click();
  await builder.selectOption("ClusterBuilder");
  await addTo(page, "Build resource limits", "memory", "a lot");
  await expectAccessible(page);
  await more.click();
  await page.getByRole("button", { name: "Create" }).click();
  await page
    .getByText("Enter an amount of 0 or more, such as 500m for CPUs or 512Mi for memory.", { exact: true })
    .waitFor();
  const name = field(page, "Builder name");
  expect(await name.getAttribute("aria-invalid")).toBe("true");
  await expect.poll(() => name.evaluate((element) => element.matches(":focus"))).toBe(true);
  expect(await page.getByRole("alert").count()).toBe(0);
  await expectAccessible(page);

  await page.getByRole("button", { name: "Remove memory of Build resource limits" }).click();
  await sayHowItIsBuilt(page);
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { level: 1, name: "web" }).waitFor();
  expect((await environment.client.get(RemoteSync, at("web"))).spec).toMatchObject(howItIsBuilt);

  await page.getByRole("link", { name: "Settings" }).click();
  await more.click();
  expect(await builder.inputValue()).toBe("Builder");
  await builder.selectOption("");
  await page.getByRole("button", { name: "Remove cpu of Build resource requests" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved web.").waitFor();
  const { spec } = await environment.client.get(RemoteSync, at("web"));
  expect(spec.builder).toBeUndefined();
  expect(spec.build).toEqual({ ...howItIsBuilt.build, resources: { limits: { memory: "3Gi" } } });
});

test("an AppPipeline has the same build settings for its previews", async () => {
  const page = await open("/previews/new");
  await fill(page, { Name: "web", ...needed, "Preview domain": "preview.example.com" });
  await page.getByText("More: port, pods, folder, build settings").click();
  await sayHowItIsBuilt(page);
  await field(page, "Commit to build").selectOption("Head");
  const variables = page.getByRole("group", { name: "Build environment variables" });
  await variables.getByRole("button", { name: "Add a variable" }).click();
  await variables.getByLabel("Name of variable 1").fill("BP_NODE_VERSION");
  await variables.getByLabel("Value of variable 1").fill("24");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { level: 1, name: "web" }).waitFor();
  const { spec } = await environment.client.get(AppPipeline, at("web"));
  const env = [{ name: "BP_NODE_VERSION", value: "24" }];
  expect(spec).toMatchObject({ ...howItIsBuilt, build: { ...howItIsBuilt.build, env }, revision: "Head" });
});

test("suggests owners and repositories after GitHub is connected, and accepts others", async () => {
  const page = await open("/builds/new?application=docs");
  const owner = field(page, "Repository owner");
  await fill(page, { Name: "begun" });
  await page.getByRole("link", { name: "Connect GitHub" }).click();
  await page.getByRole("button", { name: "Cancel" }).click();
  // It goes after some seconds; the alert stays.
  await page.getByText("Your unsaved input was restored.").waitFor();
  await page.getByRole("alert").getByText("You did not give consent at GitHub").waitFor();
  expect(await field(page, "Name").inputValue()).toBe("begun");
  await expectAccessible(page);
  await page.getByRole("link", { name: "Connect GitHub" }).click();
  await page.getByRole("button", { name: "Authorize as octo" }).click();
  await page.getByRole("heading", { name: "Build a repository" }).waitFor();
  expect(await field(page, "Application").inputValue()).toBe("docs");
  expect(await field(page, "Name").inputValue()).toBe("begun");
  expect(await suggestions(owner)).toEqual(["acme", "octo"]);
  expect(await page.getByRole("link", { name: "Connect GitHub" }).count()).toBe(0);
  const repository = field(page, "Repository");
  await owner.fill("Acme");
  expect((await suggestions(repository)).sort()).toEqual(["docs", "web"]);
  await owner.fill("octo");
  await expect.poll(() => suggestions(repository)).toEqual(["home"]);
  await expectAccessible(page);

  await open("/previews/new");
  expect(await suggestions(owner)).toEqual(["acme", "octo"]);
  await owner.fill("acme");
  expect((await suggestions(repository)).sort()).toEqual(["docs", "web"]);
  github.fault({ path: /^\/user\/installations\/816/ }, "reset", 1);
  await owner.fill("octo");
  await page.getByText(/^The name without the owner\. .*GitHub/).waitFor();
  await fill(page, { Name: "typed", ...needed, "Preview domain": "preview.example.com" });
  await fill(page, { "Repository owner": "somebody", Repository: "else" });
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { level: 1, name: "typed" }).waitFor();
  const { spec } = await environment.client.get(AppPipeline, at("typed"));
  expect(spec.base.github).toMatchObject({ owner: "somebody", repo: "else" });
});

test("suggests the git Secrets of the Installations in the object's namespace", async () => {
  for (const [name, format] of [
    ["acme-git", "basic-auth"],
    ["acme-pull", "dockerconfigjson"],
  ] as const)
    await environment.client.create(
      Installation,
      {
        apiVersion: apiVersionOf(Installation),
        kind: "Installation",
        metadata: at(name),
        spec: {
          appRef: { kind: "ClusterGitHubApp", name: "builder" },
          installationID: 815,
          format,
          ...(format === "dockerconfigjson" && { registry: "ghcr.io" }),
          template: {},
        },
      },
      manager,
    );
  for (const path of ["/builds/new", "/previews/new", "/builds/team-a/web/settings"]) {
    const page = await open(path);
    expect(await suggestions(field(page, "GitHub token Secret")), path).toEqual(["acme-git"]);
  }
  const page = await open("/builds/new");
  const secret = field(page, "GitHub token Secret");
  expect(await suggestions(secret)).toEqual(["acme-git"]);
  const refused = page.waitForResponse((answer) => answer.url().includes(`${foreign}/installations`));
  await field(page, "Target namespace").fill(foreign);
  expect((await refused).status()).toBe(403);
  const list = page.locator(`datalist[id="${await secret.getAttribute("list")}"] option`);
  expect(await list.count()).toBe(0);
});
