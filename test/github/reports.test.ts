/** Statuses, comments, and deployments in the simulated GitHub, and their permissions. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { appJwt } from "../../deploy/simulators/github/appjwt.ts";
import type { ShownDeployment, ShownDeploymentStatus } from "../../deploy/simulators/github/deployments.ts";
import { type SimulatedGitHub, startGitHub } from "../../deploy/simulators/github/github.ts";
import type { ShownStatus } from "../../deploy/simulators/github/statuses.ts";

const repository = "acme/web";
let github: SimulatedGitHub;
let token: string;
let pull: { number: number; headSha: string };

beforeAll(async () => {
  github = await startGitHub({ repositories: [repository, "acme/api"] });
  token = await newToken({});
  pull = await github.openPullRequest({ repository });
});
afterAll(() => github?.stop());

interface Got {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function ask(
  method: string,
  path: string,
  body?: object,
  authorization = `Bearer ${token}`,
): Promise<Got> {
  const answer = await fetch(`${github.url}/api/v3${path}`, {
    method,
    headers: { authorization },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

async function newToken(scope: object): Promise<string> {
  const [app] = github.apps as [SimulatedGitHub["apps"][0]];
  const path = `/app/installations/${app.installations[0]?.id}/access_tokens`;
  const { status, body } = await ask("POST", path, scope, `Bearer ${appJwt(app)}`);
  expect(status).toBe(201);
  return body.token as string;
}

const create = (sha: string, body: object) => ask("POST", `/repos/${repository}/statuses/${sha}`, body);

describe("statuses of commits", () => {
  test("are listed per commit, and the newest of each context counts", async () => {
    const { headSha: sha } = await github.openPullRequest({ repository });
    const combined = `/repos/${repository}/commits/${sha}/status`;
    expect(await github.api("GET", combined)).toMatchObject({ state: "pending", statuses: [] });
    for (const [context, state] of [
      ["a", "failure"],
      ["b", "success"],
      ["a", "pending"],
    ] as const)
      expect((await create(sha, { context, state })).status).toBe(201);
    const list = await github.api<ShownStatus[]>("GET", `/repos/${repository}/commits/${sha}/statuses`);
    expect(list.map(({ context, state }) => [context, state])).toEqual([
      ["a", "pending"],
      ["b", "success"],
      ["a", "failure"],
    ]);
    expect(list[0]?.creator.login).toBe("denrei[bot]");
    expect(await github.api("GET", combined)).toMatchObject({ state: "pending" });
    await create(sha, { context: "a", state: "success" });
    expect(await github.api("GET", combined)).toMatchObject({ state: "success", statuses: { length: 2 } });
    await create(sha, { state: "error" });
    expect(await github.api("GET", combined)).toMatchObject({ state: "failure", statuses: { length: 3 } });
    expect((await ask("GET", `/repos/${repository}/commits/${pull.headSha}/statuses`)).body).toEqual([]);
  });

  test("require an existing commit, also of a fork or a test merge", async () => {
    const fork = await github.openPullRequest({ repository, fork: "stranger/web" });
    github.mergeability(repository, fork.number, "clean");
    const merge = (await ask("GET", `/repos/${repository}/pulls/${fork.number}`)).body
      .merge_commit_sha as string;
    for (const sha of [fork.headSha, merge])
      expect((await create(sha, { state: "success" })).status).toBe(201);
    expect(await create("0".repeat(40), { state: "success" })).toMatchObject({
      status: 422,
      body: { message: `No commit found for SHA: ${"0".repeat(40)}` },
    });
  });

  test.each([
    ["another state", { state: "ok" }],
    ["too long a description", { state: "success", description: "a".repeat(141) }],
    ["a target that is not a web address", { state: "success", target_url: "ftp://a" }],
  ])("have not %s", async (_, body) => {
    expect((await create(pull.headSha, body)).status).toBe(422);
  });
});

test("updates comments in place", async () => {
  const path = `/repos/${repository}/issues/${pull.number}/comments`;
  const { body } = await ask("POST", path, { body: "one" });
  await ask("POST", path, { body: "two" });
  expect(
    (await ask("PATCH", `/repos/${repository}/issues/comments/${body.id}`, { body: "three" })).status,
  ).toBe(200);
  expect(await github.api("GET", path)).toMatchObject([
    { id: body.id, body: "three", user: { login: "denrei[bot]" } },
    { body: "two" },
  ]);
  expect((await ask("PATCH", `/repos/${repository}/issues/comments/999`, { body: "x" })).status).toBe(404);
});

describe("an App with the permission", () => {
  const comments = (number: number) => `/repos/${repository}/issues/${number}/comments`;
  const refusedBy = async (method: string, path: string, body: object) => {
    const { status, body: answer } = await ask(method, path, body);
    return [status, answer.message];
  };

  test("cannot comment on a locked conversation, but a member can", async () => {
    const locked = { repository, number: (await github.openPullRequest({ repository })).number };
    const { body } = await ask("POST", comments(locked.number), { body: "one" });
    await github.lockConversation(locked);
    const words = (verb: string) => `Unable to ${verb} comment because issue is locked.`;
    expect(await refusedBy("POST", comments(locked.number), { body: "two" })).toEqual([403, words("create")]);
    const edited = `/repos/${repository}/issues/comments/${body.id}`;
    expect(await refusedBy("PATCH", edited, { body: "two" })).toEqual([403, words("update")]);
    await github.api("POST", comments(locked.number), { body: "two" });
    expect((await ask("POST", comments(pull.number), { body: "elsewhere" })).status).toBe(201);
    await github.unlockConversation(locked);
    expect((await ask("PATCH", edited, { body: "three" })).status).toBe(200);
  });

  test("can read but not write an archived repository", async () => {
    const free = github.restrict(repository, "archived");
    const message = "Repository was archived so is read-only.";
    for (const [path, body] of [
      [`/repos/${repository}/statuses/${pull.headSha}`, { state: "success" }],
      [`/repos/${repository}/deployments`, { ref: "main" }],
      [comments(pull.number), { body: "b" }],
    ] as const)
      expect(await refusedBy("POST", path, body)).toEqual([403, message]);
    expect((await ask("GET", comments(pull.number))).status).toBe(200);
    free();
    expect((await create(pull.headSha, { state: "success" })).status).toBe(201);
  });

  test.each([
    ["issues disabled", 410, "Issues are disabled for this repo"],
    ["blocked", 403, "User is blocked"],
  ] as const)("does not comment where it has %s", async (what, status, message) => {
    const free = github.restrict(repository, what);
    expect(await refusedBy("POST", comments(pull.number), { body: "b" })).toEqual([status, message]);
    expect((await create(pull.headSha, { state: "success" })).status).toBe(201);
    free();
  });

  test("cannot write a comment of more than 65,536 characters", async () => {
    expect((await ask("POST", comments(pull.number), { body: "a".repeat(65_536) })).status).toBe(201);
    const { status, body } = await ask("POST", comments(pull.number), { body: "a".repeat(65_537) });
    expect({ status, body }).toMatchObject({
      status: 422,
      body: { errors: [{ message: "body is too long (maximum is 65536 characters)" }] },
    });
  });

  test("gets its own login from GraphQL", async () => {
    const asked = await fetch(`${github.url}/api/graphql`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ query: "query { viewer { login } }" }),
    });
    expect(await asked.json()).toEqual({ data: { viewer: { login: "denrei[bot]" } } });
  });
});

describe("deployments", () => {
  const path = `/repos/${repository}/deployments`;

  test("have a branch or a commit, and statuses", async () => {
    const environment = "preview/7";
    const byBranch = await ask("POST", path, { ref: "main", environment, transient_environment: true });
    expect(byBranch).toMatchObject({
      status: 201,
      body: { ref: "main", sha: expect.stringMatching(/^[0-9a-f]{40}$/) },
    });
    const byCommit = await ask("POST", path, { ref: pull.headSha, environment, description: "d" });
    await ask("POST", path, { ref: "main" });
    const list = await github.api<ShownDeployment[]>("GET", `${path}?environment=${environment}`);
    expect(list).toMatchObject([
      { id: byCommit.body.id, sha: pull.headSha, transient_environment: false, description: "d" },
      { id: byBranch.body.id, transient_environment: true, production_environment: false },
    ]);
    expect((await ask("GET", `${path}?sha=${pull.headSha}`)).body).toHaveLength(1);
    const all = await github.api<ShownDeployment[]>("GET", path);
    expect(all[0]).toMatchObject({ environment: "production", production_environment: true });

    const statuses = `${path}/${byCommit.body.id}/statuses`;
    for (const state of ["in_progress", "success", "inactive"])
      expect((await ask("POST", statuses, { state, environment_url: "https://a" })).status).toBe(201);
    const shown = await github.api<ShownDeploymentStatus[]>("GET", statuses);
    expect(shown.map(({ state }) => state)).toEqual(["inactive", "success", "in_progress"]);
    expect(shown[0]).toMatchObject({ environment_url: "https://a", creator: { login: "denrei[bot]" } });
    expect(await github.api("GET", `${path}/${byBranch.body.id}/statuses`)).toEqual([]);
  });

  test("deactivate earlier ones of the environment on success, except transient ones or on request", async () => {
    const deploy = async (environment: string, more: object = {}) =>
      (await ask("POST", path, { ref: "main", environment, ...more })).body.id as number;
    const succeed = (id: number, more: object = {}) =>
      ask("POST", `${path}/${id}/statuses`, { state: "success", ...more });
    const states = async (id: number) =>
      (await github.api<ShownDeploymentStatus[]>("GET", `${path}/${id}/statuses`)).map(({ state }) => state);
    const [stays, ends, other] = [
      await deploy("shared", { transient_environment: true }),
      await deploy("shared"),
      await deploy("another"),
    ];
    for (const id of [stays, ends, other]) await succeed(id);
    const next = await deploy("shared");
    await succeed(next, { auto_inactive: false });
    expect(await states(ends)).toEqual(["success"]);
    await succeed(next);
    expect(await states(ends)).toEqual(["inactive", "success"]);
    expect(await states(stays)).toEqual(["success"]);
    expect(await states(other)).toEqual(["success"]);
  });

  test("require an existing ref and a known state", async () => {
    expect(await ask("POST", path, { ref: "none" })).toMatchObject({
      status: 422,
      body: { message: "No ref found for: none" },
    });
    const { body } = await ask("POST", path, { ref: "main" });
    const statuses = `${path}/${body.id}/statuses`;
    expect((await ask("POST", statuses, { state: "gone" })).status).toBe(422);
    expect((await ask("POST", statuses, { state: "error", description: "a".repeat(141) })).status).toBe(422);
    expect((await ask("POST", `${path}/999/statuses`, { state: "error" })).status).toBe(404);
    expect((await ask("GET", `/repos/acme/api/deployments/${body.id}/statuses`)).status).toBe(404);
  });
});

describe("a token", () => {
  const calls = (sha: string): [string, string, object?][] => [
    ["POST", `statuses/${sha}`, { state: "success" }],
    ["GET", `commits/${sha}/statuses`],
    ["POST", "deployments", { ref: "main" }],
    ["GET", "deployments"],
    ["POST", `issues/${pull.number}/comments`, { body: "b" }],
    ["GET", "pulls"],
    ["GET", "branches/main"],
  ];
  const statuses = async (name: string, authorization: string) => {
    const found: number[] = [];
    for (const [method, path, body] of calls(pull.headSha))
      found.push((await ask(method, `/repos/acme/${name}/${path}`, body, authorization)).status);
    return found;
  };

  test("is limited to its permissions", async () => {
    const permissions = { statuses: "write", deployments: "read", metadata: "read" };
    const narrow = await newToken({ permissions });
    expect(await statuses("web", `Bearer ${narrow}`)).toEqual([201, 200, 403, 200, 403, 403, 403]);
  });

  test("gets 404 for other repositories", async () => {
    const narrow = await newToken({ repositories: ["web"] });
    expect(await statuses("web", `Bearer ${narrow}`)).toEqual([201, 200, 201, 200, 201, 200, 200]);
    expect(await statuses("api", `Bearer ${narrow}`)).toEqual(Array(7).fill(404));
    expect(await statuses("none", `Bearer ${narrow}`)).toEqual(Array(7).fill(404));
  });

  test("that is invalid gets 401", async () => {
    expect(await statuses("web", "Bearer ghs_made_up")).toEqual(Array(7).fill(401));
  });
});
