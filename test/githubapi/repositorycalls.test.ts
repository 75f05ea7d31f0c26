/** Requests of the repository client, and its handling of responses. */
import { expect, test } from "vitest";
import {
  GitHubError,
  GitHubRateLimitedError,
  GitHubRefusedError,
  GitHubUnreachableError,
} from "../../bus/github/errors.ts";
import { etagCache } from "../../bus/github/etags.ts";
import { rateLimits } from "../../bus/github/limits.ts";
import { type GitHubRepositoryOptions, githubRepository } from "../../bus/github/repository.ts";
import { type Reply, type Seen, serving } from "./testserver.ts";

const options = { owner: "acme", name: "web", token: "ghs_one" };

async function repositoryAt(reply: (seen: Seen) => Reply, more: Partial<GitHubRepositoryOptions> = {}) {
  const server = await serving(reply);
  const limits = rateLimits();
  const open = (others: Partial<GitHubRepositoryOptions> = {}) =>
    githubRepository({ url: server.url, allowed: [server.url], limits, ...options, ...more, ...others });
  return { ...server, open, repository: open() };
}

const failed = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => expect.fail("expected an error, found none"),
    (error: Error) => error,
  );

const pull = (number: number) => ({
  ...{ number, state: "open", title: "t", labels: [] },
  ...{ created_at: "2026-11-19T10:00:00Z", updated_at: "2026-11-20T10:00:00Z" },
  ...{ merge_commit_sha: null, author_association: "NONE", user: null, html_url: "https://h" },
  head: { ref: "a", sha: "b", repo: null },
  base: { ref: "main", sha: "c", repo: { id: 9, full_name: "acme/web" } },
});

test("repository - rejects names that change the path, and tokens that no header can carry", () => {
  const open = (wrong: object) => () => githubRepository({ limits: rateLimits(), ...options, ...wrong });
  for (const name of ["", ".", "..", "a/b", "a?b", "a b", "%2e%2e"]) {
    expect(open({ name }), name).toThrow(GitHubError);
    expect(open({ name }), name).toThrow(/expected the owner and the name .* found "acme\//);
  }
  for (const owner of ["", ".", "..", "a/b", "a.b"]) expect(open({ owner }), owner).toThrow(/Correct them/);
  for (const token of ["", "ghs_one\n", "ghs one", "ü"]) {
    expect(open({ token }), token).toThrow(GitHubRefusedError);
    expect(open({ token }), token).toThrow(
      /^(no token|invalid characters in the token) for acme\/web\. Check its Secret\.$/,
    );
  }
  expect(open({ owner: "a-b_c", name: ".github" })).not.toThrow();
});

test("repository - sends branch names unchanged", async () => {
  const { repository, seen } = await repositoryAt(() => ({ body: { name: "x", commit: { sha: "y" } } }));
  expect(await repository.branch("feature/ü #1?{a}%2F")).toEqual({ name: "x", sha: "y" });
  expect(decodeURIComponent(seen[0]?.path ?? "")).toBe("/api/v3/repos/acme/web/branches/feature/ü #1?{a}%2F");
  expect(seen[0]?.headers.authorization).toBe("Bearer ghs_one");
});

test("repository - reads a pull request whose fork and author were deleted", async () => {
  const { repository } = await repositoryAt(() => ({ body: { ...pull(7), mergeable: false } }));
  expect(await repository.pullRequest(7)).toEqual({
    ...{ number: 7, state: "open", title: "t", draft: false, labels: [], mergeable: false },
    ...{ mergeCommitSha: null, authorAssociation: "NONE", author: undefined, url: "https://h" },
    createdAt: new Date("2026-11-19T10:00:00Z"),
    updatedAt: new Date("2026-11-20T10:00:00Z"),
    head: { ref: "a", sha: "b", repository: undefined },
    base: { ref: "main", sha: "c", repository: "acme/web", repositoryId: 9 },
  });
});

const pageOf = ({ path }: Seen): number => Number(/[?&]page=(\d+)/.exec(path)?.[1]);
const next = (page: number) => ({ link: `<https://elsewhere.example/?page=${page}>; rel="next"` });

test("repository - requests further pages from the same server, whatever the links", async () => {
  const { repository, seen } = await repositoryAt((request) =>
    pageOf(request) === 1 ? { body: [pull(1)], headers: next(2) } : { body: [pull(2)] },
  );
  expect((await repository.openPullRequests()).map(({ number }) => number)).toEqual([1, 2]);
  expect(seen.map(pageOf)).toEqual([1, 2, 1, 2]);
});

test.each<[string, Reply, new (...parts: never[]) => GitHubError]>([
  ["returns a server error", { status: 502 }, GitHubUnreachableError],
  ["is rate limited", { status: 429 }, GitHubRateLimitedError],
  ["is not a list", { body: {} }, GitHubError],
  ["has an invalid item", { body: [pull(2), {}] }, GitHubError],
  ["has an invalid link", { body: [pull(2)], headers: { link: '<https://h>; rel="next"' } }, GitHubError],
])("repository - there is no list when its second page %s", async (_, second, type) => {
  const { repository, seen } = await repositoryAt((request) =>
    pageOf(request) === 1 ? { body: [pull(1)], headers: next(2) } : second,
  );
  expect(await failed(repository.openPullRequests())).toBeInstanceOf(type);
  expect(seen).toHaveLength(2);
});

test("repository - fails when the list changes during every attempt", async () => {
  let number = 0;
  const { repository, seen } = await repositoryAt((request) =>
    pageOf(request) === 1 ? { body: [pull(++number)], headers: next(2) } : { body: [] },
  );
  const error = await failed(repository.openPullRequests());
  expect(error).toBeInstanceOf(GitHubUnreachableError);
  expect(error.message).toMatch(/^the open pull requests of acme\/web changed during each read/);
  expect(seen).toHaveLength(10);
});

test("repository - requests comments page by page, on demand", async () => {
  const comment = (id: number) => ({ id, body: null, user: null });
  const { repository, seen } = await repositoryAt((request) => {
    const page = pageOf(request);
    return { body: [comment(page)], headers: page < 3 ? next(page + 1) : {} };
  });
  const ids: number[] = [];
  for await (const { id, body, author } of repository.comments(7)) {
    expect([body, author]).toEqual(["", undefined]);
    ids.push(id);
    if (id === 2) break;
  }
  expect(ids).toEqual([1, 2]);
  expect(seen.map(({ path }) => path)).toEqual([
    "/api/v3/repos/acme/web/issues/7/comments?per_page=100&page=1",
    "/api/v3/repos/acme/web/issues/7/comments?per_page=100&page=2",
  ]);
});

test("repository - writes within GitHub's limits", async () => {
  const { repository, seen } = await repositoryAt(() => ({ status: 201, body: { id: 4_000_000_000 } }));
  const longest = "🚀".repeat(140);
  await repository.createStatus("abc", { state: "error", context: "c", description: longest });
  await repository.createStatus("abc", { state: "error", context: "c", description: `${longest}!` });
  expect(await repository.createComment(7, "b")).toEqual({ id: 4_000_000_000 });
  await repository.updateComment(8, "b");
  await repository.createDeployment({ ref: "abc", environment: "e" });
  await repository.setDeploymentStatus(9, { state: "inactive", description: "d" });
  const body = { state: "error", context: "c" };
  expect(
    seen.map(({ method, path, ...one }) => [
      method,
      path.replace("/api/v3/repos/acme/web", ""),
      JSON.parse(one.body),
    ]),
  ).toEqual([
    ["POST", "/statuses/abc", { ...body, description: longest }],
    ["POST", "/statuses/abc", { ...body, description: `${"🚀".repeat(139)}…` }],
    ["POST", "/issues/7/comments", { body: "b" }],
    ["PATCH", "/issues/comments/8", { body: "b" }],
    [
      "POST",
      "/deployments",
      {
        ...{ ref: "abc", environment: "e", transient_environment: true, production_environment: false },
        ...{ auto_merge: false, required_contexts: [] },
      },
    ],
    ["POST", "/deployments/9/statuses", { state: "inactive", description: "d", auto_inactive: false }],
  ]);
});

test("repository - queries the token's login once by GraphQL", async () => {
  const { repository, seen } = await repositoryAt(() => ({
    body: { data: { viewer: { login: "denrei[bot]" } } },
  }));
  expect([await repository.login(), await repository.login()]).toEqual(["denrei[bot]", "denrei[bot]"]);
  expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual(["POST /api/graphql"]);
  const { repository: other } = await repositoryAt(() => ({ body: { errors: [{ message: "No." }] } }));
  await expect(other.login()).rejects.toThrow(GitHubError);
});

test("repository - returns an unchanged response with its pages from the cache, to the same token only", async () => {
  const etags = etagCache({ limitBytes: 1_000_000 });
  const reply = (request: Seen): Reply => {
    const page = pageOf(request);
    const etag = `W/"${request.headers.authorization} ${page}"`;
    return request.headers["if-none-match"] === etag
      ? { status: 304, headers: { etag } }
      : { body: [pull(page)], headers: { etag, ...(page === 1 && next(2)) } };
  };
  const { open, seen } = await repositoryAt(reply, { etags });
  const first = await open().openPullRequests();
  expect(await open().openPullRequests()).toEqual(first);
  const asked = seen.map(({ headers }) => headers["if-none-match"]);
  const both = ['W/"Bearer ghs_one 1"', 'W/"Bearer ghs_one 2"'];
  expect(asked).toEqual([undefined, undefined, ...both, ...both, ...both]);
  await open({ token: "ghs_two" }).openPullRequests();
  expect(seen.slice(8).map(({ headers }) => headers["if-none-match"])).toEqual([
    ...[undefined, undefined],
    ...['W/"Bearer ghs_two 1"', 'W/"Bearer ghs_two 2"'],
  ]);
});

test("repository - sends every write", async () => {
  const etags = etagCache({ limitBytes: 1_000_000 });
  const { repository, seen } = await repositoryAt(() => ({ body: { id: 7 }, headers: { etag: '"a"' } }), {
    etags,
  });
  for (let count = 0; count < 2; count++) await repository.updateComment(7, "b");
  expect(seen.map(({ headers }) => headers["if-none-match"])).toEqual([undefined, undefined]);
});

test("repository - does not answer from the cache when the request is rejected now", async () => {
  const etags = etagCache({ limitBytes: 1_000_000 });
  const replies: Reply[] = [
    { body: pull(7), headers: { etag: '"a"' } },
    { status: 404 },
    { status: 304 },
    { body: { ...pull(7), title: "new" }, headers: { etag: '"b"' } },
  ];
  const { repository, seen } = await repositoryAt(() => replies.shift() ?? { status: 304 }, { etags });
  await repository.pullRequest(7);
  expect(await failed(repository.pullRequest(7))).toMatchObject({ status: 404 });
  expect((await repository.pullRequest(7)).title).toBe("t");
  expect((await repository.pullRequest(7)).title).toBe("new");
  expect((await repository.pullRequest(7)).title).toBe("new");
  expect(seen.map(({ headers }) => headers["if-none-match"])).toEqual([
    undefined,
    '"a"',
    '"a"',
    '"a"',
    '"b"',
  ]);
});

test("repository - sends no conditional request without a cache, and treats 304 as an error", async () => {
  const replies: Reply[] = [{ body: pull(7), headers: { etag: '"a"' } }, { status: 304 }];
  const { repository, seen } = await repositoryAt(() => replies.shift() ?? {});
  await repository.pullRequest(7);
  expect(await failed(repository.pullRequest(7))).toMatchObject({ name: "GitHubRefusedError", status: 304 });
  expect(seen[1]?.headers["if-none-match"]).toBeUndefined();
});

test("repository - ends each call when its caller aborts", async () => {
  const { repository } = await repositoryAt(() => () => undefined);
  const reason = new Error("enough");
  const calls: ((signal: AbortSignal) => Promise<unknown>)[] = [
    (signal) => repository.repository(signal),
    (signal) => repository.branch("b", signal),
    (signal) => repository.pullRequest(7, signal),
    (signal) => repository.openPullRequests(signal),
    (signal) => repository.createStatus("a", { state: "error", context: "c" }, signal),
    (signal) => repository.comments(7, signal).next(),
    (signal) => repository.createComment(7, "b", signal),
    (signal) => repository.updateComment(7, "b", signal),
    (signal) => repository.createDeployment({ ref: "a", environment: "e" }, signal),
    (signal) => repository.deployments({ sha: "a", environment: "e" }, signal),
    (signal) => repository.login(signal),
    (signal) => repository.setDeploymentStatus(7, { state: "queued" }, signal),
  ];
  for (const one of calls) {
    const giving = new AbortController();
    setTimeout(() => giving.abort(reason), 20);
    expect(await failed(one(giving.signal))).toBe(reason);
  }
});

test("repository - removes credentials from written text, also when it is truncated", async () => {
  const { repository, seen } = await repositoryAt(() => ({ status: 201, body: { id: 1 } }));
  await repository.createComment(1, "it printed ghs_abc123");
  const description = `${"x".repeat(120)} https://robot:${"p".repeat(40)}@h`;
  await repository.createStatus("c1", { state: "failure", context: "c", description });
  expect(seen.map(({ body }) => JSON.parse(body))).toEqual([
    { body: "it printed ***" },
    { state: "failure", context: "c", description: `${"x".repeat(120)} https://***@h` },
  ]);
});
