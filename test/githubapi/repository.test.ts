/** The repository client against the simulated GitHub. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { githubApp } from "../../bus/github/app.ts";
import { GitHubRefusedError } from "../../bus/github/errors.ts";
import { etagCache } from "../../bus/github/etags.ts";
import { parsePrivateKey } from "../../bus/github/key.ts";
import { rateLimits } from "../../bus/github/limits.ts";
import { type GitHubRepositoryOptions, githubRepository } from "../../bus/github/repository.ts";
import { type SimulatedGitHub, startGitHub } from "../../deploy/simulators/github/github.ts";

let github: SimulatedGitHub;
let token: string;
const limits = rateLimits();

beforeAll(async () => {
  github = await startGitHub({ repositories: ["acme/web", "acme/api", "acme/many"] });
  token = await newToken();
});
afterAll(() => github?.stop());

async function newToken(scope = {}): Promise<string> {
  const [app] = github.apps;
  const key = parsePrivateKey(app?.privateKey ?? "");
  const client = githubApp({ url: github.url, allowed: [github.url], appId: app?.id ?? 0, key, limits });
  return (await client.mintToken(app?.installations[0]?.id ?? 0, scope)).token;
}

const repositoryAt = (name: string, options: Partial<GitHubRepositoryOptions> = {}) =>
  githubRepository({
    url: github.url,
    allowed: [github.url],
    owner: "acme",
    name,
    token,
    limits,
    ...options,
  });

/** Status and path of client requests from now on. */
function asked(): () => string[] {
  const before = github.requests().length;
  return () =>
    github
      .requests()
      .slice(before)
      .map(({ method, path, status }) => `${method} ${path} ${status}`);
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const failed = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => expect.fail("expected an error, found none"),
    (error: Error) => error,
  );

test("repository - reads the repository and its branches", async () => {
  const web = repositoryAt("web");
  expect(web.base).toBe(`${github.url}/api/v3`);
  expect(await web.repository()).toEqual({
    id: expect.any(Number),
    fullName: "acme/web",
    defaultBranch: "main",
    private: true,
  });
  const name = "feature/über #1?";
  await github.openPullRequest({ repository: "acme/web", branch: "feature/one" });
  const { after } = await github.push({ repository: "acme/web", branch: "feature/one" });
  expect(await web.branch("feature/one")).toEqual({ name: "feature/one", sha: after });
  const error = await failed(web.branch(name));
  expect(error).toBeInstanceOf(GitHubRefusedError);
  expect(error).toMatchObject({ status: 404 });
});

test("repository - reads a pull request", async () => {
  const opened = await github.openPullRequest({ repository: "acme/web", title: "One", branch: "one" });
  await github.addLabel({ repository: "acme/web", number: opened.number, label: "preview" });
  const web = repositoryAt("web");
  const { commit } = await github.api<{ commit: { sha: string } }>("GET", "/repos/acme/web/branches/main");
  expect(await web.pullRequest(opened.number)).toEqual({
    number: opened.number,
    state: "open",
    title: "One",
    draft: false,
    labels: ["preview"],
    createdAt: expect.any(Date),
    updatedAt: expect.any(Date),
    mergeable: null,
    mergeCommitSha: null,
    authorAssociation: "MEMBER",
    author: "octocat",
    head: { ref: "one", sha: opened.headSha, repository: "acme/web" },
    base: { ref: "main", sha: commit.sha, repository: "acme/web", repositoryId: expect.any(Number) },
    url: `${github.url}/acme/web/pull/${opened.number}`,
  });
  expect(await web.pullRequest(opened.number)).toMatchObject({
    mergeable: true,
    mergeCommitSha: expect.stringMatching(/^[0-9a-f]{40}$/),
  });
});

test("repository - lists all open pull requests across pages", async () => {
  const repository = "acme/many";
  const many = Array.from({ length: 102 }, () => github.openPullRequest({ repository }));
  const numbers = (await Promise.all(many)).map(({ number }) => number).sort((a, b) => a - b);
  await github.closePullRequest({ repository, number: 3 });
  const etags = etagCache({ limitBytes: 10_000_000 });
  const requests = asked();
  const pulls = await repositoryAt("many", { etags }).openPullRequests();
  expect(pulls.map(({ number }) => number)).toEqual(numbers.filter((number) => number !== 3));
  expect(pulls[0]?.mergeable).toBeUndefined();
  const query = "state=open&sort=created&direction=asc&per_page=100";
  expect(requests()).toEqual(
    [200, 200, 304, 304].map(
      (status, index) => `GET /repos/acme/many/pulls?${query}&page=${1 + (index % 2)} ${status}`,
    ),
  );
});

test("repository - creates statuses, comments, and deployments", async () => {
  const { number, headSha } = await github.openPullRequest({ repository: "acme/api" });
  const api = repositoryAt("api");
  await api.createStatus(headSha, { state: "pending", context: "denrei/web" });
  await api.createStatus(headSha, {
    state: "success",
    context: "denrei/web",
    description: "ü".repeat(200),
    targetUrl: "https://pr-1.example.com",
  });
  expect(await github.api("GET", `/repos/acme/api/commits/${headSha}/statuses`)).toMatchObject([
    {
      state: "success",
      context: "denrei/web",
      description: `${"ü".repeat(139)}…`,
      target_url: "https://pr-1.example.com",
      creator: { login: "denrei[bot]" },
    },
    { state: "pending", description: null, target_url: null },
  ]);

  const first = await api.createComment(number, "Building");
  await api.createComment(number, "Something else");
  expect(await api.updateComment(first.id, "Built")).toEqual(first);
  expect(await all(api.comments(number))).toEqual([
    { id: first.id, body: "Built", author: "denrei[bot]" },
    { id: expect.any(Number), body: "Something else", author: "denrei[bot]" },
  ]);

  const deployment = await api.createDeployment({ ref: headSha, environment: "preview/1", description: "d" });
  await api.setDeploymentStatus(deployment.id, {
    state: "success",
    environmentUrl: "https://pr-1.example.com",
    logUrl: "https://logs.example.com",
    description: "It runs",
  });
  await api.setDeploymentStatus(deployment.id, { state: "inactive" });
  const environment = "preview/1";
  expect(await api.deployments({ sha: headSha, environment })).toEqual([
    { id: deployment.id, author: "denrei[bot]" },
  ]);
  expect(await api.login()).toBe("denrei[bot]");
  expect(await api.deployments({ sha: "0".repeat(40), environment })).toEqual([]);
  expect(await github.api("GET", "/repos/acme/api/deployments?environment=preview/1")).toMatchObject([
    {
      ...{
        id: deployment.id,
        sha: headSha,
        ref: headSha,
        description: "d",
        creator: { login: "denrei[bot]" },
      },
      ...{ transient_environment: true, production_environment: false },
    },
  ]);
  const statuses = `/repos/acme/api/deployments/${deployment.id}/statuses`;
  expect(await github.api("GET", statuses)).toMatchObject([
    { state: "inactive", environment_url: "" },
    {
      state: "success",
      environment_url: "https://pr-1.example.com",
      log_url: "https://logs.example.com",
      description: "It runs",
    },
  ]);
});
