/** The functions of the PaaS with exactly their generated permissions, each as a separate user. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { installCrds } from "../../bus/kube/install.ts";
import { type Kind, Secret } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { ServiceAccount } from "../../bus/kube/workloads.ts";
import { gatewayName } from "../../deploy/generate/rbac.ts";
import { failStep } from "../../deploy/simulators/kpack/podannotations.ts";
import { ClusterGitHubApp, Installation } from "../../functions/ghapp/kinds.ts";
import { functions } from "../../functions/index.ts";
import { childKinds } from "../../functions/paas/charts/kinds.ts";
import { Image } from "../../functions/paas/kinds/kpack.ts";
import { Application, AppPipeline, RemoteSync } from "../../functions/paas/kinds.ts";
import { gatewayCrds } from "../gatewayapi/crds.ts";
import { githubReports } from "../harness/githubreports.ts";
import { type Paas, platformNamespace, polling, registry, startPaas } from "../harness/paas.ts";
import { previewAt, previewsOn, untilNoObjects } from "../harness/previews.ts";
import { remoteSyncs } from "../harness/remotesyncs.ts";
import { accountUser } from "../harness/rights.ts";
import { base64, texts } from "../harness/secretvalues.ts";
import { has } from "../harness/testobjects.ts";
import { unwritten } from "./exercised.ts";

const ours = functions.filter(({ name }) => name.startsWith("modoki-"));

let paas: Paas;
beforeAll(async () => {
  const names = [...ours.map(({ name }) => name), "clustergithubapp", "installation"];
  paas = await startPaas({ gateways: 1, workers: "one each", functions: names });
  const signal = AbortSignal.timeout(60_000);
  await installCrds(paas.environment.client, await gatewayCrds(), { fieldManager: "test", signal });
});
afterAll(() => paas?.stop());

/** One object of each kind that an Application may create, all with the same name. */
const chart = (label: string) => `
export default ({ app }) => {
  const { name } = app.metadata;
  const labels = { app: name };
  const metadata = { name, labels: { part: "${label}" } };
  const selector = { matchLabels: labels };
  const of = (apiVersion, kind, spec) => ({ apiVersion, kind, metadata, ...spec });
  const containers = [{ name: "main", image: "main:1" }];
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name };
  const defaultBackend = { service: { name, port: { number: 80 } } };
  return [
    of("apps/v1", "Deployment", { spec: { selector, template: { metadata: { labels }, spec: { containers } } } }),
    of("v1", "Service", { spec: { selector: labels, ports: [{ port: 80 }] } }),
    of("networking.k8s.io/v1", "Ingress", { spec: { defaultBackend } }),
    of("gateway.networking.k8s.io/v1", "HTTPRoute", { spec: { hostnames: ["all.example.com"] } }),
    of("v1", "ConfigMap", { data: { a: "b" } }),
    of("autoscaling/v2", "HorizontalPodAutoscaler", { spec: { scaleTargetRef, maxReplicas: 2 } }),
    of("policy/v1", "PodDisruptionBudget", { spec: { selector, maxUnavailable: 1 } }),
    of("networking.k8s.io/v1", "NetworkPolicy", { spec: { podSelector: selector } }),
  ];
};
`;
/** A chart without these objects; it has to create at least one other. */
const other = `export default ({ app }) => [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: app.metadata.name + "-only" } }];`;

test("an Application creates objects of each kind, changes them, and deletes each", async () => {
  const { environment } = paas;
  const at = { namespace: "default", name: "all" };
  // A default backend serves every host.
  const config = { "config.yaml": "hosts: { allowed: { default: ['*'] } }" };
  await paas.site({ ...config, "chart.js": chart("one") });
  await paas.application("all");
  const part = (label: string) => (found: Stored) => found.metadata.labels?.part === label;
  for (const kind of childKinds) await environment.until(kind, at, part("one"));
  await paas.site({ ...config, "chart.js": chart("two") });
  for (const kind of childKinds) await environment.until(kind, at, part("two"));
  await paas.site({ ...config, "chart.js": other });
  for (const kind of childKinds) await environment.untilGone(kind, at);
  await environment.until(Application, at, has("Ready", "True"));
  await environment.client.delete(Application, at, {});
  await environment.untilGone(Application, at);
  await paas.site({});
});

test("previews are created, reported, rebuilt, and deleted, and so is their pipeline", async () => {
  const { environment, github } = paas;
  const previews = previewsOn(paas);
  const reports = githubReports(paas, "web");
  await previews.create("web", { report: { deployment: true } });
  const pull = await previews.open("web", { branch: "change" });
  await previews.phases("web", { [pull.number]: "Ready" });
  await expect
    .poll(async () => (await reports.comments(pull.number))[0]?.body, polling)
    .toMatch(/State \| Ready/);
  const { name } = previewAt("web", pull.number);
  // They are desired again.
  for (const kind of [Application, RemoteSync] as readonly Kind[])
    await paas.patch(kind, name, { metadata: { labels: { "modoki.tsuzu.dev/app-pipeline": "other" } } });
  for (const kind of [Application, RemoteSync] as readonly Kind[])
    await environment.until(
      kind,
      { name },
      ({ metadata }) => metadata.labels?.["modoki.tsuzu.dev/app-pipeline"] === "web",
    );
  await previews.until("web", has("Reported", "True"));
  await github.closePullRequest(pull);
  await untilNoObjects(paas, "web", pull.number);
  await expect
    .poll(async () => (await reports.comments(pull.number))[0]?.body, polling)
    .toContain("was deleted: the pull request is closed");
  const last = await previews.open("web", { branch: "last" });
  await previews.phases("web", { [last.number]: "Ready" });
  // Wait until GitHub has received the reports; otherwise there is nothing to withdraw.
  await expect.poll(() => reports.deployments(last.number), polling).toEqual([[last.headSha, "success"]]);
  await expect
    .poll(async () => (await reports.comments(last.number))[0]?.body, polling)
    .toMatch(/State \| Ready/);
  await environment.client.delete(AppPipeline, { namespace: "default", name: "web" }, {});
  await environment.untilGone(AppPipeline, { name: "web" });
  await untilNoObjects(paas, "web", last.number);
  expect((await reports.comments(last.number)).map(({ body }) => /was deleted/.test(body))).toEqual([true]);
  expect(await reports.deployments(last.number)).toEqual([[last.headSha, "inactive"]]);
  expect((await reports.statuses(last.headSha))[0]?.state).toBe("success");
});

test("a branch is built, its failure is reported, it moves to another image, and everything is deleted", async () => {
  const { environment } = paas;
  const syncs = remoteSyncs(paas);
  await syncs.start("branch");
  await syncs.steer("branch", { [failStep]: "export" });
  await syncs.push("branch");
  const { status } = await syncs.until("branch", "BuildFailed");
  expect(status?.lastFailure?.log).toContain("export");

  const at = { namespace: "default", name: "modoki-branch" };
  const { uid } = (await environment.client.get(Image, at)).metadata;
  await paas.patch(RemoteSync, "branch", { spec: { image: { name: `${registry}/acme/other` } } });
  await environment.until(Image, at, (image) => image.metadata.uid !== uid);
  await syncs.ready("branch");
  const account = { namespace: "default", name: "modoki-branch-builder" };
  await paas.patch(ServiceAccount, account, { secrets: null });
  await environment.until(ServiceAccount, account, ({ secrets: listed = [] }) => listed.length > 0);

  for (const kind of [RemoteSync, Application] as readonly Kind[]) {
    await environment.client.delete(kind, { namespace: "default", name: "branch" }, {});
    await environment.untilGone(kind, { name: "branch" });
  }
  await environment.untilGone(Image, at);
  await environment.untilGone(ServiceAccount, account);
});

/** Tokens issued with exactly these permissions, plus metadata, which every token may read. */
const tokensFor = (...wanted: readonly string[]): readonly string[] =>
  paas.github.tokens().filter((token) => {
    const { metadata: _, ...permissions } = paas.github.permissionsOf(token) ?? {};
    const found = Object.entries(permissions).map((one) => one.join(":"));
    return found.sort().join() === [...wanted].sort().join();
  });

test("the token for builds reads one repository, and tokens for the API are in no Secret", async () => {
  const { environment, github } = paas;
  const [app] = github.apps;
  const [installation] = app?.installations ?? [];
  const privateKeySecretRef = { name: "gh-app-key", key: "private-key.pem" };
  await paas.create(Secret, {
    metadata: { namespace: platformNamespace, name: privateKeySecretRef.name },
    data: { [privateKeySecretRef.key]: base64(app?.privateKey ?? "") },
  });
  const apiPermissions = { pull_requests: "write", statuses: "write" };
  const permissions = { contents: "read", ...apiPermissions };
  await paas.create(ClusterGitHubApp, {
    metadata: { name: "main" },
    spec: {
      url: github.url,
      appID: app?.id,
      privateKeySecretRef,
      allowed: [{ namespaces: ["default"], repositories: ["acme/api"], permissions }],
    },
  });
  await paas.create(Installation, {
    metadata: { namespace: "default", name: "clone" },
    spec: {
      appRef: { kind: "ClusterGitHubApp", name: "main" },
      installationID: installation?.id,
      repositories: ["api"],
      apiPermissions,
      format: "basic-auth",
      template: { metadata: { annotations: { "kpack.io/git": github.url } } },
    },
  });
  await environment.until(Installation, { name: "clone" }, has("Ready", "True"));
  const previews = previewsOn(paas);
  const reports = githubReports(paas, "api");
  await previews.create("api", {
    base: { github: { owner: "acme", repo: "api", secretName: "clone" } },
    report: {},
  });
  const pull = await previews.open("api", { branch: "change" });
  await previews.phases("api", { [pull.number]: "Ready" });
  await expect
    .poll(async () => (await reports.comments(pull.number))[0]?.body, polling)
    .toMatch(/State \| Ready/);
  await expect.poll(async () => (await reports.statuses(pull.headSha))[0]?.state, polling).toBe("success");

  const { items } = await environment.client.list(Secret);
  const stored = JSON.stringify(items.map((secret) => [secret, texts(secret)]));
  const clone = items.find(({ metadata }) => metadata.name === "clone");
  expect(tokensFor("contents:read")).toContain(texts(clone).password);
  const reading = tokensFor("contents:read", "pull_requests:read", "statuses:read");
  const writing = tokensFor("contents:read", "pull_requests:write", "statuses:write");
  expect(reading.length).toBeGreaterThan(0);
  expect(writing.length).toBeGreaterThan(0);
  for (const token of [...reading, ...writing]) expect(stored).not.toContain(token);
  // The harness requested one earlier, without a restriction.
  const asked = github.requests().filter(({ path, body }) => /\/access_tokens$/.test(path) && body !== "");
  expect(new Set(asked.map(({ body }) => JSON.parse(body).repositories?.join()))).toEqual(new Set(["api"]));
  const account = { namespace: "default", name: `modoki-${previewAt("api", pull.number).name}-builder` };
  const { secrets: listed } = await environment.client.get(ServiceAccount, account);
  expect(listed?.map(({ name }) => name)).toEqual(["clone", "regcred"]);
  await environment.client.delete(AppPipeline, { namespace: "default", name: "api" }, {});
  await environment.untilGone(AppPipeline, { name: "api" });
  await untilNoObjects(paas, "api", pull.number);
});

/** Accounts are deleted with their owners; remotesync.test.ts rebuilds a Build; failed reports are not Events. */
const unexercised = [
  "modoki-remotesync: delete serviceaccounts",
  "modoki-remotesync: patch kpack.io/builds",
  "modoki-report: create events.k8s.io/events",
];

test("no request was denied, and every write permission was used", async () => {
  await Promise.all(paas.workers.map((worker) => worker.stop()));
  const asked = await paas.accounts.asked();
  expect(asked.filter(({ refused }) => refused !== "no")).toEqual([]);
  expect(unwritten(ours, asked)).toEqual(unexercised);
  expect(asked.filter(({ user }) => user === accountUser(gatewayName))).toEqual([]);
});
