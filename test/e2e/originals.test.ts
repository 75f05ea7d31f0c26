/** Objects of modoki-operator and ghapp-controller apply unchanged, and keep their meaning. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { type Kind, Secret } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { Deployment } from "../../bus/kube/workloads.ts";
import { ClusterGitHubApp, Installation } from "../../functions/ghapp/kinds.ts";
import { functions } from "../../functions/index.ts";
import { Ingress } from "../../functions/paas/charts/kinds.ts";
import { Image } from "../../functions/paas/kinds/kpack.ts";
import { Application, AppPipeline, RemoteSync } from "../../functions/paas/kinds.ts";
import { createNamespace } from "../harness/namespaces.ts";
import { type Paas, polling, startPaas } from "../harness/paas.ts";
import { conditionOf, has } from "../harness/testobjects.ts";

const namespace = "team-a";
const kinds = [
  Secret,
  ClusterGitHubApp,
  Installation,
  Application,
  RemoteSync,
  AppPipeline,
] as readonly Kind[];

let paas: Paas;
/** Commits by the ref that names them. */
let commits: { main: string; tag: string; pull: number; repository: number };
/** Why the Installation had no token before its App had a rule. */
let refusal: string | undefined;
beforeAll(async () => {
  const ours = functions.map(({ name }) => name).filter((name) => name.startsWith("modoki-"));
  paas = await startPaas({ gateways: 1, functions: [...ours, "clustergithubapp", "installation"] });
  await createNamespace(paas.environment.client, namespace);
  await paas.accounts.optIn(namespace);
  await paas.site({ "config.yaml": "previews: { hosts: modoki-operator }" });
  commits = await repository();
  for (const object of originals()) await apply(object);
  const refused = await paas.environment.until(
    Installation,
    at("acme-web"),
    has("Ready", "False", "NotAllowed"),
  );
  refusal = conditionOf(refused)?.message;
  await paas.patch(ClusterGitHubApp, { name: "main" }, { spec: { allowed: [{ namespaces: [namespace] }] } });
});
afterAll(() => paas?.stop());

/** A repository with a tag behind main, a branch, and a pull request. */
async function repository(): Promise<typeof commits> {
  const { github } = paas;
  const before = await github.api<{ commit: { sha: string } }>("GET", "/repos/acme/web/branches/main");
  const tag = before.commit.sha;
  await github.api("POST", "/repos/acme/web/git/refs", { ref: "refs/tags/v1.0.0", sha: tag });
  await github.api("POST", "/repos/acme/web/git/refs", { ref: "refs/heads/next", sha: tag });
  const { after: main } = await github.push({ repository: "acme/web", branch: "main" });
  const { number: pull } = await github.openPullRequest({ repository: "acme/web", branch: "change" });
  const { id } = await github.api<{ id: number }>("GET", "/repos/acme/web");
  return { main, tag, pull, repository: id };
}

function originals(): readonly KubeObject[] {
  const { url, apps } = paas.github;
  const [app] = apps;
  const values: Readonly<Record<string, unknown>> = {
    GITHUB: url,
    PRIVATE_KEY: app?.privateKey,
    APP_ID: app?.id,
    INSTALLATION_ID: app?.installations[0]?.id,
    REPOSITORY_ID: commits.repository,
    PULL_REQUEST: commits.pull,
    SHORT_SHA: commits.tag.slice(0, 7),
  };
  const text = readFileSync(new URL("../fixtures/originals.yaml", import.meta.url), "utf8");
  const filled = text.replace(/\$([A-Z_]+)/g, (_, name: string) => JSON.stringify(values[name]));
  return parseAllDocuments(filled).map((document) => document.toJS());
}

async function apply(object: KubeObject): Promise<void> {
  const kind = kinds.find((one) => one.kind === object.kind) as Kind;
  const { spec } = await paas.environment.client.create(kind, object, { fieldManager: "kubectl" });
  // The API server drops unknown fields silently.
  if (object.spec !== undefined) expect(spec).toMatchObject(object.spec as object);
}

const at = (name: string) => ({ namespace, name });
const sync = (name: string) => paas.environment.until(RemoteSync, at(name), has("Ready", "True"));

test("a cluster-wide App issues tokens only once it has a rule; Secrets then have the type of the template", async () => {
  expect(refusal).toContain("spec.allowed");
  for (const name of ["acme-web", "acme-tool"])
    await paas.environment.until(Installation, at(name), has("Ready", "True"));
  const tool = await paas.environment.client.get(Secret, at("acme-tool"));
  expect(tool).toMatchObject({ type: "example.com/token", metadata: { labels: { tool: "acme" } } });
  expect(Object.keys(tool.data ?? {}).sort()).toEqual(["other", "token"]);
});

test("builds and runs a branch", async () => {
  const { status } = await sync("web");
  expect(status?.revision).toBe(commits.main);
  const app = await paas.environment.until(Application, at("web"), has("Ready", "True"));
  expect(app.spec.image).toBe(status?.latestImage);
  expect(conditionOf(await sync("web"), "Deprecated")).toBeUndefined();
});

test("prefers the pull request when both a pull request and a branch are given", async () => {
  const { status } = await sync("precedence");
  expect(status).toMatchObject({ ref: `#${commits.pull}`, baseBranch: "main" });
  expect(conditionOf(await sync("precedence"), "Deprecated")).toMatchObject({
    status: "True",
    reason: "DeprecatedFields",
    message: "spec.base.github sets pullRequest, branch: only pullRequest takes effect, remove branch",
  });
  const image = await paas.environment.client.get(Image, at("modoki-precedence"));
  expect(image.spec.source).toMatchObject({ subPath: "services/web", git: { revision: status?.revision } });
  await paas.patch(RemoteSync, at("precedence"), { spec: { base: { github: { branch: null } } } });
  await paas.environment.until(RemoteSync, at("precedence"), has("Deprecated", "False"));
});

test("resolves a tag and an abbreviated commit ID, and follows a tag that moves", async () => {
  for (const name of ["tagged", "short"]) {
    const { status } = await sync(name);
    expect(status?.revision, name).toBe(commits.tag);
    const found = await paas.environment.client.get(RemoteSync, at(name));
    expect(conditionOf(found, "Deprecated")?.message, name).toContain("set the full commit id");
  }
  const path = "/repos/acme/web/git/refs/tags/v1.0.0";
  await paas.github.api("PATCH", path, { sha: commits.main, force: true });
  await paas.patch(RemoteSync, at("tagged"), {
    metadata: { annotations: { "modoki.tsuzu.dev/refreshed-at": "now" } },
  });
  await paas.environment.until(RemoteSync, at("tagged"), ({ status }) => status?.revision === commits.main);
});

test("runs an Application without domains, without a route", async () => {
  const { status } = await paas.environment.until(Application, at("worker"), has("Ready", "True"));
  expect(status?.urls).toEqual([]);
  await paas.environment.client.get(Deployment, at("worker"));
  await paas.untilQuiet();
  const ingresses = (await paas.environment.client.list(Ingress, namespace)).items.map(
    ({ metadata }) => metadata.name,
  );
  expect(ingresses).toContain("application-sample2");
  expect(ingresses).not.toContain("worker");
});

test("gives previews the hosts of modoki-operator where the site configures them", async () => {
  const { status } = await paas.environment.until(AppPipeline, at("web"), ({ status }) =>
    Boolean(status?.previews?.some(({ phase }) => phase === "Ready")),
  );
  const host = `team-a-web-pr-${commits.pull}.preview.example.com`;
  expect(status?.previews?.map(({ url }) => url)).toEqual([`https://${host}`]);
  const name = `modoki-pipeline-web-pr-${commits.pull}`;
  const { spec } = await paas.environment.client.get(Application, at(name));
  expect(spec.domains).toEqual([host]);
  // Another setting moves them.
  await paas.site({ "config.yaml": "" });
  await expect
    .poll(async () => (await paas.environment.client.get(Application, at(name))).spec.domains[0], polling)
    .toMatch(new RegExp(`^pr-${commits.pull}-web-[0-9a-f]{6}\\.preview\\.example\\.com$`));
});
