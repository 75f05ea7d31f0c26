/** Pull requests of the simulated GitHub, and their webhooks. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { appJwt } from "../../deploy/simulators/github/appjwt.ts";
import { type SimulatedGitHub, startGitHub } from "../../deploy/simulators/github/github.ts";
import type { Pull } from "../../deploy/simulators/github/pulls.ts";
import { startTarget, type Target } from "./target.ts";

const repository = "acme/web";
let github: SimulatedGitHub;
let target: Target;
let token: string;

beforeAll(async () => {
  target = await startTarget();
  github = await startGitHub({ repositories: [repository, "acme/many"], targets: [target.url] });
  token = await newToken();
});
afterAll(async () => {
  await github?.stop();
  await target?.close();
});

async function newToken(): Promise<string> {
  const [app] = github.apps as [SimulatedGitHub["apps"][0]];
  const path = `/app/installations/${app.installations[0]?.id}/access_tokens`;
  const answer = await ask(path, `Bearer ${appJwt(app)}`, { method: "POST" });
  return ((await answer.json()) as { token: string }).token;
}

const ask = (path: string, authorization = `Bearer ${token}`, init: RequestInit = {}): Promise<Response> =>
  fetch(`${github.url}/api/v3${path}`, { ...init, headers: { authorization, ...init.headers } });

/** Reads the pull request like a client, which makes GitHub compute its mergeability. */
const look = async (number: number): Promise<Pull> =>
  (await (await ask(`/repos/${repository}/pulls/${number}`)).json()) as Pull;

const merging = async (number: number) => {
  const { mergeable, mergeable_state, merge_commit_sha } = await look(number);
  return { mergeable, mergeable_state, merge_commit_sha };
};

/** Resolves to the webhooks of a pull request once there are that many. */
const untilDelivered = (number: number, count: number) =>
  vi.waitFor(
    () => {
      const payloads = target.arrived
        .filter(({ headers }) => headers["x-github-event"] === "pull_request")
        .map(({ body }) => JSON.parse(body))
        .filter((payload) => payload.number === number && payload.repository.full_name === repository);
      expect(payloads).toHaveLength(count);
      return payloads;
    },
    { timeout: 20_000, interval: 5 },
  );

const notYet = { mergeable: null, mergeable_state: "unknown" };
const sha = expect.stringMatching(/^[0-9a-f]{40}$/);

describe("mergeability of a pull request", () => {
  test("is computed on the first read, and again for another head or base", async () => {
    const { number } = await github.openPullRequest({ repository, branch: "moving" });
    await github.api("GET", `/repos/${repository}/pulls/${number}`);
    expect(await merging(number)).toEqual({ ...notYet, merge_commit_sha: null });
    const first = await merging(number);
    expect(first).toEqual({ mergeable: true, mergeable_state: "clean", merge_commit_sha: sha });
    expect(await merging(number)).toEqual(first);

    await github.push({ repository, branch: "moving" });
    expect(await merging(number)).toEqual({ ...notYet, merge_commit_sha: first.merge_commit_sha });
    const second = await merging(number);
    expect(second).toEqual({ ...first, merge_commit_sha: sha });

    await github.push({ repository, branch: "main" });
    expect(await merging(number)).toEqual({ ...notYet, merge_commit_sha: second.merge_commit_sha });
    const third = await merging(number);
    expect(third.mergeable).toBe(true);
    const shas = [first, second, third].map(({ merge_commit_sha }) => merge_commit_sha);
    expect(new Set(shas).size).toBe(3);
  });

  test("can be set by a test", async () => {
    const { number } = await github.openPullRequest({ repository, branch: "decided" });
    github.mergeability(repository, number, "conflict");
    const conflict = { mergeable: false, mergeable_state: "dirty", merge_commit_sha: null };
    expect(await merging(number)).toEqual(conflict);
    await github.push({ repository, branch: "decided" });
    expect(await merging(number)).toEqual({ ...notYet, merge_commit_sha: null });
    expect(await merging(number)).toEqual(conflict);
    github.mergeability(repository, number, "clean");
    const clean = await merging(number);
    expect(clean).toEqual({ mergeable: true, mergeable_state: "clean", merge_commit_sha: sha });
    github.mergeability(repository, number, "pending");
    for (let count = 0; count < 3; count++) expect(await merging(number)).toEqual({ ...clean, ...notYet });
  });

  test("is omitted in lists", async () => {
    const { number } = await github.openPullRequest({ repository });
    github.mergeability(repository, number, "clean");
    const { merge_commit_sha } = await look(number);
    const list = (await (await ask(`/repos/${repository}/pulls?per_page=100`)).json()) as Pull[];
    const item = list.find((one) => one.number === number);
    expect(item).toMatchObject({ merge_commit_sha, draft: false, head: { ref: expect.any(String) } });
    for (const field of ["mergeable", "mergeable_state", "merged", "commits"])
      expect(item).not.toHaveProperty(field);
  });

  test("is ignored after the merge, which moves the base", async () => {
    const { number } = await github.openPullRequest({ repository });
    const other = await github.openPullRequest({ repository });
    github.mergeability(repository, other.number, "clean");
    const before = await merging(other.number);
    await github.mergePullRequest({ repository, number });
    expect(await look(number)).toMatchObject({ merged: true, state: "closed", merge_commit_sha: sha });
    expect(await merging(other.number)).toEqual({ ...before, ...notYet });
    const [, closed] = await untilDelivered(number, 2);
    expect(closed).toMatchObject({ action: "closed", pull_request: { merged: true } });
  });
});

describe("an action on a pull request", () => {
  test("sends a webhook with the current pull request", async () => {
    const opened = await github.openPullRequest({ repository, branch: "told", draft: true });
    const pull = { repository, number: opened.number };
    await untilDelivered(pull.number, 1);
    await github.markReadyForReview(pull);
    await untilDelivered(pull.number, 2);
    await github.convertToDraft(pull);
    await untilDelivered(pull.number, 3);
    await github.addLabel({ ...pull, label: "preview: yes" });
    await untilDelivered(pull.number, 4);
    await github.removeLabel({ ...pull, label: "preview: yes" });
    await untilDelivered(pull.number, 5);
    await github.changeBase({ ...pull, base: "release" });
    await untilDelivered(pull.number, 6);
    const { before, after } = await github.push({ repository, branch: "told" });
    await untilDelivered(pull.number, 7);
    await github.closePullRequest(pull);
    await untilDelivered(pull.number, 8);
    await github.reopenPullRequest(pull);
    const payloads = await untilDelivered(pull.number, 9);
    expect(payloads.map(({ action }) => action)).toEqual([
      ...["opened", "ready_for_review", "converted_to_draft", "labeled", "unlabeled"],
      ...["edited", "synchronize", "closed", "reopened"],
    ]);
    for (const payload of payloads) {
      expect(payload).toMatchObject({
        number: pull.number,
        pull_request: { number: pull.number, mergeable: null, merge_commit_sha: null },
        repository: { full_name: repository, default_branch: "main" },
        installation: { id: github.apps[0]?.installations[0]?.id },
        sender: { login: "octocat" },
      });
    }
    const of = (field: string) => payloads.map(({ pull_request }) => pull_request[field]);
    expect(of("draft")).toEqual([true, false, ...Array(7).fill(true)]);
    expect(of("state")).toEqual([...Array(7).fill("open"), "closed", "open"]);
    expect(of("labels").map((labels) => labels.length)).toEqual([0, 0, 0, 1, 0, 0, 0, 0, 0]);
    const [, , , labeled, unlabeled, edited, synchronized] = payloads;
    expect([labeled.label.name, unlabeled.label.name]).toEqual(["preview: yes", "preview: yes"]);
    expect(edited).toMatchObject({
      pull_request: { base: { ref: "release" } },
      changes: { base: { ref: { from: "main" }, sha: { from: sha } } },
    });
    expect(synchronized).toMatchObject({ before, after, pull_request: { head: { sha: after } } });
  });

  test("updates updated_at", async () => {
    const { number } = await github.openPullRequest({ repository, branch: "changed" });
    const { updated_at } = await look(number);
    await github.push({ repository, branch: "changed" });
    expect(Date.parse((await look(number)).updated_at)).toBeGreaterThan(Date.parse(updated_at));
  });
});

describe("a pull request from a fork", () => {
  const fork = "stranger/web";

  test("has an outsider as its author, and follows the fork", async () => {
    const branch = "feature/one";
    const [{ number, headSha }, other] = await Promise.all([
      github.openPullRequest({ repository, fork, branch }),
      github.openPullRequest({ repository, fork: "other/web", branch }),
    ]);
    const from = {
      head: { ref: branch, label: `stranger:${branch}`, repo: { full_name: fork, name: "web" } },
    };
    expect(await look(number)).toMatchObject({
      ...{ user: { login: "stranger" }, author_association: "NONE" },
      ...{ head: { ...from.head, sha: headSha, user: { login: "stranger" } } },
      base: { ref: "main", repo: { full_name: repository, owner: { login: "acme" } } },
    });
    expect(JSON.stringify((await look(number)).head)).not.toContain("octocat");
    expect((await look(other.number)).head).toMatchObject({ ref: branch, repo: { full_name: "other/web" } });

    const { before, after } = await github.push({ repository: fork, branch });
    expect(before).toBe(headSha);
    expect((await look(number)).head.sha).toBe(after);
    expect((await look(other.number)).head.sha).toBe(other.headSha);
    const [opened, synchronized] = await untilDelivered(number, 2);
    const about = {
      pull_request: from,
      repository: { full_name: repository },
      sender: { login: "stranger" },
    };
    expect(opened).toMatchObject({ action: "opened", ...about });
    expect(synchronized).toMatchObject({ action: "synchronize", before, after, ...about });
    await untilDelivered(other.number, 1);
    const pushes = target.arrived.filter(({ headers }) => headers["x-github-event"] === "push");
    expect(pushes.map(({ body }) => JSON.parse(body).after)).not.toContain(after);
  });

  test("coexists with another one of the same branch name", async () => {
    const branch = "same";
    const own = await github.openPullRequest({ repository, branch });
    const theirs = await github.openPullRequest({ repository, branch, fork });
    const { after } = await github.push({ repository, branch });
    expect((await look(own.number)).head).toMatchObject({ sha: after, repo: { full_name: repository } });
    expect((await look(theirs.number)).head).toMatchObject({
      sha: theirs.headSha,
      repo: { full_name: fork },
    });
  });

  test("has no head repository after the fork was deleted", async () => {
    const { number, headSha } = await github.openPullRequest({ repository, fork: "gone/web" });
    github.deleteFork("gone/web");
    expect((await look(number)).head).toMatchObject({ repo: null, sha: headSha });
    const others = await github.openPullRequest({ repository, fork });
    expect((await look(others.number)).head.repo).toMatchObject({ full_name: fork });
  });
});

describe("a response", () => {
  test("is 304 until it changes", async () => {
    const { number } = await github.openPullRequest({ repository, branch: "again" });
    github.mergeability(repository, number, "clean");
    const paths = ["", "/pulls?state=open&per_page=3", `/pulls/${number}`, "/branches/again"];
    const etags: Record<string, string> = {};
    const again = (path: string) =>
      ask(`/repos/${repository}${path}`, undefined, {
        headers: { "if-none-match": etags[path] ?? '"none"' },
      });
    for (const path of paths) {
      const answer = await again(path);
      expect(answer.status, path).toBe(200);
      etags[path] = answer.headers.get("etag") ?? "";
    }
    for (const path of paths) {
      const answer = await again(path);
      expect([answer.status, answer.headers.get("etag"), await answer.text()], path).toEqual([
        304,
        etags[path],
        "",
      ]);
      expect(github.requests().at(-1)).toMatchObject({ path: `/repos/${repository}${path}`, status: 304 });
    }
    await github.push({ repository, branch: "again" });
    const statuses = await Promise.all(paths.slice(1).map(async (path) => (await again(path)).status));
    expect(statuses).toEqual([200, 200, 200]);
    expect((await ask("/repos/acme/none", undefined, { headers: { "if-none-match": "*" } })).status).toBe(
      404,
    );
  });

  test("with a list has the requested pages and order", async () => {
    const many = Array.from({ length: 75 }, () => github.openPullRequest({ repository: "acme/many" }));
    await Promise.all(many);
    const numbers = async (query: string) => {
      const answer = await ask(`/repos/acme/many/pulls?state=open&${query}`);
      const list = (await answer.json()) as Pull[];
      const next = /<([^>]+)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
      return [list.map(({ number }) => number), next && new URL(next).searchParams.get("page")];
    };
    const from = (first: number, length: number) => Array.from({ length }, (_, index) => first + index);
    const oldest = "sort=created&direction=asc&per_page=30";
    expect(await numbers(`${oldest}&page=1`)).toEqual([from(1, 30), "2"]);
    expect(await numbers(`${oldest}&page=3`)).toEqual([from(61, 15), undefined]);
    await github.closePullRequest({ repository: "acme/many", number: 1 });
    expect(await numbers(`${oldest}&page=3`)).toEqual([from(62, 14), undefined]);
  });
});
