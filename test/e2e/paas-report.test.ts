/** Reports about previews to GitHub: commit statuses, deployments, and one comment. And the sample objects. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { type Kind, Secret } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { failStep } from "../../deploy/simulators/kpack/podannotations.ts";
import { Image } from "../../functions/paas/kinds/kpack.ts";
import { Application, AppPipeline, RemoteSync } from "../../functions/paas/kinds.ts";
import { githubReports } from "../harness/githubreports.ts";
import { createNamespace } from "../harness/namespaces.ts";
import { type Paas, polling, secrets, startPaas } from "../harness/paas.ts";
import { idle, type Previews, previewAt, previewsOn, untilNoObjects } from "../harness/previews.ts";
import { sized } from "../harness/size.ts";
import { conditionOf, has } from "../harness/testobjects.ts";

const sample = new URL("../../functions/paas/sample.yaml", import.meta.url);
const everything = { report: { deployment: true } };

let paas: Paas;
let previews: Previews;
beforeAll(async () => {
  const names = [
    "all",
    "failing",
    "closed",
    "refused",
    "limited",
    "away",
    "stranger",
    "web",
    "twins",
    "locked",
  ];
  paas = await startPaas({ gateways: 1, repositories: names.map((name) => `acme/${name}`) });
  previews = previewsOn(paas);
});
afterAll(() => paas?.stop());

const tipOf = async (name: string): Promise<string> =>
  (await paas.github.api<{ commit: { sha: string } }>("GET", `/repos/acme/${name}/branches/main`)).commit.sha;

test("reports a preview in a status, a deployment, and one comment, and updates each until its deletion", async () => {
  const reports = githubReports(paas, "all");
  // The preview cannot become ready before GitHub has the pending status.
  await paas.kpack.builder("all", "not-ready");
  await previews.create("all", { ...everything, builder: { kind: "ClusterBuilder", name: "all" } });
  const pull = await previews.open("all", { branch: "change" });
  await expect.poll(async () => (await reports.statuses(pull.headSha))[0]?.state, polling).toBe("pending");
  await paas.kpack.builder("all", "ready");
  const [ready] = await previews.phases("all", { 1: "Ready" });
  await expect.poll(async () => (await reports.statuses(pull.headSha))[0]?.state, polling).toBe("success");
  const [last, ...before] = await reports.statuses(pull.headSha);
  const { status } = await previews.until("all", () => true);
  const context = status?.reportContext;
  expect(context).toMatch(/^denrei\/default-[0-9a-f]{8}\/default\/all$/);
  expect(last).toMatchObject({ context, target_url: ready?.url });
  expect(new Set(before.map(({ state, context }) => `${context} ${state}`))).toEqual(
    new Set([`${context} pending`]),
  );
  await expect.poll(() => reports.deployments(1), polling).toEqual([[pull.headSha, "success"]]);
  await expect
    .poll(async () => (await reports.comments(1))[0]?.body, polling)
    .toContain(`| URL | ${ready?.url} |`);
  const [comment] = await reports.comments(1);

  const { after } = await paas.github.push({ repository: pull.repository, branch: "change" });
  await expect
    .poll(() => reports.deployments(1), polling)
    .toEqual([
      [after, "success"],
      [pull.headSha, "inactive"],
    ]);
  await expect.poll(async () => (await reports.statuses(after))[0]?.state, polling).toBe("success");
  await expect.poll(async () => (await reports.comments(1))[0]?.body, polling).toMatch(/State \| Ready/);
  expect((await reports.comments(1)).map(({ id }) => id)).toEqual([comment?.id]);
  await previews.until("all", has("Reported", "True"));

  await paas.untilQuiet();
  const asked = paas.github.requests().length;
  const { metadata } = await previews.until("all", () => true);
  const changes = await paas.changes();
  for (let i = 0; i < sized(6, 100); i++) {
    await paas.replay(changes);
    if (i % 3 === 2) await paas.untilQuiet();
  }
  await paas.untilQuiet();
  expect(paas.github.requests()).toHaveLength(asked);
  expect((await previews.until("all", () => true)).metadata.resourceVersion).toBe(metadata.resourceVersion);

  await paas.github.closePullRequest(pull);
  await expect
    .poll(async () => (await reports.comments(1))[0]?.body, polling)
    .toContain("was deleted: the pull request is closed");
  expect((await reports.deployments(1)).map(([, state]) => state)).toEqual(["inactive", "inactive"]);
  await paas.github.reopenPullRequest(pull);
  await expect.poll(async () => (await reports.comments(1))[0]?.body, polling).toMatch(/State \| Ready/);
  expect((await reports.comments(1)).map(({ id }) => id)).toEqual([comment?.id]);

  await paas.github.api("DELETE", `/repos/acme/all/issues/comments/${comment?.id}`);
  await paas.github.push({ repository: pull.repository, branch: "change" });
  await expect.poll(async () => (await reports.comments(1))[0]?.body, polling).toMatch(/State \| Ready/);
  expect(await reports.comments(1)).toHaveLength(1);
}, 240_000);

test("names a report that GitHub forbids, sends the others, and does not retry at once", async () => {
  const reports = githubReports(paas, "refused");
  const message = { message: "Resource not accessible by integration" };
  const fault = paas.github.fault(
    { method: "POST", path: /\/refused\/issues\/\d+\/comments/ },
    { status: 403, body: JSON.stringify(message) },
  );
  const pulls = [await previews.open("refused"), await previews.open("refused")];
  await previews.create("refused", { report: {} });
  await previews.phases("refused", { 1: "Ready", 2: "Ready" });
  for (const { headSha } of pulls)
    await expect.poll(async () => (await reports.statuses(headSha))[0]?.state, polling).toBe("success");
  const pipeline = await previews.until("refused", has("Reported", "False", "Forbidden"));
  expect(conditionOf(pipeline, "Reported")?.message).toContain("`pull_requests: write`");
  expect(conditionOf(pipeline)).toMatchObject({ status: "True" });
  await paas.untilQuiet();
  expect(fault.hits).toBe(pulls.length);

  fault.remove();
  await paas.patch(Secret, secrets.git, { metadata: { annotations: { rotated: "yes" } } });
  await expect.poll(async () => (await reports.comments(1))[0]?.body, polling).toMatch(/State \| Ready/);
  await previews.until("refused", has("Reported", "True"));
});

test("reports a locked conversation, comments once it is unlocked, and leaves a forged comment", async () => {
  const reports = githubReports(paas, "locked");
  const pull = await previews.open("locked");
  await paas.github.lockConversation(pull);
  await previews.create("locked", { report: {} });
  await previews.phases("locked", { 1: "Ready" });
  await expect.poll(async () => (await reports.statuses(pull.headSha))[0]?.state, polling).toBe("success");
  const pipeline = await previews.until("locked", has("Reported", "False", "ConversationLocked"));
  expect(conditionOf(pipeline, "Reported")?.message).toContain("unlock it, or turn comments off");
  expect(conditionOf(pipeline)).toMatchObject({ status: "True" });

  const comments = `/repos/${pull.repository}/issues/${pull.number}/comments`;
  const body = `<!-- ${pipeline.status?.reportContext}/pr-${pull.number} -->\nforged`;
  const forged = await paas.github.api<{ id: number }>("POST", comments, { body });
  await paas.github.unlockConversation(pull);
  await expect.poll(async () => (await reports.comments(1))[0]?.body, polling).toMatch(/State \| Ready/);
  await previews.until("locked", has("Reported", "True"));
  const all = await paas.github.api<{ id: number; body: string }[]>("GET", comments);
  expect(all).toHaveLength(2);
  expect(all.find(({ id }) => id === forged.id)?.body).toBe(body);
});

test("keeps the reports of pipelines of one name in two namespaces apart, and those of pull requests with one commit", async () => {
  const namespace = "twins";
  await createNamespace(paas.environment.client, namespace);
  await paas.accounts.optIn(namespace);
  await Promise.all([paas.tokenSecret(namespace), paas.registrySecret(namespace)]);
  const pull = await previews.open("twins", { branch: "change" });
  await paas.github.api("POST", "/repos/acme/twins/git/refs", {
    ref: "refs/heads/stable",
    sha: await tipOf("twins"),
  });
  const same = await previews.open("twins", { branch: "change", base: "stable" });
  expect(same.headSha).toBe(pull.headSha);
  const { spec } = await previews.create("twins", { ...idle, report: { deployment: true } });
  await paas.create(AppPipeline, { metadata: { namespace, name: "twins" }, spec });
  const at = { namespace, name: "twins" };
  const [one, other] = [githubReports(paas, "twins"), githubReports(paas, "twins", namespace)];
  const deployed = [[pull.headSha, "in_progress"]];
  for (const reports of [one, other])
    for (const { number } of [pull, same])
      await expect.poll(() => reports.deployments(number), polling).toEqual(deployed);
  for (const { number } of [pull, same])
    await expect.poll(async () => (await one.comments(number)).length, polling).toBe(2);
  const contexts = async () =>
    new Map([...(await one.statuses(pull.headSha))].reverse().map(({ context, state }) => [context, state]));
  await expect.poll(async () => (await contexts()).size, polling).toBe(6);

  await paas.patch(AppPipeline, at, { spec: { filter: { labels: ["none"] } } });
  for (const { number } of [pull, same]) {
    await expect.poll(() => other.deployments(number), polling).toEqual([[pull.headSha, "inactive"]]);
    expect(await one.deployments(number)).toEqual(deployed);
  }
  await expect
    .poll(async () => [...(await contexts()).values()].sort(), polling)
    .toEqual(["pending", "pending", "pending", "success", "success", "success"]);
  const { status } = await previews.until("twins", () => true);
  const pending = [...(await contexts())].filter(([, state]) => state === "pending");
  for (const [context] of pending) expect(context.startsWith(status?.reportContext ?? "none")).toBe(true);
});

test("waits for the end of a rate limit, and does not repeat earlier reports", async () => {
  const reports = githubReports(paas, "limited");
  const pull = await previews.open("limited");
  const fault = paas.github.fault(
    { method: "POST", path: /\/limited\/issues\/\d+\/comments/ },
    { status: 429, headers: { "retry-after": "2" } },
    1,
  );
  // Observed from the start: it lasts two seconds.
  const limited = previews.until("limited", has("Reported", "False", "RateLimited"));
  await Promise.all([limited, previews.create("limited", { ...idle, report: {} })]);
  await previews.until("limited", has("Reported", "True"));
  expect(fault.hits).toBe(1);
  const asked = previews.requests("limited").filter(({ path }) => path.includes("/comments"));
  const [refused, next] = asked.filter(({ method }) => method === "POST");
  expect((next?.at ?? 0) - (refused?.at ?? 0)).toBeGreaterThanOrEqual(1000);
  expect(await reports.comments(1)).toHaveLength(1);
  expect((await reports.statuses(pull.headSha)).map(({ description }) => description)).toEqual([
    "The preview is being built",
  ]);
});

test("a deleted pipeline waits a while for GitHub, but not for a deleted Secret", async () => {
  await previews.open("away");
  const secretNames = { away: secrets.git, "away-too": "own" };
  for (const [name, secretName] of Object.entries(secretNames))
    await previews.create(name, {
      ...idle,
      base: { github: { owner: "acme", repo: "away", secretName } },
      report: {},
    });
  const { data, type } = await paas.environment.client.get(Secret, {
    namespace: "default",
    name: secrets.git,
  });
  const annotations = { "kpack.io/git": paas.github.url };
  await paas.create(Secret, { metadata: { namespace: "default", name: "own", annotations }, type, data });
  for (const name of Object.keys(secretNames)) await previews.until(name, has("Reported", "True"));
  await paas.environment.client.delete(Secret, { namespace: "default", name: "own" }, {});
  const fault = paas.github.fault({ path: /\/repos\/acme\/away/ }, { status: 503 });
  for (const name of Object.keys(secretNames))
    await paas.environment.client.delete(AppPipeline, { namespace: "default", name }, {});
  await paas.environment.untilGone(AppPipeline, { name: "away-too" });
  await expect.poll(() => fault.hits, polling).toBeGreaterThan(0);
  await paas.untilQuiet();
  const waiting = await paas.environment.client.get(AppPipeline, { namespace: "default", name: "away" });
  expect(conditionOf(waiting, "Reported")).toMatchObject({
    status: "False",
    reason: "GitHubUnreachable",
  });
  fault.remove();
  await paas.environment.untilGone(AppPipeline, { name: "away" });
  await untilNoObjects(paas, "away", 1);
  await untilNoObjects(paas, "away-too", 1);
});

test("the sample objects apply unchanged and work", async () => {
  const namespace = "team-a";
  const at = { namespace, name: "web" };
  await createNamespace(paas.environment.client, namespace);
  await paas.accounts.optIn(namespace);
  await paas.tokenSecret(namespace);
  const kinds = [Secret, Application, RemoteSync, AppPipeline] as readonly Kind[];
  for (const document of parseAllDocuments(readFileSync(sample, "utf8"))) {
    const object = document.toJS();
    const kind = kinds.find((one) => one.kind === object.kind) as Kind;
    const { spec = {} } = await paas.environment.client.create(kind, object as KubeObject, {
      fieldManager: "kubectl",
    });
    // The API server drops unknown fields silently; it dropped none.
    expect(spec).toMatchObject(object.spec ?? {});
  }
  const sync = await paas.environment.until(RemoteSync, at, has("Ready", "True"));
  const main = await paas.github.api<{ commit: { sha: string } }>("GET", "/repos/acme/web/branches/main");
  expect(sync.status?.revision).toBe(main.commit.sha);
  const app = await paas.environment.until(Application, at, has("Ready", "True"));
  expect(app.spec.image).toBe(sync.status?.latestImage);
  await paas.environment.until(AppPipeline, at, has("Ready", "True"));
  const { number } = await paas.github.openPullRequest({ repository: "acme/web", branch: "sample" });
  const { status } = await paas.environment.until(AppPipeline, at, ({ status }) =>
    Boolean(status?.previews?.some((preview) => preview.number === number && preview.phase === "Ready")),
  );
  const { url = "" } = status?.previews?.find((preview) => preview.number === number) ?? {};
  expect(url).toMatch(new RegExp(`^https://pr-${number}-web-[0-9a-f]{6}\\.preview\\.example\\.com$`));
});

// Each has its own repository.
describe.concurrent("side by side", () => {
  test("reports a failed build with its reason, and starts over with the next commit", async ({ expect }) => {
    const reports = githubReports(paas, "failing");
    const pull = await previews.open("failing", { branch: "change" });
    await previews.create("failing", { report: {} });
    await previews.phases("failing", { 1: "Ready" });
    const image = { namespace: "default", name: `modoki-${previewAt("failing", 1).name}` };
    await paas.patch(Image, image, { metadata: { annotations: { [failStep]: "build" } } });
    const { after } = await paas.github.push({ repository: pull.repository, branch: "change" });
    await expect.poll(async () => (await reports.statuses(after))[0]?.state, polling).toBe("failure");
    const [failure] = await reports.statuses(after);
    expect(failure?.description).toContain("the step build");
    await expect
      .poll(async () => (await reports.comments(1))[0]?.body, polling)
      .toMatch(/State \| Failed[\s\S]*```[\s\S]*build/);
    await paas.patch(Image, image, { metadata: { annotations: { [failStep]: null } } });
    const next = await paas.github.push({ repository: pull.repository, branch: "change" });
    await expect.poll(async () => (await reports.statuses(next.after))[0]?.state, polling).toBe("success");
  });

  test("leaves no commit's status pending after another commit, or after the pull request is closed", async ({
    expect,
  }) => {
    const reports = githubReports(paas, "closed");
    const pull = await previews.open("closed", { branch: "change" });
    await previews.create("closed", { ...idle, report: {} });
    await expect.poll(async () => (await reports.statuses(pull.headSha))[0]?.state, polling).toBe("pending");
    const { after } = await paas.github.push({ repository: pull.repository, branch: "change" });
    await expect.poll(async () => (await reports.statuses(after))[0]?.state, polling).toBe("pending");
    expect((await reports.statuses(pull.headSha))[0]).toMatchObject({
      state: "success",
      description: expect.stringContaining("later commit"),
    });
    await paas.github.closePullRequest(pull);
    await expect.poll(async () => (await reports.statuses(after))[0]?.state, polling).toBe("success");
    expect((await reports.statuses(after))[0]?.target_url).toBeNull();
  });

  test("reports the approved commit of an outside contributor's pull request, and how to approve a later one", async ({
    expect,
  }) => {
    const reports = githubReports(paas, "stranger");
    const fork = "somebody/stranger";
    await previews.create("stranger", { ...idle, report: {} });
    const pull = await previews.open("stranger", { fork, branch: "change" });
    await expect
      .poll(async () => (await reports.comments(1))[0]?.body, polling)
      .toMatch(/NeedsApproval[\s\S]*`preview-approved`/);
    await paas.github.addLabel({ ...pull, label: "preview-approved" });
    await expect.poll(async () => (await reports.comments(1))[0]?.body, polling).toMatch(/Building/);
    const { after } = await paas.github.push({ repository: fork, branch: "change" });
    await expect
      .poll(async () => (await reports.comments(1))[0]?.body, polling)
      .toContain("later commits are not approved");
    expect((await reports.comments(1))[0]?.body).toContain(pull.headSha.slice(0, 12));
    expect(await reports.statuses(after)).toEqual([]);
  });
});
