/** Creating a GitHub App from the page: at the simulated GitHub, with a real control plane and the functions that use the App. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allowedUrlsVariable } from "../../bus/github/allowed.ts";
import { apiVersionOf, Secret } from "../../bus/kube/kind.ts";
import type { PendingApp } from "../../dashboard/server/auth/pendingapp.ts";
import { type SimulatedGitHub, startGitHub } from "../../deploy/simulators/github/github.ts";
import { GitHubApp, Installation } from "../../functions/ghapp/kinds.ts";
import { expectAccessible } from "../harness/accessible.ts";
import { type DashboardEnvironment, people, startDashboardEnvironment, team } from "../harness/dashboard.ts";
import { expectDenied } from "../harness/denied.ts";
import { askForForm, confirmApp, startApp } from "../harness/githubapps.ts";
import { createNamespace, optIn } from "../harness/namespaces.ts";
import { grant } from "../harness/rights.ts";
import { openRecords, type Records } from "../harness/sessionrecords.ts";
import { type Answer, sessionCookieName, type Visitor, visitor } from "../harness/visitor.ts";

const platformNamespace = "denrei";
const gateway = "http://127.0.0.1:9/hooks";

let environment: DashboardEnvironment;
let github: SimulatedGitHub;
let records: Records;
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
  records = await openRecords(environment);
  await environment.bridge("bridge-1");
  await environment.worker("worker-1", ["githubapp", "installation"], {
    env: { CONTROLLER_NAMESPACE: platformNamespace, [allowedUrlsVariable]: github.url },
  });
});
afterAll(async () => {
  await records?.close();
  await environment?.stop();
  await github?.stop();
});

const manager = { fieldManager: "test" };
const app = (name: string) => ({ url: github.url, namespace: team, name, organization: "acme" });
const secretOf = (name: string, namespace = team) =>
  environment.client.get(Secret, { namespace, name }).catch(() => undefined) as Promise<
    { data?: Record<string, string> } | undefined
  >;
const createSecret = (name: string, namespace: string, stringData: Record<string, string>) => {
  const object = { apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, stringData };
  return environment.client.create(Secret, object as never, manager);
};
const alice = () => environment.visitor(people.alice);
const failed = (outcome: string) => `/github/new-app?outcome=${outcome}`;
const locationOf = async (user: Visitor, path: string, at?: string) => {
  const answer = await user.ask(path, { ...(at !== undefined && { at }) });
  expect(answer.status).toBe(303);
  return answer.headers.get("location");
};

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
  const keep = (text: string) => void seen.push(text);
  page.on("response", (response) => {
    seen.push(response.url());
    if (response.url().startsWith(`${environment.url}/api/`) && !/watch/.test(response.url()))
      response.text().then(keep, () => undefined);
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

describe("the callback", () => {
  test("can be served by another replica, and only once", async () => {
    const second = await environment.secondReplica();
    const user = await alice();
    const path = await confirmApp(await startApp(user, app("replicated")), "acme");
    const answers = await Promise.all([locationOf(user, path, second.url), locationOf(user, path)]);
    expect(answers.sort()).toEqual([`/github/app/${team}/replicated`, failed("session")]);
    expect((await secretOf("replicated-key"))?.data).toHaveProperty(["private-key.pem"]);
    expect(await locationOf(user, path)).toBe(failed("session"));
  });

  test("needs the session that started, within an hour", async () => {
    const user = await alice();
    const path = await confirmApp(await startApp(user, app("others")), "acme");
    expect(await locationOf(visitor(environment.url), path)).toBe(failed("session"));
    expect(await locationOf(await alice(), path)).toBe(failed("session"));
    expect(await locationOf(user, path.replace(/state=[^&]+/, "state=guessed"))).toBe(failed("session"));
    const cookie = user.cookies.get(sessionCookieName);
    const { githubApp } = (await records.of(cookie)).session;
    await records.change(cookie, { githubApp: { ...(githubApp as PendingApp), endsAt: Date.now() - 1 } });
    expect(await locationOf(user, path)).toBe(failed("session"));
    expect(await secretOf("others-key")).toBeUndefined();
  });

  test("reports a code that GitHub no longer accepts", async () => {
    const user = await alice();
    const path = await confirmApp(await startApp(user, app("too-late")), "acme");
    github.ageCodes(3_600_000);
    expect(await locationOf(user, path)).toBe(failed("code"));
    expect((await user.ask("/api/github/apps")).json()).not.toHaveProperty("unstored");
    const code = new URLSearchParams(path.split("?")[1]).get("code") ?? "";
    expect(environment.dashboard.log.all.join("\n")).not.toContain(code);
  });
});

describe("keys that are not stored", () => {
  test("can be fetched later if GitHub does not answer", async () => {
    const user = await alice();
    const path = await confirmApp(await startApp(user, app("unreached")), "acme");
    github.fault({ path: /^\/app-manifests\// }, "reset", 1);
    expect(await locationOf(user, path)).toBe(failed("unavailable"));
    expect((await user.ask("/api/github/apps")).json()).toMatchObject({ unstored: { name: "unreached" } });
    const finished = await user.ask("/api/github/apps/finish", { method: "POST", body: {} });
    expect([finished.status, finished.json()]).toEqual([200, { goTo: `/github/app/${team}/unreached` }]);
    expect((await secretOf("unreached-key"))?.data).toHaveProperty(["private-key.pem"]);
  });

  test("stay in the session while another Secret has the name, which is not overwritten", async () => {
    const page = await atForm();
    await page.getByLabel("Name", { exact: true }).fill("occupied");
    await page.getByRole("button", { name: "Continue to GitHub" }).click();
    await page.getByRole("button", { name: "Create GitHub App for octo" }).waitFor();
    await createSecret("occupied-key", team, { "private-key.pem": "of another App" });
    await page.getByRole("button", { name: "Create GitHub App for octo" }).click();
    await page.getByText("GitHub created the App, but its keys could not be stored.").waitFor();
    await page.getByRole("heading", { name: "The keys of occupied are not stored yet" }).waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Store the keys" }).click();
    await page.getByText("A Secret occupied-key exists in team-a, and a key is never overwritten.").waitFor();
    expect(decoded((await secretOf("occupied-key"))?.data?.["private-key.pem"])).toBe("of another App");

    const cookies = await page.context().cookies();
    const cookie = cookies.find(({ name }) => name === sessionCookieName)?.value;
    const created = github.createdApps.find(({ slug }) => slug === "occupied");
    expect((await records.of(cookie)).session.githubApp?.rest).toMatchObject({ id: created?.id });
    await environment.client.delete(Secret, { namespace: team, name: "occupied-key" }, {});
    await page.getByRole("button", { name: "Store the keys" }).click();
    await page.getByRole("link", { name: "Install the App" }).waitFor();
    expect(decoded((await secretOf("occupied-key"))?.data?.["private-key.pem"])).toBe(created?.privateKey);
    expect((await records.of(cookie)).session).not.toHaveProperty("githubApp");
  });

  test("keep another App from being started until the user discards them", async () => {
    const user = await alice();
    const path = await confirmApp(await startApp(user, app("discarded")), "acme");
    github.fault({ path: /^\/app-manifests\// }, "reset", 1);
    expect(await locationOf(user, path)).toBe(failed("unavailable"));
    // The state of an App that waits for a retry is not accepted again.
    expect(await locationOf(user, path)).toBe(failed("session"));
    expect((await askForForm(user, app("next"))).json()).toMatchObject({ reason: "AppUnstored" });
    expect((await user.ask("/api/github/apps/unstored", { method: "DELETE" })).status).toBe(200);
    expect((await user.ask("/api/github/apps/finish", { method: "POST", body: {} })).status).toBe(404);
    expect((await askForForm(user, app("next"))).status).toBe(200);
  });
});

test("refuses an App before the user leaves for GitHub if it could not be stored", async () => {
  const bob = await environment.visitor(people.bob);
  const denied = await askForForm(bob, app("forbidden"));
  expect([denied.status, denied.json()]).toMatchObject([
    409,
    { reason: "NotAllowed", details: { causes: [{ field: "namespace" }] } },
  ]);
  const user = await alice();
  await createSecret("taken-key", team, {});
  expect((await askForForm(user, app("taken"))).json()).toMatchObject({
    details: {
      causes: [{ field: "name", message: "The Secret taken-key exists in team-a. Choose another name." }],
    },
  });
  for (const wrong of [{ url: "https://evil.example" }, { name: "../x" }, { organization: "a/b" }])
    expect((await askForForm(user, { ...app("wrong"), ...wrong })).status).toBe(400);

  const page = await environment.loggedIn(people.bob, team);
  await page.goto(`${environment.url}/github/new-app`);
  await expectDenied(page, "Continue to GitHub", { right: "create secrets", namespace: team });
});

test("gives the webhook secret to the gateways if the user may, and keeps the others", async () => {
  const rbac = "rbac.authorization.k8s.io";
  const metadata = { name: "webhook-secrets", namespace: platformNamespace };
  await grant(environment.client, [
    {
      ...{ apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata: { name: metadata.name } },
      rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get", "create", "patch"] }],
    },
    {
      ...{ apiVersion: `${rbac}/v1`, kind: "RoleBinding", metadata },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: metadata.name },
      subjects: [{ apiGroup: rbac, kind: "User", name: people.alice.name }],
    },
  ]);
  const user = await alice();
  const secrets = async () => (await secretOf("denrei-webhook-secrets", platformNamespace))?.data ?? {};
  const create = async (name: string) => {
    await locationOf(user, await confirmApp(await startApp(user, { ...app(name), gateway }), "acme"));
    return github.createdApps.find(({ slug }) => slug === name)?.webhookSecret;
  };
  const first = await create("hooked");
  expect(decoded((await secrets())[`github.${team}.hooked`])).toBe(first);
  expect((await secretOf("hooked-key"))?.data).not.toHaveProperty("webhook-secret");
  // A rotation: the gateways accept each line.
  await environment.client.mergePatch(
    Secret,
    { namespace: platformNamespace, name: "denrei-webhook-secrets" },
    { data: { [`github.${team}.again`]: Buffer.from("an older one\n").toString("base64") } },
    manager,
  );
  const second = await create("again");
  const all = await secrets();
  expect(decoded(all[`github.${team}.again`])).toBe(`an older one\n${second}`);
  expect(decoded(all[`github.${team}.hooked`])).toBe(first);
});

test("only a user who may read the App's key creates an Installation without connecting GitHub", async () => {
  const user = await alice();
  await locationOf(user, await confirmApp(await startApp(user, app("held")), "acme"));
  const create = (who: Visitor, name: string, installationID: number, kind = "GitHubApp") =>
    who.ask(`/api/kubernetes/apis/ghapp.tsuzu.dev/v1alpha1/namespaces/${team}/installations`, {
      method: "POST",
      body: {
        apiVersion: "ghapp.tsuzu.dev/v1alpha1",
        kind: "Installation",
        metadata: { name },
        spec: { appRef: { kind, name: "held" }, installationID, key: "token", template: {} },
      },
    });
  const other = github.apps[0]?.installations[0]?.id ?? 0;
  expect((await create(user, "of-another-app", other)).json()).toMatchObject({
    reason: "NotYourInstallation",
    message: `The App of the GitHubApp held has no installation ${other} on GitHub.`,
  });
  await fetch(`${github.url}/github-apps/held/installations/new`, {
    method: "POST",
    body: new URLSearchParams({ account: "acme", selection: "all" }),
    redirect: "manual",
  });
  const id = github.createdApps.find(({ slug }) => slug === "held")?.installations[0]?.id ?? 0;
  const reason = async (answer: Promise<Answer>) => (await answer).json<{ reason: string }>().reason;
  expect(await reason(create(user, "of-the-cluster", id, "ClusterGitHubApp"))).toBe("GitHubNotConnected");
  const bob = await environment.visitor(people.bob);
  expect(await reason(create(bob, "of-bob", id))).toBe("GitHubNotConnected");
  expect((await create(user, "of-alice", id)).status).toBe(201);
});

test("shows an App only to users who may read its key, which is in a Secret of the namespace", async () => {
  const path = (name: string) => `/api/github/apps/${team}/${name}`;
  const user = await alice();
  await locationOf(user, await confirmApp(await startApp(user, app("shown")), "acme"));
  expect((await user.ask(path("shown"))).json()).toEqual({
    appName: "shown",
    url: github.url,
    install: `${github.url}/github-apps/shown/installations/new`,
    isWebhookSecretKept: false,
  });
  expect((await (await environment.visitor(people.bob)).ask(path("shown"))).status).toBe(403);
  const { spec } = await environment.client.get(GitHubApp, { namespace: team, name: "shown" });
  for (const [name, changed] of [
    ["astray", { privateKeySecretRef: { name: "../secrets/shown-key", key: "private-key.pem" } }],
    ["elsewhere", { url: "http://127.0.0.1:9" }],
  ] as const) {
    const metadata = { name, namespace: team };
    const object = { apiVersion: apiVersionOf(GitHubApp), kind: "GitHubApp", metadata };
    await environment.client.create(GitHubApp, { ...object, spec: { ...spec, ...changed } }, manager);
    expect((await user.ask(path(name))).status, name).toBe(409);
  }
});

test("a page may post forms only to the dashboard and its GitHub", async () => {
  const { headers } = await visitor(environment.url).ask("/");
  expect(headers.get("content-security-policy")).toContain(`form-action 'self' ${github.url};`);
});
