/** The GitHub screens: Installations with the expiry of their tokens, and creating one. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { apiVersionOf } from "../../bus/kube/kind.ts";
import { type SimulatedGitHub, startGitHub } from "../../deploy/simulators/github/github.ts";
import { ClusterGitHubApp, GitHubApp, Installation } from "../../functions/ghapp/kinds.ts";
import { expectAccessible } from "../harness/accessible.ts";
import { type DashboardEnvironment, people, startDashboardEnvironment, team } from "../harness/dashboard.ts";
import { grant } from "../harness/rights.ts";

const manager = { fieldManager: "test" };

// Each test visits several screens twice.
vi.setConfig({ testTimeout: 300_000 });

let github: SimulatedGitHub;
let environment: DashboardEnvironment;
beforeAll(async () => {
  environment = await startDashboardEnvironment({
    github: async (callbackUrl) => {
      github = await startGitHub({
        repositories: ["acme/web", "acme/docs", "acme/secret", "hidden/web", "octo/home"],
        people: [{ login: "octo", repositories: ["acme/web", "acme/docs", "octo/home"] }],
        apps: [
          {
            callbackUrls: [callbackUrl],
            installations: [
              { id: 815, account: "acme" },
              { id: 816, account: "hidden" },
              { id: 817, account: "octo" },
            ],
          },
        ],
      });
      return github;
    },
  });
});
afterAll(async () => {
  await environment?.stop();
  await github?.stop();
});

const appSpec = { appID: 4711, privateKeySecretRef: { name: "app-key", key: "private-key.pem" } };
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();

async function createInstallation(name: string, seconds: number): Promise<void> {
  const { client } = environment;
  await client.create(
    Installation,
    {
      apiVersion: apiVersionOf(Installation),
      kind: "Installation",
      metadata: { name, namespace: team },
      spec: {
        appRef: { kind: "GitHubApp", name: "builder" },
        installationID: 815,
        repositories: ["web", "docs"],
        permissions: { contents: "read" },
        format: "basic-auth",
        template: {},
      },
    },
    manager,
  );
  await setEnd(name, seconds);
}

/** Writes the status that the function would write; no worker runs here. */
const setEnd = (name: string, seconds: number) =>
  environment.client.mergePatch(
    Installation,
    { name, namespace: team },
    {
      status: {
        ready: true,
        secret: name,
        expiresAt: inSeconds(seconds),
        refreshAt: inSeconds(seconds - 600),
        conditions: [
          {
            type: "Ready",
            status: "True",
            reason: "TokenIssued",
            message: "the Secret has a token",
            lastTransitionTime: inSeconds(-60),
          },
        ],
      },
    },
    { ...manager, subresource: "status" },
  );

/** Opens the GitHub screen in the team's namespace. */
async function atGitHub(page: Page): Promise<void> {
  await page.getByLabel("Namespace", { exact: true }).fill(team);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "GitHub", exact: true }).click();
}

test("shows Installations and Apps live, with a countdown to the expiry of each token", async () => {
  const page = await environment.loggedIn(people.bob);
  await atGitHub(page);
  await page.getByText("No Installations here yet").waitFor();
  await page.getByText("No GitHubApps here.").waitFor();
  await page.getByText("You cannot list ClusterGitHubApps.").waitFor();
  await expectAccessible(page);
  await environment.client.create(
    GitHubApp,
    {
      apiVersion: apiVersionOf(GitHubApp),
      kind: "GitHubApp",
      metadata: { name: "builder", namespace: team },
      spec: appSpec,
    },
    manager,
  );
  await createInstallation("acme", 3000);
  const row = page.getByRole("row", { name: "acme" });
  for (const text of ["Ready", "builder", "815", "web, docs"]) await row.getByText(text).waitFor();
  await page.getByRole("region", { name: "GitHubApps", exact: true }).getByText("4711").waitFor();
  const left = async () => {
    const [minutes = 0, seconds = 0] = (await row.getByText(/^\d+:\d\d$/).innerText()).split(":").map(Number);
    return minutes * 60 + seconds;
  };
  const first = await left();
  expect(first).toBeGreaterThan(2000);
  expect(first).toBeLessThan(3100);
  await expect.poll(left, { timeout: 30_000 }).toBeLessThan(first);
  await expectAccessible(page);

  await row.getByRole("link", { name: "acme" }).click();
  await page.getByRole("heading", { name: "acme", level: 1 }).waitFor();
  await page.getByText("contents: read").waitFor();
  await page.getByText("the Secret has a token").waitFor();
  await expectAccessible(page);
  await setEnd("acme", -120);
  await page.getByText(/^Expired 2 min ago$/).waitFor();
});

test("suggests what the connected user can see at GitHub, and shows rejections next to the field", async () => {
  const page = await environment.loggedIn(people.alice);
  await atGitHub(page);
  await page.getByRole("link", { name: "Create an Installation" }).click();
  await page.getByRole("heading", { name: "Connect GitHub first" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Connect GitHub" }).click();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("You did not give consent at GitHub").waitFor();
  await page.getByRole("link", { name: "Connect GitHub" }).click();
  await page.getByRole("button", { name: "Authorize as octo" }).click();
  await page.getByText("Connected to GitHub as octo.").waitFor();

  await page.getByRole("button", { name: "Create" }).click();
  for (const label of ["Name", "App", "GitHub installation"])
    expect(await page.getByLabel(label, { exact: true }).getAttribute("aria-invalid"), label).toBe("true");
  await expectAccessible(page);
  const installation = page.getByLabel("GitHub installation");
  expect(await installation.getByRole("option").allInnerTexts()).toEqual([
    "Choose one",
    "acme (815)",
    "octo (817)",
  ]);
  await installation.selectOption("octo (817)");
  await page
    .getByText("If empty, the token covers all repositories of octo, including future ones.")
    .waitFor();
  await installation.selectOption("acme (815)");
  const repositories = page.getByRole("group", { name: "Repositories" });
  await repositories.getByLabel("acme/web").waitFor();
  expect(await repositories.getByRole("checkbox").count()).toBe(2);
  await repositories.getByText("Choose at least one: acme is not your own account").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("made-here");
  await page.getByLabel("App kind").selectOption("GitHubApp");
  await page.getByLabel("App", { exact: true }).fill("builder");
  await page.getByLabel("Pull requests").selectOption("read");
  await page.getByLabel("Format").selectOption("raw");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByText("The format raw needs a key.").waitFor();
  expect(await page.getByLabel("Key", { exact: true }).getAttribute("aria-invalid")).toBe("true");
  await page.getByLabel("Key", { exact: true }).fill("token");
  await page.getByRole("button", { name: "Create" }).click();
  await repositories
    .getByText("Without repository names, the Installation covers all repositories of")
    .waitFor();
  await expectAccessible(page);
  await repositories.getByLabel("acme/web").check();
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { name: "made-here", level: 1 }).waitFor();
  const { spec } = await environment.client.get(Installation, { name: "made-here", namespace: team });
  expect(spec).toMatchObject({
    appRef: { kind: "GitHubApp", name: "builder" },
    installationID: 815,
    repositories: ["web"],
    permissions: { contents: "read", pull_requests: "read" },
    format: "raw",
    key: "token",
  });
});

test("an Installation is deleted after its name is typed, and disappears from the list", async () => {
  const page = await environment.loggedIn(people.alice);
  await createInstallation("leaving", 3000);
  await atGitHub(page);
  await page.getByRole("link", { name: "leaving" }).click();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByText("The Secret leaving is deleted too").waitFor();
  await page.getByLabel("Type leaving to confirm").fill("leaving");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { name: "Installation leaving was deleted" }).waitFor();
  await environment.untilGone(Installation as never, { name: "leaving", namespace: team });
});

test("a user with the right to list ClusterGitHubApps sees them, with links to GitHub", async () => {
  await environment.client.create(
    ClusterGitHubApp,
    {
      apiVersion: apiVersionOf(ClusterGitHubApp),
      kind: "ClusterGitHubApp",
      metadata: { name: "everybodys" },
      spec: { ...appSpec, allowed: [{ namespaces: ["team-*"] }] },
    },
    manager,
  );
  await environment.client.mergePatch(
    ClusterGitHubApp,
    { name: "everybodys" },
    { status: { slug: "acme-denrei" } },
    { ...manager, subresource: "status" },
  );
  const rbac = "rbac.authorization.k8s.io";
  const role = { apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata: { name: "sees-apps" } };
  await grant(environment.client, [
    {
      ...role,
      rules: [
        { apiGroups: ["ghapp.tsuzu.dev"], resources: ["clustergithubapps"], verbs: ["get", "list", "watch"] },
      ],
    },
    {
      ...role,
      kind: "ClusterRoleBinding",
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "sees-apps" },
      subjects: [{ apiGroup: rbac, kind: "User", name: people.bob.name }],
    },
  ]);
  const page = await environment.loggedIn(people.bob);
  await atGitHub(page);
  const row = page
    .getByRole("region", { name: "ClusterGitHubApps" })
    .getByRole("row", { name: "everybodys" });
  expect(await row.getByRole("link").getAttribute("href")).toBe("https://github.com/apps/acme-denrei");
  await row.getByText("1 in spec.allowed").waitFor();
});
