/** Which commit a RemoteSync builds: by branch, pull request, or commit, according to GitHub. */
import { createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Secret } from "../../bus/kube/kind.ts";
import { Application, RemoteSync } from "../../functions/paas/kinds.ts";
import { examplePayload } from "../github/payloads.ts";
import { type Paas, secrets, startPaas } from "../harness/paas.ts";
import { type RemoteSyncs, remoteSyncs } from "../harness/remotesyncs.ts";
import { conditionOf, has } from "../harness/testobjects.ts";

const repository = "acme/web";
const namespace = "default";

let paas: Paas;
let syncs: RemoteSyncs;
beforeAll(async () => {
  paas = await startPaas({ gateways: 1, repositories: ["acme/web", "acme/old"] });
  syncs = remoteSyncs(paas);
});
afterAll(() => paas?.stop());

/** Creates the Application and the RemoteSync without waiting. */
async function create(
  name: string,
  github: Partial<RemoteSync["spec"]["base"]["github"]>,
  spec: Partial<RemoteSync["spec"]> = {},
): Promise<void> {
  await paas.application(name);
  await paas.remoteSync(name, github, spec);
}

const imageOf = async (name: string) => (await syncs.application(name)).spec.image;
const mergeOf = async (number: number) =>
  (await paas.github.api<{ merge_commit_sha: string }>("GET", `/repos/${repository}/pulls/${number}`))
    .merge_commit_sha;

// First, so that no other request is scheduled or rate-limited.
test("a refresh sends one request, and changes of its objects send none", async () => {
  await syncs.start("quiet");
  await paas.untilQuiet();
  syncs.asked();
  const refresh = { metadata: { annotations: { "modoki.tsuzu.dev/refreshed-at": "2026-01-01T00:00:00Z" } } };
  await paas.patch(RemoteSync, "quiet", refresh);
  await paas.untilQuiet();
  expect(syncs.asked()).toEqual(["GET /repos/acme/web", "GET /repos/acme/web/branches/quiet"]);
  const changes = (await paas.changes()).filter(({ data }) => Buffer.from(data).includes("quiet"));
  expect(changes.length).toBeGreaterThan(4);
  for (let count = 0; count < 10; count++) await paas.replay(changes);
  await paas.untilQuiet();
  expect(syncs.asked()).toEqual([]);
});

test("builds a commit without a request to GitHub", async () => {
  const sha = await syncs.branch("pinned");
  syncs.asked();
  await create("pinned", { sha });
  const { status } = await syncs.ready("pinned", sha);
  expect(status?.ref).toBe("commit");
  await syncs.push("pinned");
  await paas.untilQuiet();
  expect(syncs.asked()).toEqual([]);
  expect((await syncs.get("pinned")).status?.revision).toBe(sha);
});

test("builds a merge once GitHub has created it, and again when the branch or its base has moved", async () => {
  await syncs.branch("base");
  const { number } = await paas.github.openPullRequest({ repository, branch: "merge", base: "base" });
  paas.github.mergeability(repository, number, "pending");
  await create("merge", { pullRequest: number });
  const pending = await syncs.until("merge", "MergeabilityUnknown", "SourceResolved", "Unknown");
  expect(pending.status?.revision).toBeUndefined();
  expect(await syncs.image("merge")).toBeUndefined();
  syncs.asked();
  await paas.environment.until(
    RemoteSync,
    { name: "merge" },
    ({ status }) => status?.retryAt !== pending.status?.retryAt,
  );
  expect(syncs.asked().every((one) => one === `GET /repos/acme/web/pulls/${number}`)).toBe(true);

  paas.github.mergeability(repository, number, "clean");
  const first = await syncs.ready("merge");
  expect(first.status?.revision).toBe(await mergeOf(number));
  expect(first.status?.retryAt).toBeUndefined();

  const headSHA = await syncs.push("merge");
  const moved = await paas.environment.until(
    RemoteSync,
    { name: "merge" },
    (sync) => has("Ready", "True")(sync) && sync.status?.headSHA === headSHA,
  );
  expect(moved.status?.revision).toBe(await mergeOf(number));
  expect(moved.status?.revision).not.toBe(first.status?.revision);

  await syncs.push("base");
  const rebased = await paas.environment.until(
    RemoteSync,
    { name: "merge" },
    (sync) => has("Ready", "True")(sync) && sync.status?.revision !== moved.status?.revision,
  );
  expect(rebased.status?.revision).toBe(await mergeOf(number));
  expect(rebased.status?.headSHA).toBe(headSHA);
});

test("follows the repository's default branch when none is given, also when that changes", async () => {
  await create("default-branch", {});
  const { status } = await syncs.ready("default-branch");
  expect(status?.ref).toBe("main");
  const pushed = await syncs.push("main");
  await syncs.ready("default-branch", pushed);
  await syncs.branch("trunk");
  await paas.github.api("PATCH", `/repos/${repository}`, { default_branch: "trunk" });
  onTestFinished(async () => {
    await paas.github.api("PATCH", `/repos/${repository}`, { default_branch: "main" });
  });
  const next = await syncs.push("trunk");
  expect((await syncs.ready("default-branch", next)).status?.ref).toBe("trunk");
});

// Each has its own branch and counts nothing.
describe.concurrent("branches", () => {
  test("accepts a branch with slashes, and a repository in different case", async () => {
    const branch = "feature/login/2-factor";
    await syncs.branch(branch);
    await create("slashes", { owner: "Acme", repo: "WEB", branch });
    await syncs.ready("slashes");
    await syncs.ready("slashes", await syncs.push(branch));
  });

  test("keeps the running version while its branch is missing or deleted", async ({ expect }) => {
    const { status } = await syncs.start("deleted");
    await paas.github.api("DELETE", `/repos/${repository}/git/refs/heads/deleted`);
    const { id } = await paas.github.api<{ id: number }>("GET", `/repos/${repository}`);
    const push = examplePayload("push", { repository: { id, full_name: repository } });
    await paas.github.send("push", { ...push, ref: "refs/heads/deleted", deleted: true });
    const missing = await syncs.until("deleted", "NotFound");
    expect(missing.status?.revision).toBe(status?.revision);
    expect(conditionOf(missing, "Deployed")?.status).toBe("True");
    expect(await imageOf("deleted")).toBe(status?.latestImage);
    await syncs.branch("deleted");
    await syncs.ready("deleted", await syncs.push("deleted"));

    await create("never", { branch: "never" });
    const never = await syncs.until("never", "NotFound");
    expect(never.status?.revision).toBeUndefined();
    expect(never.status?.message).toContain("/branches/never");
    await syncs.branch("never");
    await syncs.ready("never", await syncs.push("never"));
  });

  test("uses a GitHub Enterprise below a path for both API and clone URLs", async ({
    expect,
    onTestFinished,
  }) => {
    const prefix = "/git/hub";
    const { hostname, port } = new URL(paas.github.url);
    const proxy = createServer((incoming, answer) => {
      if (!incoming.url?.startsWith(`${prefix}/`)) return void answer.writeHead(404).end();
      const { method, headers } = incoming;
      const path = incoming.url.slice(prefix.length);
      incoming.pipe(
        send({ hostname, port, path, method, headers }, (found) => {
          answer.writeHead(found.statusCode ?? 500, found.headers);
          found.pipe(answer);
        }),
      );
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      proxy.closeAllConnections();
      proxy.close();
    });
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${prefix}`;
    await paas.site({ "config.yaml": `github: { allowed: [${url}] }` });
    const { data, type } = await paas.environment.client.get(Secret, { namespace, name: secrets.git });
    await paas.create(Secret, {
      metadata: { namespace, name: "enterprise", annotations: { "kpack.io/git": `${url}/` } },
      data,
      type,
    });
    await syncs.branch("enterprise");
    await syncs.start("enterprise", { branch: "enterprise", secretName: "enterprise" });
    expect((await syncs.image("enterprise"))?.spec.source.git.url).toBe(`${url}/acme/web`);
  });
});

describe.concurrent("pull requests", () => {
  test("builds the head of a pull request without a merge", async ({ expect }) => {
    const { number, headSha } = await paas.github.openPullRequest({ repository, branch: "head" });
    await create("head", { pullRequest: number }, { revision: "Head" });
    const { status } = await syncs.ready("head", headSha);
    expect(status).toMatchObject({ ref: `#${number}`, headSHA: headSha, baseBranch: "main" });
    await syncs.ready("head", await syncs.push("head"));
  });

  test("reports conflicts and a closed pull request, and keeps the running version", async ({ expect }) => {
    const { number } = await paas.github.openPullRequest({ repository, branch: "conflicts" });
    await create("conflicts", { pullRequest: number });
    const { status } = await syncs.ready("conflicts");
    paas.github.mergeability(repository, number, "conflict");
    await syncs.push("conflicts");
    const refused = await syncs.until("conflicts", "MergeConflict");
    expect(refused.status?.message).toContain("cannot be merged into main");
    expect(refused.status?.revision).toBe(status?.revision);
    expect(await imageOf("conflicts")).toBe(status?.latestImage);
    // While GitHub is unavailable, the state is unknown.
    const fault = paas.github.fault({ path: new RegExp(`/pulls/${number}$`) }, { status: 502, body: "{}" });
    await paas.patch(RemoteSync, "conflicts", {
      metadata: { annotations: { "modoki.tsuzu.dev/refreshed-at": "1" } },
    });
    const away = await paas.environment.until(
      RemoteSync,
      { name: "conflicts" },
      (sync) => sync.status?.refreshedAt === "1",
    );
    expect(conditionOf(away)).toMatchObject({ status: "False", reason: "MergeConflict" });
    fault.remove();

    await paas.github.closePullRequest({ repository, number });
    await syncs.until("conflicts", "PullRequestClosed");
    expect(await imageOf("conflicts")).toBe(status?.latestImage);
  });

  test("reports a missing Application while GitHub computes a merge, and polls for the merge anyway", async ({
    expect,
  }) => {
    const { number } = await paas.github.openPullRequest({ repository, branch: "both" });
    await create("both", { pullRequest: number });
    await syncs.ready("both");
    paas.github.mergeability(repository, number, "pending");
    await paas.environment.client.delete(Application, { namespace, name: "both" }, {});
    await syncs.push("both");
    const missing = await paas.environment.until(
      RemoteSync,
      { name: "both" },
      (sync) => has("Ready", "False", "ApplicationNotFound")(sync) && sync.status?.retryAt !== undefined,
    );
    expect(conditionOf(missing, "SourceResolved")).toMatchObject({ reason: "MergeabilityUnknown" });
    paas.github.mergeability(repository, number, "clean");
    await paas.environment.until(RemoteSync, { name: "both" }, has("SourceResolved", "True"));
    expect(await mergeOf(number)).toBe((await syncs.get("both")).status?.revision);
  });
});

test("follows a renamed repository by its webhooks, and reports the name to change", async () => {
  const { github } = paas;
  const [old, site] = [{ owner: "Acme", repo: "old" }, "acme/site"];
  const { number } = await github.openPullRequest({ repository: "acme/old", branch: "renamed-pull" });
  await create("renamed", { ...old, branch: "main" });
  await create("renamed-pull", { ...old, pullRequest: number }, { revision: "Head" });
  for (const name of ["renamed", "renamed-pull"]) await syncs.ready(name);

  await github.renameRepository("acme/old", "site");
  const note =
    "the repository acme/old was renamed to acme/site: set spec.base.github to owner acme and repo site";
  for (const name of ["renamed", "renamed-pull"]) {
    const sync = await syncs.until(name, "RepositoryRenamed", "SourceResolved", "True");
    expect(conditionOf(sync, "SourceResolved")?.message).toContain(note);
  }
  const pushed = await github.push({ repository: site, branch: "main" });
  await syncs.ready("renamed", pushed.after);
  const changed = await github.push({ repository: site, branch: "renamed-pull" });
  await syncs.ready("renamed-pull", changed.after);
  await expect.poll(() => syncs.notes("renamed", "RepositoryRenamed")).toEqual([note]);

  const github1 = { base: { github: { owner: "acme", repo: "site" } } };
  await paas.patch(RemoteSync, "renamed-pull", { spec: github1 });
  await syncs.until("renamed-pull", "Resolved", "SourceResolved", "True");

  // Another repository takes the name: it is not built.
  await github.createRepository("acme/old");
  await github.push({ repository: "acme/old", branch: "main" });
  await paas.patch(RemoteSync, "renamed", {
    metadata: { annotations: { "modoki.tsuzu.dev/refreshed-at": "1" } },
  });
  const replaced = await syncs.until("renamed", "RepositoryReplaced");
  expect(replaced.status?.message).toContain("last called acme/site");
  expect(replaced.status?.revision).toBe(pushed.after);
  expect(await imageOf("renamed")).toBe(replaced.status?.latestImage);
});

// Last, because a rate-limited worker sends no other requests meanwhile.
test.each<[string, number, Record<string, string>]>([
  ["an error of its own", 502, {}],
  ["that it was asked too often", 429, { "retry-after": "3" }],
])("stays ready when GitHub answers with %s, and finds the push later", async (_, status, headers) => {
  const name = `fault-${status}`;
  const before = await syncs.start(name);
  const path = new RegExp(`/branches/${name}$`);
  const fault = paas.github.fault({ path }, { status, headers, body: '{"message":"no"}' });
  const revision = await syncs.push(name);
  const waiting = await paas.environment.until(
    RemoteSync,
    { name },
    (sync) => sync.status?.retryAt !== undefined,
  );
  expect(waiting.status?.conditions).toEqual(before.status?.conditions);
  fault.remove();
  // Fires the timer: the next reconcile is the one to send the request.
  await paas.environment.client.mergePatch(
    RemoteSync,
    { namespace, name },
    { status: { retryAt: "2026-01-01T00:00:00Z" } },
    { fieldManager: "test", subresource: "status" },
  );
  const after = await paas.environment.until(
    RemoteSync,
    { name },
    (sync) => has("Ready", "True")(sync) && sync.status?.revision === revision,
  );
  expect(after.status?.retryAt).toBeUndefined();
});
