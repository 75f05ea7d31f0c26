/** Renamed, transferred, and replaced repositories, as API clients see them. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { githubApp } from "../../bus/github/app.ts";
import { GitHubRefusedError } from "../../bus/github/errors.ts";
import { parsePrivateKey } from "../../bus/github/key.ts";
import { rateLimits } from "../../bus/github/limits.ts";
import { pullRequestAnswer } from "../../bus/github/pullrequest.ts";
import { type GitHubRepositoryClient, githubRepository } from "../../bus/github/repository.ts";
import { type SimulatedGitHub, startGitHub } from "../../deploy/simulators/github/github.ts";
import { repositoryOfPull } from "../../functions/paas/github.ts";
import { startTarget, type Target } from "./target.ts";

const limits = rateLimits();
let github: SimulatedGitHub;
let target: Target;
let token: string;
beforeAll(async () => {
  target = await startTarget();
  const names = [
    "acme/web",
    "acme/moved",
    "acme/taken",
    "acme/hidden",
    "acme/seen",
    "acme/plain",
    "other/any",
  ];
  github = await startGitHub({
    repositories: names,
    targets: [target.url],
    apps: [{ events: ["repository"] }],
  });
  token = await mint();
});
afterAll(async () => {
  await github?.stop();
  await target?.close();
});

/** A token of the installation on `acme`. */
async function mint(repositories?: readonly string[]): Promise<string> {
  const [app] = github.apps;
  if (app === undefined) throw new Error("expected an App");
  const key = parsePrivateKey(app.privateKey);
  const asApp = githubApp({ url: github.url, allowed: [github.url], appId: app.id, key, limits });
  return (await asApp.mintToken(app.installations[0]?.id ?? 0, { repositories })).token;
}

const client = (owner: string, name: string, as = token): GitHubRepositoryClient =>
  githubRepository({ url: github.url, allowed: [github.url], owner, name, token: as, limits });

const raw = (method: string, path: string, as = token): Promise<Response> =>
  fetch(`${github.url}/api/v3${path}`, {
    method,
    redirect: "manual",
    headers: { authorization: `Bearer ${as}` },
    ...(method !== "GET" && { body: "{}" }),
  });

/** Payloads of `repository` webhooks with that action. */
const payloadsOf = (action: string) =>
  target.arrived.map(({ body }) => JSON.parse(body)).filter((payload) => payload.action === action);

test("redirects reads and writes from a former name to the repository id", async () => {
  const { id } = await client("acme", "web").repository();
  const { number, headSha } = await github.openPullRequest({ repository: "acme/web", branch: "one" });
  const { after } = await github.push({ repository: "acme/web", branch: "one" });
  await github.renameRepository("acme/web", "site");

  const url = `${github.url}/api/v3/repositories/${id}/pulls/${number}?x=1`;
  const read = await raw("GET", `/repos/acme/web/pulls/${number}?x=1`);
  expect([read.status, read.headers.get("location"), await read.json()]).toMatchObject([
    301,
    url,
    { message: "Moved Permanently", url },
  ]);
  expect((await raw("POST", `/repos/acme/web/statuses/${headSha}`)).status).toBe(307);

  for (const name of ["web", "WEB", "site"]) {
    const found = client("acme", name);
    expect(await found.repository()).toMatchObject({ id, fullName: "acme/site" });
    expect(await found.branch("one")).toEqual({ name: "one", sha: after });
    const pull = await found.pullRequest(number);
    expect(pull.head.sha).toBe(after);
    expect(pull.base).toMatchObject({ repository: "acme/site", repositoryId: id });
    expect((await found.openPullRequests()).map((one) => one.number)).toEqual([number]);
    await found.createStatus(headSha, { state: "success", context: name });
    const comment = await found.createComment(number, name);
    await found.updateComment(comment.id, `${name} again`);
  }
  const statuses = await github.api<{ context: string }[]>(
    "GET",
    `/repos/acme/site/commits/${headSha}/statuses`,
  );
  expect(statuses.map(({ context }) => context)).toEqual(["site", "WEB", "web"]);
  const comments = await github.api<{ body: string }[]>("GET", `/repos/acme/site/issues/${number}/comments`);
  expect(comments.map(({ body }) => body)).toEqual(["web again", "WEB again", "site again"]);
});

test("finds the repository of a pull request on a server that omits its id", async () => {
  const plain = client("acme", "plain");
  const { number } = await github.openPullRequest({ repository: "acme/plain", branch: "one" });
  const answer = (await (await raw("GET", `/repos/acme/plain/pulls/${number}`)).json()) as {
    base: { repo: { id?: number } };
  };
  delete answer.base.repo.id;
  const pull = pullRequestAnswer.parse(answer);
  expect(await repositoryOfPull(pull, plain, new AbortController().signal)).toMatchObject({
    id: (await plain.repository()).id,
    fullName: "acme/plain",
  });
});

test("sends webhooks with the new and the former name", async () => {
  await github.renameRepository("acme/moved", "gone");
  await expect
    .poll(() => payloadsOf("renamed").map(({ repository }) => repository.full_name))
    .toContain("acme/gone");
  const renamed = payloadsOf("renamed").find(({ repository }) => repository.full_name === "acme/gone");
  expect(renamed.changes).toEqual({ repository: { name: { from: "moved" } } });
  await github.transferRepository("acme/gone", "other");
  await expect.poll(() => payloadsOf("transferred")).toHaveLength(1);
  expect(payloadsOf("transferred")[0]).toMatchObject({
    repository: { id: renamed.repository.id, full_name: "other/gone" },
    changes: { owner: { from: { organization: { login: "acme" } } } },
  });
});

test("a new repository takes over a former name", async () => {
  const before = await client("acme", "taken").repository();
  await github.renameRepository("acme/taken", "kept");
  await github.createRepository("acme/taken");
  const now = await client("acme", "taken").repository();
  expect(now.fullName).toBe("acme/taken");
  expect(now.id).not.toBe(before.id);
  expect(await client("acme", "kept").repository()).toMatchObject({ id: before.id });
});

test("hides the redirect from a token without access to the repository", async () => {
  const narrow = await mint(["seen"]);
  await github.renameRepository("acme/hidden", "elsewhere");
  expect((await raw("GET", "/repos/acme/hidden", narrow)).status).toBe(404);
  await expect(client("acme", "hidden", narrow).repository()).rejects.toThrow(GitHubRefusedError);
  expect((await raw("GET", "/repos/acme/hidden")).status).toBe(301);
});
