/** Previews driven by webhooks: what creates, changes, and deletes them, and what needs no request to GitHub. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Stored } from "../../bus/kube/object.ts";
import { kubectlTable } from "../../bus/kube/table.ts";
import { Application, AppPipeline, RemoteSync } from "../../functions/paas/kinds.ts";
import { type Paas, startPaas } from "../harness/paas.ts";
import { type Previews, phasesOf, previewAt, previewsOn, untilNoObjects } from "../harness/previews.ts";
import { sized } from "../harness/size.ts";
import { has } from "../harness/testobjects.ts";
import { changeBeforeTimer } from "../harness/timers.ts";

let paas: Paas;
let previews: Previews;
beforeAll(async () => {
  const names = ["hooks", "children", "template", "foreign", "builds", "columns"];
  paas = await startPaas({ gateways: 1, repositories: names.map((name) => `acme/${name}`) });
  previews = previewsOn(paas);
});
afterAll(() => paas?.stop());

test("webhooks create a preview, update it for each commit, delete it, and create it again", async () => {
  await previews.create("hooks");
  await previews.until("hooks", has("Ready", "True"));
  const pull = await previews.open("hooks", { branch: "change", title: "Fix\u202E the\nlogin" });
  const [first] = await previews.phases("hooks", { 1: "Ready" });
  expect(first).toMatchObject({ headSHA: pull.headSha, application: previewAt("hooks", 1).name });
  expect(first).toMatchObject({
    title: "Fix the login",
    author: "octocat",
    pullRequestURL: `${paas.github.url}/acme/hooks/pull/1`,
  });
  expect(Date.parse(first?.openedAt ?? "")).toBeLessThanOrEqual(Date.parse(first?.updatedAt ?? ""));
  expect(first?.url).toMatch(/^https:\/\/pr-1-hooks-[0-9a-f]{6}\.preview\.example\.com$/);
  const before = await paas.environment.client.get(Application, previewAt("hooks", 1));
  expect(first?.url).toContain(before.spec.domains[0]);

  const { after } = await paas.github.push({ repository: pull.repository, branch: "change" });
  await previews.until("hooks", ({ status }) => {
    const [preview] = status?.previews ?? [];
    return preview?.headSHA === after && preview.phase === "Ready";
  });
  const sync = await paas.environment.client.get(RemoteSync, previewAt("hooks", 1));
  const app = await paas.environment.client.get(Application, previewAt("hooks", 1));
  expect(sync.status?.headSHA).toBe(after);
  expect([app.metadata.uid, app.spec.image]).toEqual([before.metadata.uid, sync.status?.latestImage]);
  expect(app.spec.image).not.toBe(before.spec.image);

  await paas.github.closePullRequest(pull);
  await previews.phases("hooks", {});
  await untilNoObjects(paas, "hooks", 1);
  await paas.github.reopenPullRequest(pull);
  await previews.phases("hooks", { 1: "Ready" });
  await paas.github.mergePullRequest(pull);
  await previews.phases("hooks", {});
  await untilNoObjects(paas, "hooks", 1);
});

test("changes of children and replayed events cause neither requests to GitHub nor writes", async () => {
  await previews.open("children");
  await previews.create("children");
  await previews.phases("children", { 1: "Ready" });
  await paas.untilQuiet();
  const asked = paas.github.requests().length;
  for (let i = 0; i < 10; i++) {
    await paas.touch(Application, previewAt("children", 1));
    await paas.touch(RemoteSync, previewAt("children", 1));
  }
  await paas.untilQuiet();
  const written = await paas.writes();
  const changes = await paas.changes();
  for (let i = 0; i < sized(6, 100); i++) {
    await paas.replay(changes);
    if (i % 3 === 2) await paas.untilQuiet();
  }
  await paas.untilQuiet();
  expect([paas.github.requests().length, await paas.writes()]).toEqual([asked, written]);
});

test("restores a deleted object of a preview without a request to GitHub", async () => {
  await previews.until("children", has("Ready", "True"));
  await paas.untilQuiet();
  const lists = () => previews.requests("children").filter(({ path }) => /\/pulls\?/.test(path)).length;
  const asked = lists();
  const at = previewAt("children", 1);
  const before = await paas.environment.client.get(RemoteSync, at);
  const app = await paas.environment.client.get(Application, at);
  const requests = paas.github.requests().length;
  // With its dependents. Otherwise their deletion would be polled with a timer.
  await paas.environment.client.delete(RemoteSync, at, { propagation: "Foreground" });
  const isNew = (one: Stored, { metadata }: Stored) =>
    one.metadata.uid !== metadata.uid && has("Ready", "True")(one);
  await paas.environment.until(RemoteSync, at, (sync) => isNew(sync, before));
  await paas.untilQuiet();
  await previews.phases("children", { 1: "Ready" });
  const after = paas.github.requests().length;
  await paas.environment.client.delete(Application, at, {});
  await paas.environment.until(Application, at, (one) => isNew(one, app));
  await paas.untilQuiet();
  await previews.phases("children", { 1: "Ready" });
  expect(lists()).toBe(asked);
  // A new RemoteSync resolves its commit once; an Application sends no request.
  expect(after - requests).toBeLessThanOrEqual(2);
  expect(paas.github.requests().length).toBe(after);

  // Both at once.
  const [lastSync, lastApp] = [
    await paas.environment.client.get(RemoteSync, at),
    await paas.environment.client.get(Application, at),
  ];
  const options = { propagation: "Foreground" } as const;
  await Promise.all([
    paas.environment.client.delete(RemoteSync, at, options),
    paas.environment.client.delete(Application, at, options),
  ]);
  await paas.environment.until(RemoteSync, at, (sync) => isNew(sync, lastSync));
  await paas.environment.until(Application, at, (one) => isNew(one, lastApp));
  await paas.untilQuiet();
  await previews.phases("children", { 1: "Ready" });
});

test("applies a changed template to previews, removes fields that it no longer has, and keeps those of others", async () => {
  await previews.open("template");
  await previews.create("template", {
    applicationTemplate: {
      metadata: { labels: { team: "web", tier: "front" }, annotations: { note: "a", gone: "b" } },
      spec: {
        command: ["serve"],
        args: ["--debug"],
        attributes: { color: "red", size: "small" },
        env: [
          { name: "MODE", value: "preview" },
          { name: "GONE", value: "1" },
        ],
      },
    },
  });
  const at = previewAt("template", 1);
  await previews.phases("template", { 1: "Ready" });
  const made = await paas.environment.client.get(Application, at);
  expect(made.spec).toMatchObject({ command: ["serve"], args: ["--debug"] });
  await paas.patch(Application, at, {
    metadata: { labels: { mine: "yes" }, annotations: { "example.com/mine": "yes" } },
    spec: { attributes: { own: "kept" }, replicas: 2 },
  });
  await paas.patch(AppPipeline, "template", {
    spec: {
      applicationTemplate: {
        metadata: { labels: { tier: null }, annotations: { gone: null } },
        spec: {
          command: null,
          args: ["--quiet"],
          attributes: { size: null },
          env: [{ name: "MODE", value: "test" }],
        },
      },
    },
  });
  const app = await paas.environment.until(Application, at, ({ spec }) => spec.args?.[0] === "--quiet");
  expect(app.spec.command).toBeUndefined();
  expect(app.spec.attributes).toEqual({ color: "red", own: "kept" });
  expect(app.spec.env).toEqual([{ name: "MODE", value: "test" }]);
  expect([app.spec.image, app.spec.replicas]).toEqual([made.spec.image, 2]);
  expect(app.metadata.labels).toMatchObject({ team: "web", mine: "yes" });
  expect(app.metadata.labels).not.toHaveProperty("tier");
  expect(app.metadata.annotations).toMatchObject({ note: "a", "example.com/mine": "yes" });
  expect(app.metadata.annotations).not.toHaveProperty("gone");
});

test("previews get folder, build, builder, and revision of their pipeline", async () => {
  await previews.open("builds");
  const base = { github: { owner: "acme", repo: "builds", secretName: "acme-web" }, subPath: "services/web" };
  const build = { env: [{ name: "BP_NODE_VERSION", value: "24" }] };
  const builder = { kind: "ClusterBuilder" as const, name: "default" };
  await previews.create("builds", { base, build, builder, revision: "Head" });
  const at = previewAt("builds", 1);
  const made = await paas.environment.until(RemoteSync, at, () => true);
  expect(made.spec).toMatchObject({ build, builder, revision: "Head", base: { subPath: "services/web" } });
  await paas.patch(AppPipeline, "builds", {
    spec: { revision: "Merge", base: { subPath: null }, build: null },
  });
  const { spec } = await paas.environment.until(RemoteSync, at, (sync) => sync.spec.revision === "Merge");
  expect([spec.base.subPath, spec.build]).toEqual([undefined, undefined]);
});

test("an existing Application of the same name fails only that preview", async () => {
  await paas.application(previewAt("foreign", 1).name, { domains: ["mine.example.com"] });
  await previews.open("foreign");
  await previews.open("foreign");
  await previews.create("foreign");
  const [failed, other] = await previews.phases("foreign", { 1: "Failed", 2: "Ready" });
  expect(failed?.message).toContain(previewAt("foreign", 1).name);
  expect(other?.message).toBeUndefined();
  await previews.until("foreign", has("Ready", "False", "NameTaken"));
  const { remoteSyncs } = await previews.numbers("foreign");
  expect(remoteSyncs).toEqual([2]);
  const foreign = await paas.environment.client.get(Application, previewAt("foreign", 1));
  expect(foreign.spec.domains).toEqual(["mine.example.com"]);
  const pipeline = { namespace: "default", name: "foreign" };
  const delay = await changeBeforeTimer(paas, "modoki-apppipeline", pipeline, () =>
    paas.environment.client.delete(Application, previewAt("foreign", 1), {}),
  );
  expect(delay).toBeLessThanOrEqual(5000);
  await previews.phases("foreign", { 1: "Ready", 2: "Ready" });
});

test("kubectl shows readiness, repository, and the number of open pull requests", async () => {
  await previews.open("columns", {});
  await previews.open("columns", {});
  await previews.create("columns");
  const ready = await previews.until("columns", (pipeline) => Object.keys(phasesOf(pipeline)).length === 2);
  expect(ready.status?.open).toBe(2);
  const [header = "", ...rows] = (await kubectlTable(paas.environment.client, AppPipeline, "default")).split(
    "\n",
  );
  expect(header.split(/\s+/)).toEqual(["NAME", "READY", "REPO", "OPEN", "AGE"]);
  const row = rows.map((text) => text.split(/\s+/)).find(([name]) => name === "columns");
  expect(row?.slice(0, 4)).toEqual(["columns", "True", "columns", "2"]);
});
