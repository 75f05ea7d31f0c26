/** Connecting a GitHub account, and listing what it can see. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { cookieHeader } from "../../deploy/cli/demo/visitor.ts";
import type { SimulatedGitHub } from "../../deploy/simulators/github/github.ts";
import { type DashboardEnvironment, people } from "../harness/dashboard.ts";
import { authorize, connect, requestCallback } from "../harness/githubconnection.ts";
import { ids, many, startGitHubDashboardEnvironment } from "../harness/githubdashboard.ts";
import type { Visitor } from "../harness/visitor.ts";

const { own, others, personal, unseen } = ids;

let environment: DashboardEnvironment;
let github: SimulatedGitHub;
let stop: (() => Promise<void>) | undefined;
let alice: Visitor;
beforeAll(async () => {
  ({ environment, github, stop } = await startGitHubDashboardEnvironment());
});
afterAll(() => stop?.());
beforeEach(async () => {
  alice = await environment.visitor(people.alice);
});

const read = async (session: Visitor, path: string) => {
  const answer = await session.fetch(path);
  return [answer.status, await answer.json()] as const;
};

describe("connecting", () => {
  test("happens in a browser at GitHub, where the user can cancel it", async () => {
    const page = await environment.loggedIn(people.alice);
    await page.goto(`${environment.url}/auth/github/login?to=/github/new`);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.waitForURL(`${environment.url}/github/new?github=refused`);
    await page.goto(`${environment.url}/auth/github/login?to=/github/new`);
    await page.getByRole("button", { name: "Authorize as octo" }).click();
    await page.waitForURL(`${environment.url}/github/new?github=connected`);
    const known = await page.evaluate(async () => (await fetch("/api/github")).text());
    expect(JSON.parse(known)).toEqual({ url: github.url, login: "octo" });
    // The token stays on the server.
    const cookies = await page.context().cookies();
    expect(JSON.stringify([cookies, known])).not.toMatch(/ghu_[A-Za-z0-9]{36}/);
  });

  test("uses state, PKCE, and a redirect URI of the dashboard", async () => {
    const { there } = await authorize(alice, "octo");
    expect(there.origin).toBe(github.url);
    expect(Object.fromEntries(there.searchParams)).toEqual({
      client_id: github.apps[0]?.clientId,
      redirect_uri: `${environment.url}/auth/github/callback`,
      response_type: "code",
      state: expect.stringMatching(/^.{40,}$/),
      code_challenge: expect.stringMatching(/^.{43}$/),
      code_challenge_method: "S256",
    });
  });

  test("can be finished once, and only by the browser that started it", async () => {
    const loggedIn = cookieHeader(alice.cookies);
    const { path, cookie } = await authorize(alice, "octo");
    const other = await authorize(alice, "octo");
    expect(await requestCallback(alice, path, loggedIn)).toBe("/?github=failed");
    expect(await requestCallback(alice, path, other.cookie)).toBe("/builds?github=failed");
    expect(await requestCallback(alice, path.replace(/state=[^&]+/, "state=x"), cookie)).toBe(
      "/builds?github=failed",
    );
    // A code of another connection has another verifier.
    const code = new URLSearchParams(other.path.split("?", 2)[1]).get("code") ?? "";
    expect(await requestCallback(alice, path.replace(/code=[^&]+/, `code=${code}`), cookie)).toBe(
      "/builds?github=failed",
    );
    expect((await read(alice, "/api/github"))[1]).toEqual({ url: github.url, login: null });
    expect(await requestCallback(alice, path, cookie)).toBe("/builds?github=connected");
    expect(await requestCallback(alice, path, cookie)).toBe("/builds?github=failed");
  });

  test("can be finished only in the session that started it", async () => {
    const { path, cookie } = await authorize(alice, "octo");
    const again = await environment.visitor(people.alice);
    const bob = await environment.visitor(people.bob);
    const github = cookie.split("; ").filter((one) => one.includes("denrei-github"));
    expect(github).toHaveLength(1);
    for (const other of [bob, again]) {
      const withTheirs = [cookieHeader(other.cookies), ...github].join("; ");
      expect(await requestCallback(other, path, withTheirs)).toBe("/?github=failed");
      expect((await read(other, "/api/github"))[1]).toMatchObject({ login: null });
    }
    expect(await requestCallback(alice, path, cookie)).toBe("/builds?github=connected");
  });

  test("needs a session and a request from the dashboard's own page", async () => {
    const stranger = await fetch(`${environment.url}/auth/github/login`, { redirect: "manual" });
    expect(stranger.status).toBe(401);
    const site = await alice.fetch("/auth/github/login", { headers: { "sec-fetch-site": "cross-site" } });
    expect(site.status).toBe(403);
  });

  test("ends when the user disconnects, and the token is revoked", async () => {
    await connect(alice, "octo");
    expect((await alice.fetch("/api/github/disconnect", { method: "POST" })).status).toBe(200);
    expect((await read(alice, "/api/github"))[1]).toEqual({ url: github.url, login: null });
    const last = github.requests().at(-1);
    expect([last?.method, last?.path, last?.status]).toEqual([
      "DELETE",
      `/applications/${github.apps[0]?.clientId}/token`,
      204,
    ]);
    expect(await read(alice, "/api/github/installations")).toMatchObject([
      403,
      { reason: "GitHubNotConnected" },
    ]);
  });
});

describe("listing", () => {
  test("returns everything that GitHub shows the user, from all pages", async () => {
    await connect(alice, "octo");
    const [, { installations }] = (await read(alice, "/api/github/installations")) as [
      number,
      { installations: { id: number }[] },
    ];
    expect(installations).toEqual([
      { id: own, account: "acme", accountType: "Organization", repositorySelection: "all" },
      { id: others, account: "other", accountType: "Organization", repositorySelection: "selected" },
      { id: personal, account: "octo", accountType: "User", repositorySelection: "all" },
    ]);
    const [, { repositories }] = (await read(alice, `/api/github/installations/${own}/repositories`)) as [
      number,
      { repositories: { fullName: string }[] },
    ];
    expect(repositories.map(({ fullName }) => fullName).sort()).toEqual(
      ["acme/web", "acme/docs", ...many].sort(),
    );
    expect(repositories[0]).toEqual({
      id: expect.any(Number),
      name: expect.any(String),
      fullName: expect.any(String),
      private: true,
      defaultBranch: "main",
      canPush: true,
    });
  });

  test("names an enterprise by its slug, and omits deleted accounts", async () => {
    await connect(alice, "octo");
    const same = { repository_selection: "selected" };
    const installations = [
      { ...same, id: 1, account: { id: 7, slug: "my-company", name: "My Company" } },
      { ...same, id: 2, account: null },
    ];
    const body = JSON.stringify({ total_count: 2, installations });
    github.fault({ path: /^\/user\/installations/ }, { status: 200, body }, 1);
    expect(await read(alice, "/api/github/installations")).toEqual([
      200,
      {
        installations: [
          { id: 1, account: "my-company", accountType: "Enterprise", repositorySelection: "selected" },
        ],
      },
    ]);
  });

  test("returns nothing of other users", async () => {
    await connect(alice, "octo");
    expect(await read(alice, `/api/github/installations/${unseen}/repositories`)).toMatchObject([
      404,
      { reason: "NotFound" },
    ]);
    for (const id of ["x", "0", "-1", "1%2f..%2f2"])
      expect((await alice.fetch(`/api/github/installations/${id}/repositories`)).status).toBe(400);
  });

  test("reports that GitHub does not answer, limits the rate, or rejects the token", async () => {
    await connect(alice, "octo");
    const path = { path: /^\/user\/installations/ };
    github.fault(path, "reset", 1);
    expect(await read(alice, "/api/github/installations")).toMatchObject([
      503,
      { reason: "GitHubUnavailable" },
    ]);
    github.revokeUser("octo");
    expect(await read(alice, "/api/github/installations")).toMatchObject([
      403,
      { reason: "GitHubNotConnected" },
    ]);
    await connect(alice, "octo");
    github.fault(path, { status: 429, headers: { "retry-after": "7" } }, 1);
    const limited = await alice.fetch("/api/github/installations");
    expect([limited.status, limited.headers.get("retry-after"), await limited.json()]).toMatchObject([
      429,
      "7",
      { reason: "GitHubRateLimited" },
    ]);
  });
});
