/** The source of a RemoteSync in its form: the default branch, a branch, a pull request, or a commit. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { apiVersionOf } from "../../bus/kube/kind.ts";
import { Application, RemoteSync } from "../../functions/paas/kinds.ts";
import { expectAccessible } from "../harness/accessible.ts";
import { fillIn, specOf } from "../harness/buildform.ts";
import { type DashboardEnvironment, people, startDashboardEnvironment, team } from "../harness/dashboard.ts";

const commit = "1".repeat(40);

let environment: DashboardEnvironment;
let page: Page;
beforeAll(async () => {
  environment = await startDashboardEnvironment();
  await environment.client.create(
    Application,
    {
      apiVersion: apiVersionOf(Application),
      kind: "Application",
      metadata: { name: "web", namespace: team },
      spec: { domains: ["web.example.com"], replicas: 1 },
    },
    { fieldManager: "test" },
  );
  page = await environment.loggedIn(people.alice, team);
});
afterAll(() => environment?.stop());

const sync = (name: string) => environment.client.get(RemoteSync, { namespace: team, name });

test("sends the chosen source: a branch, a pull request, a commit, or none of them", async () => {
  await page.goto(`${environment.url}/builds/new?application=choice`);
  expect(await page.getByLabel("Application", { exact: true }).inputValue()).toBe("choice");
  const suggested = page.locator("datalist").filter({ has: page.locator('option[value="web"]') });
  const application = page.getByLabel("Application", { exact: true });
  await suggested.waitFor({ state: "attached" });
  expect(await suggested.getAttribute("id")).toBe(await application.getAttribute("list"));
  await fillIn(page, "choice");
  await page.getByRole("radio", { name: "A branch" }).check();
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByText("Enter the name of a branch.").waitFor();
  expect((await environment.list(RemoteSync, team)).map(({ metadata }) => metadata.name)).toEqual([]);
  await page.getByLabel("Branch", { exact: true }).fill("release/1.2");
  await page.getByText("More: folder, builder").click();
  await page.getByLabel("Repository folder").fill("services/web");
  // This dashboard has no GitHub App.
  expect(await page.getByRole("link", { name: "Connect GitHub" }).count()).toBe(0);
  await page.getByRole("button", { name: "Add a variable" }).click();
  await page.getByLabel("Name of variable 1").fill("BP_NODE_VERSION");
  await page.getByLabel("Value of variable 1").fill("24");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { level: 1, name: "choice" }).waitFor();
  const { spec } = await sync("choice");
  const { base } = specOf("choice", { branch: "release/1.2" });
  expect(spec).toEqual({
    ...specOf("choice"),
    base: { ...base, subPath: "services/web" },
    build: { env: [{ name: "BP_NODE_VERSION", value: "24" }] },
  });

  const github = async () => (await sync("choice")).spec.base.github;
  const bare = specOf("choice").base.github;
  const save = async () => {
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved choice.").waitFor();
    await page
      .locator(".notice", { hasText: "Saved choice." })
      .getByRole("button", { name: "Close" })
      .click();
  };
  await page.getByRole("link", { name: "Settings" }).click();
  expect(await page.getByRole("radio", { name: "A branch" }).isChecked()).toBe(true);
  await expectAccessible(page);
  await page.getByRole("radio", { name: "A pull request" }).check();
  await page.getByLabel("Pull request number").fill("12");
  await save();
  expect(await github()).toEqual({ ...bare, pullRequest: 12 });
  await page.getByRole("radio", { name: "A commit" }).check();
  await page.getByLabel("Commit", { exact: true }).fill("1234");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Enter a full commit ID of 40 hexadecimal digits.").waitFor();
  await page.getByLabel("Commit", { exact: true }).fill(commit);
  await save();
  expect(await github()).toEqual({ ...bare, sha: commit });
  await page.getByRole("radio", { name: "The default branch" }).check();
  await save();
  expect(await github()).toEqual(bare);
});
