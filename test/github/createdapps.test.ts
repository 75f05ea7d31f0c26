/** Apps that people create from manifests on the pages of the simulated GitHub. */
import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { appJwt } from "../../deploy/simulators/github/appjwt.ts";
import { type SimulatedGitHub, startGitHub } from "../../deploy/simulators/github/github.ts";
import { startTarget, type Target } from "./target.ts";

let github: SimulatedGitHub;
let target: Target;
beforeAll(async () => {
  target = await startTarget();
  github = await startGitHub({
    repositories: ["acme/web", "acme/docs", "other/web", "octo/home"],
    people: [{ login: "octo", repositories: ["acme/web", "octo/home"] }],
  });
});
afterAll(async () => {
  await github?.stop();
  await target?.close();
});

const back = "https://paas.example/back";
const manifest = (overrides: object = {}) => ({
  name: "Acme Builds",
  url: "https://paas.example",
  hook_attributes: { url: target.url, active: true },
  redirect_url: back,
  setup_url: "https://paas.example/installed",
  default_permissions: { contents: "read", pull_requests: "write" },
  default_events: ["push", "pull_request"],
  ...overrides,
});

async function post(path: string, fields: readonly (readonly [string, string])[]) {
  const body = new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value]));
  const answer = await fetch(github.url + path, { method: "POST", body, redirect: "manual" });
  return { status: answer.status, location: answer.headers.get("location"), text: await answer.text() };
}

const start = (value: unknown, path = "/settings/apps/new?state=a+state") =>
  post(path, [["manifest", typeof value === "string" ? value : JSON.stringify(value)]]);

const confirm = (name: string, owner: string, value = manifest()) =>
  post("/settings/apps/created-from-manifest", [
    ["manifest", JSON.stringify(value)],
    ["state", "a state"],
    ["owner", owner],
    ["name", name],
  ]);

const convert = (code: string) =>
  fetch(`${github.url}/api/v3/app-manifests/${code}/conversions`, { method: "POST" });

interface Converted {
  readonly id: number;
  readonly slug: string;
  readonly html_url: string;
  readonly webhook_secret: string | null;
  readonly pem: string;
}

/** Creates an App; resolves with its keys. */
async function created(name: string, owner = "acme", overrides: object = {}): Promise<Converted> {
  const { location } = await confirm(name, owner, manifest(overrides));
  const answer = await convert(new URL(location ?? "").searchParams.get("code") ?? "");
  expect(answer.status).toBe(201);
  return (await answer.json()) as Converted;
}

async function asApp(app: { id: number; pem: string }, method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${appJwt({ id: app.id, privateKey: app.pem })}` };
  const answer = await fetch(`${github.url}/api/v3${path}`, {
    ...{ method, headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, never> };
}

test("asks for confirmation, creates the App, and returns the state", async () => {
  const page = await start(manifest());
  expect(page.status).toBe(200);
  for (const text of ["Simulated GitHub", "Create GitHub App for octo", "pull_requests: write", "event push"])
    expect(page.text).toContain(text);
  const { status, location } = await confirm("Acme Builds", "octo");
  const to = new URL(location ?? "");
  expect([status, to.origin + to.pathname, to.searchParams.get("state")]).toEqual([302, back, "a state"]);
  const code = to.searchParams.get("code") ?? "";
  const answer = await convert(code);
  expect(answer.status).toBe(201);
  expect(await answer.json()).toMatchObject({
    id: expect.any(Number),
    slug: "acme-builds",
    html_url: `${github.url}/github-apps/acme-builds`,
    owner: { login: "octo", type: "User" },
    client_secret: expect.any(String),
    webhook_secret: expect.stringMatching(/^[0-9a-f]{40}$/),
    pem: expect.stringContaining("BEGIN RSA PRIVATE KEY"),
  });
  expect((await convert(code)).status).toBe(404);
  expect((await convert("unknown")).status).toBe(404);
});

test("an organization owns the App if the path names it", async () => {
  const page = await start(manifest(), "/organizations/acme/settings/apps/new?state=x");
  expect(page.text).toContain("Create GitHub App for acme");
  expect(page.text).not.toContain("for octo");
  for (const unknown of ["nobody", "octo"])
    expect((await start(manifest(), `/organizations/${unknown}/settings/apps/new`)).status).toBe(404);
});

test("a code is valid for an hour", async () => {
  const { location } = await confirm("Too Late", "acme");
  github.ageCodes(3_600_000);
  expect((await convert(new URL(location ?? "").searchParams.get("code") ?? "")).status).toBe(404);
});

test.each<[string, () => unknown, string]>([
  ["no JSON", () => "{", "not valid JSON"],
  ["no URL", () => manifest({ url: undefined }), "&#34;url&#34; wasn't supplied"],
  ["a webhook without a URL", () => manifest({ hook_attributes: { active: false } }), "&#34;url&#34; wasn't"],
  ["an unknown permission level", () => manifest({ default_permissions: { contents: "all" } }), "is invalid"],
  ["an event that every App gets", () => manifest({ default_events: ["installation"] }), "unsupported"],
  ["an event without its permission", () => manifest({ default_events: ["check_run"] }), "not supported by"],
])("refuses a manifest with %s", async (_, value, message) => {
  const page = await start(value());
  expect(page.status).toBe(422);
  expect(page.text).toContain("Invalid GitHub App configuration");
  expect(page.text).toContain(message);
});

test("refuses a name that is taken, empty, or too long", async () => {
  for (const [name, message] of [
    ["denrei", "already been taken"],
    [" ", "be blank"],
    ["x".repeat(35), "too long"],
  ] as const) {
    const answer = await confirm(name, "acme");
    expect([answer.status, answer.location], name).toEqual([422, null]);
    expect(answer.text).toContain(message);
  }
});

test("a created App gets tokens for the repositories of its installation", async () => {
  const app = await created("Acme Tokens");
  expect(await asApp(app, "GET", "/app")).toMatchObject({ status: 200, body: { slug: "acme-tokens" } });
  const other = await created("Acme Other Key");
  expect(await asApp({ id: app.id, pem: other.pem }, "GET", "/app")).toMatchObject({ status: 401 });

  const page = await fetch(`${app.html_url}/installations/new?state=again`);
  expect(await page.text()).toContain("acme/docs");
  const { status, location } = await post(`/github-apps/${app.slug}/installations/new`, [
    ["account", "acme"],
    ["state", "again"],
    ["selection", "selected"],
    ["repository", "acme/web"],
  ]);
  const to = new URL(location ?? "");
  const id = Number(to.searchParams.get("installation_id"));
  expect([status, to.pathname, ...to.searchParams]).toEqual([
    302,
    "/installed",
    ["installation_id", String(id)],
    ["setup_action", "install"],
    ["state", "again"],
  ]);
  expect(await asApp(app, "GET", `/app/installations/${id}`)).toMatchObject({
    status: 200,
    body: {
      app_id: app.id,
      account: { login: "acme", type: "Organization" },
      repository_selection: "selected",
    },
  });
  expect((await asApp(other, "GET", `/app/installations/${id}`)).status).toBe(404);

  const minting = `/app/installations/${id}/access_tokens`;
  const minted = await asApp(app, "POST", minting);
  expect(minted).toMatchObject({
    status: 201,
    body: {
      permissions: { contents: "read", pull_requests: "write" },
      repositories: [{ full_name: "acme/web" }],
    },
  });
  const uses = async (name: string) =>
    (
      await fetch(`${github.url}/api/v3/repos/${name}`, {
        headers: { authorization: `Bearer ${minted.body.token}` },
      })
    ).status;
  expect([await uses("acme/web"), await uses("acme/docs"), await uses("other/web")]).toEqual([200, 404, 404]);
  for (const beyond of [{ repositories: ["docs"] }, { permissions: { contents: "write" } }])
    expect((await asApp(app, "POST", minting, beyond)).status).toBe(422);
});

test("a private App can only be installed on its owner", async () => {
  const { slug } = await created("Acme Private");
  const fields = (account: string) =>
    [
      ["account", account],
      ["selection", "all"],
    ] as const;
  const path = `/github-apps/${slug}/installations/new`;
  expect((await post(path, fields("other"))).status).toBe(404);
  const open = await created("Acme Public", "acme", { public: true });
  expect((await post(`/github-apps/${open.slug}/installations/new`, fields("other"))).status).toBe(302);
});

test("signs the webhooks of a created App with its own secret, and sends them to its own URL", async () => {
  const app = await created("Acme Hooks");
  const silent = await created("Acme Silent", "acme", { hook_attributes: undefined, default_events: [] });
  expect(silent.webhook_secret).toBeNull();
  for (const { slug } of [app, silent])
    await post(`/github-apps/${slug}/installations/new`, [
      ["account", "acme"],
      ["selection", "all"],
    ]);
  await github.openPullRequest({ repository: "acme/web" });
  await github.untilDelivered();
  const mine = github.deliveries().filter((one) => one.app === app.id);
  expect(mine.map(({ event, status }) => [event, status])).toEqual(
    expect.arrayContaining([
      ["installation", "OK"],
      ["pull_request", "OK"],
    ]),
  );
  for (const { request } of mine) {
    const signature = createHmac("sha256", app.webhook_secret ?? "")
      .update(request.payload)
      .digest("hex");
    expect(request.headers["X-Hub-Signature-256"]).toBe(`sha256=${signature}`);
  }
  const [installed] = github.createdApps.find(({ id }) => id === app.id)?.installations ?? [];
  expect(mine.every(({ installation_id }) => installation_id === installed?.id)).toBe(true);
  expect(mine.every(({ url }) => url === target.url)).toBe(true);
  expect(github.deliveries().filter((one) => one.app === silent.id)).toEqual([]);
  expect((await asApp(app, "GET", "/app/hook/deliveries")).body).toHaveLength(mine.length);
});
