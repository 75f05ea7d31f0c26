/** Creating a GitHub App from the page: at the simulated GitHub, with a real control plane and the functions that use the App. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { allowedUrlsVariable } from "../../bus/github/allowed.ts";
import { Secret } from "../../bus/kube/kind.ts";
import { type SimulatedGitHub, startGitHub } from "../../deploy/simulators/github/github.ts";
import { GitHubApp, Installation } from "../../functions/ghapp/kinds.ts";
import { expectAccessible } from "../harness/accessible.ts";
import { type DashboardEnvironment, people, startDashboardEnvironment, team } from "../harness/dashboard.ts";
import { createNamespace, optIn } from "../harness/namespaces.ts";

const platformNamespace = "denrei";
const gateway = "http://127.0.0.1:9/hooks";

let environment: DashboardEnvironment;
let github: SimulatedGitHub;
/** Violations of the page's Content Security Policy, and uncaught errors. */
const complaints: string[] = [];
beforeAll(async () => {
  environment = await startDashboardEnvironment({
    github: async (callbackUrl) => {
      github = await startGitHub({
        repositories: ["acme/web", "acme/docs", "octo/home"],
        people: [{ login: "octo", repositories: ["acme/web", "octo/home"] }],
        apps: [{ callbackUrls: [callbackUrl] }],
      });
      return github;
    },
  });
  const { client } = environment;
  await createNamespace(client, platformNamespace);
  await optIn(client, team);
  await environment.bridge("bridge-1");
  await environment.worker("worker-1", ["githubapp", "installation"], {
    env: { CONTROLLER_NAMESPACE: platformNamespace, [allowedUrlsVariable]: github.url },
  });
});
afterAll(async () => {
  await environment?.stop();
  await github?.stop();
});

const decoded = (text: string | undefined) => Buffer.from(text ?? "", "base64").toString();

async function atForm(): Promise<Page> {
  const page = await environment.loggedIn(people.alice, team);
  page.on("pageerror", ({ message }) => complaints.push(message));
  page.on("console", (message) => {
    if (/Content Security Policy|TrustedScript/.test(message.text())) complaints.push(message.text());
  });
  await page.goto(`${environment.url}/github/new-app`);
  await page.getByRole("heading", { name: "Create a GitHub App", level: 1 }).waitFor();
  return page;
}

test("creates an App, stores its keys, and leads to an Installation that becomes ready", async () => {
  const { client } = environment;
  const page = await atForm();
  const seen: string[] = [];
  page.on("response", (response) => {
    seen.push(response.url());
    if (response.url().startsWith(`${environment.url}/api/`) && !/watch/.test(response.url()))
      response.text().then(
        (text) => seen.push(text),
        () => undefined,
      );
  });
  await page.getByLabel("Name", { exact: true }).fill("acme-builds");
  await page.getByLabel("Organization").fill("acme");
  await page.getByLabel("Address of the gateways").fill(gateway);
  await page.getByText(`${gateway}/github/${team}.acme-builds`).waitFor();
  await page.getByText("Your roles do not allow you to change the Secret of the gateways.").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Continue to GitHub" }).click();
  await page.getByText("pull_requests: write").waitFor();
  await page.getByRole("button", { name: "Create GitHub App for acme" }).click();

  await page.waitForURL(`${environment.url}/github/app/${team}/acme-builds`);
  const [created] = github.createdApps;
  const secret = await client.get(Secret, { namespace: team, name: "acme-builds-key" });
  const data = (secret as { data?: Record<string, string> }).data ?? {};
  expect(Object.fromEntries(Object.entries(data).map(([key, value]) => [key, decoded(value)]))).toEqual({
    "private-key.pem": created?.privateKey,
    "webhook-secret": created?.webhookSecret,
  });
  expect((await client.get(GitHubApp, { namespace: team, name: "acme-builds" })).spec).toEqual({
    url: github.url,
    appID: created?.id,
    privateKeySecretRef: { name: "acme-builds-key", key: "private-key.pem" },
  });
  await page.getByText("kubectl patch secret denrei-webhook-secrets -n denrei").waitFor();
  await expectAccessible(page);

  await page.getByRole("link", { name: "Install the App" }).click();
  await page.getByLabel("Only select repositories").check();
  await page.getByLabel("acme/web").check();
  await page.getByRole("button", { name: "Install" }).click();
  await page.getByRole("heading", { name: "Create the Installation" }).waitFor();
  await page.getByText("acme-builds is installed on acme.").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { name: "acme", level: 1 }).waitFor();
  const ready = await environment.until(
    Installation,
    { namespace: team, name: "acme" },
    ({ status }) => status?.ready === true,
  );
  expect(ready.spec).toMatchObject({
    appRef: { kind: "GitHubApp", name: "acme-builds" },
    installationID: created?.installations[0]?.id,
    permissions: { contents: "read" },
    template: { metadata: { annotations: { "kpack.io/git": github.url } } },
  });
  const all = seen.join("\n");
  expect(all).toContain("acme-builds");
  for (const key of [created?.privateKey, created?.webhookSecret, created?.clientSecret]) {
    expect(all).not.toContain(key);
    expect(all).not.toContain(JSON.stringify(key).slice(1, -1));
    expect(environment.dashboard.log.all.join("\n")).not.toContain(key);
  }
  expect(complaints).toEqual([]);
});
