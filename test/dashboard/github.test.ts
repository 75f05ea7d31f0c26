/** GitHub accounts of users: how they connect one, what they see there, and which Installations it lets them create and change. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { apiVersionOf } from "../../bus/kube/kind.ts";
import { cookieHeader } from "../../deploy/cli/demo/visitor.ts";
import { Installation } from "../../functions/ghapp/kinds.ts";
import type { EmulatedGitHub } from "../github/emulator.ts";
import { people, type Scene, team } from "../harness/dashboard.ts";
import { comeBack, connect, decided } from "../harness/githubconnection.ts";
import { ids, many, startGitHubScene } from "../harness/githubscene.ts";
import type { Visitor } from "../harness/visitor.ts";

const { own, others, personal, unseen } = ids;

let scene: Scene;
let github: EmulatedGitHub;
let stop: (() => Promise<void>) | undefined;
let alice: Visitor;
beforeAll(async () => {
  ({ scene, github, stop } = await startGitHubScene());
});
afterAll(() => stop?.());
beforeEach(async () => {
  alice = await scene.visitor(people.alice);
});

const read = async (session: Visitor, path: string) => {
  const answer = await session.fetch(path);
  return [answer.status, await answer.json()] as const;
};

describe("connecting", () => {
  test("is done at GitHub, in a browser, and can be refused there", async () => {
    const page = await scene.loggedIn(people.alice);
    await page.goto(`${scene.url}/auth/github/login?to=/github/new`);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.waitForURL(`${scene.url}/github/new?github=refused`);
    await page.goto(`${scene.url}/auth/github/login?to=/github/new`);
    await page.getByRole("button", { name: "Authorize as octo" }).click();
    await page.waitForURL(`${scene.url}/github/new?github=connected`);
    const known = await page.evaluate(async () => (await fetch("/api/github")).text());
    expect(JSON.parse(known)).toEqual({ url: github.url, login: "octo" });
    // The token stays with the server.
    const cookies = await page.context().cookies();
    expect(JSON.stringify([cookies, known])).not.toContain("ghu_");
  });

  test("has state and PKCE, and an address to come back to that is ours", async () => {
    const { there } = await decided(alice, "octo");
    expect(there.origin).toBe(github.url);
    expect(Object.fromEntries(there.searchParams)).toEqual({
      client_id: github.apps[0]?.clientId,
      redirect_uri: `${scene.url}/auth/github/callback`,
      response_type: "code",
      state: expect.stringMatching(/^.{40,}$/),
      code_challenge: expect.stringMatching(/^.{43}$/),
      code_challenge_method: "S256",
    });
  });

  test("works once, with what this browser has begun, and with nothing else", async () => {
    const loggedIn = cookieHeader(alice.cookies);
    const { path, cookie } = await decided(alice, "octo");
    const other = await decided(alice, "octo");
    expect(await comeBack(alice, path, loggedIn)).toBe("/?github=failed");
    expect(await comeBack(alice, path, other.cookie)).toBe("/builds?github=failed");
    expect(await comeBack(alice, path.replace(/state=[^&]+/, "state=x"), cookie)).toBe(
      "/builds?github=failed",
    );
    // A code of another connection: its verifier is another one.
    const code = new URLSearchParams(other.path.split("?", 2)[1]).get("code") ?? "";
    expect(await comeBack(alice, path.replace(/code=[^&]+/, `code=${code}`), cookie)).toBe(
      "/builds?github=failed",
    );
    expect((await read(alice, "/api/github"))[1]).toEqual({ url: github.url, login: null });
    expect(await comeBack(alice, path, cookie)).toBe("/builds?github=connected");
    expect(await comeBack(alice, path, cookie)).toBe("/builds?github=failed");
  });

  test("is for whoever is logged in, of the dashboard's own page", async () => {
    const stranger = await fetch(`${scene.url}/auth/github/login`, { redirect: "manual" });
    expect(stranger.status).toBe(401);
    const site = await alice.fetch("/auth/github/login", { headers: { "sec-fetch-site": "cross-site" } });
    expect(site.status).toBe(403);
  });

  test("ends with whoever disconnects, and GitHub takes the token back", async () => {
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

describe("what is seen", () => {
  test("is all that GitHub shows the user, of all pages", async () => {
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

  test("is nothing of others", async () => {
    await connect(alice, "octo");
    expect(await read(alice, `/api/github/installations/${unseen}/repositories`)).toMatchObject([
      404,
      { reason: "NotFound" },
    ]);
    for (const id of ["x", "0", "-1", "1%2f..%2f2"])
      expect((await alice.fetch(`/api/github/installations/${id}/repositories`)).status).toBe(400);
  });

  test("is told of when GitHub does not answer, wants no requests, or lets the user in no more", async () => {
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

const installations = `/api/kubernetes/apis/ghapp.tsuzu.dev/v1alpha1/namespaces/${team}/installations`;

const create = async (name: string, spec: object) => {
  const answer = await alice.fetch(installations, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      apiVersion: apiVersionOf(Installation),
      kind: "Installation",
      metadata: { name },
      spec: { appRef: { kind: "ClusterGitHubApp", name: "shared" }, key: "token", template: {}, ...spec },
    }),
  });
  return [answer.status, await answer.json()] as const;
};

const patch = async (name: string, body: object, type = "application/merge-patch+json") => {
  const answer = await alice.fetch(`${installations}/${name}`, {
    method: "PATCH",
    headers: { "content-type": type },
    body: JSON.stringify(body),
  });
  return [answer.status, await answer.json()] as const;
};

const stored = (name: string) => scene.kit.client.get(Installation, { namespace: team, name });
const idOf = async (name: string) => (await github.api<{ id: number }>("GET", `/repos/${name}`)).id;

describe("an Installation", () => {
  test("is made of what its maker sees at GitHub", async () => {
    await connect(alice, "octo");
    expect(await create("by-name", { installationID: own, repositories: ["web", "PART-119"] })).toMatchObject(
      [201, {}],
    );
    const ids = [await idOf("acme/web"), await idOf("acme/part-100")];
    expect(await create("by-id", { installationID: own, repositoryIDs: ids })).toMatchObject([201, {}]);
    const reading = { repositories: ["docs"], permissions: { contents: "read" } };
    expect(await create("reads", { installationID: own, ...reading })).toMatchObject([201, {}]);
    // Of their own account they have all there is.
    expect(await create("personal", { installationID: personal })).toMatchObject([201, {}]);
  });

  test.each([
    [
      "somebody else's installation",
      { installationID: unseen, repositories: ["web"] },
      "NotYourInstallation",
    ],
    ["one that there is not", { installationID: 999, repositories: ["web"] }, "NotYourInstallation"],
    [
      "a repository that they do not see",
      { installationID: own, repositories: ["web", "secret"] },
      "NotYourRepository",
    ],
    [
      "a repository of another owner",
      { installationID: own, repositories: ["../octo/home"] },
      "NotYourRepository",
    ],
    ["all of an organization", { installationID: own }, "AllRepositories"],
    [
      "all, as an empty list",
      { installationID: own, repositories: [], repositoryIDs: [] },
      "AllRepositories",
    ],
    ["what they only read", { installationID: own, repositories: ["web", "docs"] }, "ReadOnlyRepository"],
    [
      "what they only read, to write there",
      { installationID: own, repositories: ["docs"], permissions: { contents: "write", metadata: "read" } },
      "ReadOnlyRepository",
    ],
    ["no installation", {}, "NotAllowed"],
  ])("is not made of %s", async (_, spec, reason) => {
    await connect(alice, "octo");
    expect(await create("refused", spec)).toMatchObject([
      403,
      { reason, message: expect.stringMatching(/^expected /) },
    ]);
    expect((await alice.fetch(`${installations}/refused`)).status).toBe(404);
  });

  test("is not made of a repository's id that they do not see", async () => {
    await connect(alice, "octo");
    const repositoryIDs = [await idOf("acme/secret")];
    expect(await create("refused", { installationID: own, repositoryIDs })).toMatchObject([
      403,
      { reason: "NotYourRepository" },
    ]);
  });

  test("is not made while GitHub is not connected, or does not say", async () => {
    const spec = { installationID: own, repositories: ["web"] };
    expect(await create("refused", spec)).toMatchObject([403, { reason: "GitHubNotConnected" }]);
    await connect(alice, "nobody");
    expect(await create("refused", spec)).toMatchObject([403, { reason: "NotYourInstallation" }]);
    await connect(alice, "octo");
    github.fault({ path: /^\/user\/installations/ }, "reset", 1);
    expect(await create("refused", spec)).toMatchObject([503, { reason: "GitHubUnavailable" }]);
    expect((await alice.fetch(`${installations}/refused`)).status).toBe(404);
  });

  test("is changed to what its changer sees, and to nothing else", async () => {
    await connect(alice, "octo");
    expect((await create("changes", { installationID: own, repositories: ["web"] }))[0]).toBe(201);
    expect(await patch("changes", { spec: { repositories: ["web", "part-1"] } })).toMatchObject([
      200,
      { spec: { repositories: ["web", "part-1"] } },
    ]);
    for (const [spec, reason] of [
      [{ repositories: ["secret"] }, "NotYourRepository"],
      [{ repositories: null }, "AllRepositories"],
      [{ repositories: null, repositoryIDs: [await idOf("acme/secret")] }, "NotYourRepository"],
    ] as const)
      expect(await patch("changes", { spec })).toMatchObject([403, { reason }]);
    const operations = [{ op: "replace", path: "/spec/repositories", value: ["secret"] }];
    expect(await patch("changes", operations, "application/json-patch+json")).toMatchObject([
      400,
      { reason: "NotAllowed" },
    ]);
    const { spec, metadata } = await stored("changes");
    expect(spec?.repositories).toEqual(["web", "part-1"]);
    // What the API server does not take is told as it says it.
    expect(await patch("changes", { spec: { installationID: personal } })).toMatchObject([
      422,
      { kind: "Status", details: { causes: [{ field: "spec.installationID" }] } },
    ]);
    await patch("changes", { spec: { repositories: ["part-2"] } });
    const stale = {
      metadata: { resourceVersion: metadata.resourceVersion },
      spec: { repositories: ["web"] },
    };
    expect(await patch("changes", stale)).toMatchObject([409, { reason: "Conflict" }]);
    expect(await patch("absent", { spec: {} })).toMatchObject([404, { kind: "Status" }]);
  });

  test("that others have made since can not be changed as if they had not", async () => {
    await connect(alice, "octo");
    expect((await create("raced", { installationID: own, repositories: ["web"] }))[0]).toBe(201);
    // GitHub is slow to answer; meanwhile the Installation is another one.
    const fault = github.fault({ path: /^\/user\/installations\?/ }, { delayMillis: 3000 }, 1);
    const asked = github.requests().length;
    const slow = patch("raced", { spec: { repositoryIDs: null } });
    await expect.poll(() => github.requests().length, { timeout: 60_000 }).toBeGreaterThan(asked);
    await scene.kit.client.mergePatch(
      Installation,
      { namespace: team, name: "raced" },
      { spec: { repositories: null, repositoryIDs: [await idOf("acme/web")] } },
      { fieldManager: "test" },
    );
    expect(await slow).toMatchObject([409, { reason: "Conflict" }]);
    fault.remove();
    expect((await stored("raced")).spec?.repositoryIDs).toHaveLength(1);
  });
});
