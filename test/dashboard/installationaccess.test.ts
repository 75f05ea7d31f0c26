/** Creating and changing an Installation needs access at GitHub to what is in it. */
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { apiVersionOf, Secret } from "../../bus/kube/kind.ts";
import type { SimulatedGitHub } from "../../deploy/simulators/github/github.ts";
import { GitHubApp, Installation } from "../../functions/ghapp/kinds.ts";
import { type DashboardEnvironment, people, team } from "../harness/dashboard.ts";
import { connect } from "../harness/githubconnection.ts";
import { ids, startGitHubDashboardEnvironment } from "../harness/githubdashboard.ts";
import type { Visitor } from "../harness/visitor.ts";

const { own, personal, unseen } = ids;

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

const allOfAcme =
  "Without repository names, the Installation covers all repositories of acme. Name the repositories.";
const readOnlyDocs =
  "octo may not push to these repositories: docs. Choose permissions that only read, or other repositories.";

const stored = (name: string) => environment.client.get(Installation, { namespace: team, name });
const idOf = async (name: string) => (await github.api<{ id: number }>("GET", `/repos/${name}`)).id;

test("the key of the App with which accounts are connected does not replace the connection", async () => {
  const [app] = github.apps;
  const privateKeySecretRef = { name: "connecting-key", key: "private-key.pem" };
  const of = (name: string) => ({ name, namespace: team });
  const secret = { apiVersion: "v1", kind: "Secret", metadata: of(privateKeySecretRef.name) };
  const stringData = { [privateKeySecretRef.key]: app?.privateKey };
  await environment.client.create(Secret, { ...secret, stringData } as never, { fieldManager: "test" });
  const object = { apiVersion: apiVersionOf(GitHubApp), kind: "GitHubApp", metadata: of("connecting") };
  const spec = { url: github.url, appID: app?.id ?? 0, privateKeySecretRef };
  await environment.client.create(GitHubApp, { ...object, spec }, { fieldManager: "test" });
  const appRef = { kind: "GitHubApp", name: "connecting" };
  expect(await create("unconnected", { appRef, installationID: own })).toMatchObject([
    403,
    { reason: "GitHubNotConnected" },
  ]);
  await connect(alice, "octo");
  expect(await create("unseen", { appRef, installationID: unseen, repositories: ["web"] })).toMatchObject([
    403,
    { reason: "NotYourInstallation" },
  ]);
});

describe("an Installation", () => {
  test("can be created for repositories that the user can see at GitHub", async () => {
    await connect(alice, "octo");
    expect(await create("by-name", { installationID: own, repositories: ["web", "PART-119"] })).toMatchObject(
      [201, {}],
    );
    const ids = [await idOf("acme/web"), await idOf("acme/part-100")];
    expect(await create("by-id", { installationID: own, repositoryIDs: ids })).toMatchObject([201, {}]);
    const reading = { repositories: ["docs"], permissions: { contents: "read" } };
    expect(await create("reads", { installationID: own, ...reading })).toMatchObject([201, {}]);
    // For their own account, users need not name repositories.
    expect(await create("personal", { installationID: personal })).toMatchObject([201, {}]);
  });

  test.each([
    [
      "an installation of another account",
      { installationID: unseen, repositories: ["web"] },
      "NotYourInstallation",
      `octo cannot see the installation ${unseen} on GitHub. Choose another one, or ask its owner.`,
    ],
    [
      "an installation that does not exist",
      { installationID: 999, repositories: ["web"] },
      "NotYourInstallation",
      "octo cannot see the installation 999 on GitHub. Choose another one, or ask its owner.",
    ],
    [
      "a repository that the user cannot see",
      { installationID: own, repositories: ["web", "secret"] },
      "NotYourRepository",
      "octo cannot see these repositories of acme on GitHub: secret.",
    ],
    [
      "a repository of another owner",
      { installationID: own, repositories: ["../octo/home"] },
      "NotYourRepository",
      "octo cannot see these repositories of acme on GitHub: ../octo/home.",
    ],
    ["all repositories of an organization", { installationID: own }, "AllRepositories", allOfAcme],
    [
      "all repositories, as an empty list",
      { installationID: own, repositories: [], repositoryIDs: [] },
      "AllRepositories",
      allOfAcme,
    ],
    [
      "a repository that the user can only read",
      { installationID: own, repositories: ["web", "docs"] },
      "ReadOnlyRepository",
      readOnlyDocs,
    ],
    [
      "writing to a repository that the user can only read",
      { installationID: own, repositories: ["docs"], permissions: { contents: "write", metadata: "read" } },
      "ReadOnlyRepository",
      readOnlyDocs,
    ],
    [
      "writing through the API to a repository that the user can only read",
      {
        installationID: own,
        repositories: ["docs"],
        permissions: { contents: "read" },
        apiPermissions: { pull_requests: "write" },
      },
      "ReadOnlyRepository",
      readOnlyDocs,
    ],
    ["no installation", {}, "NotAllowed", "The body is not an Installation with an integer installationID."],
  ])("is rejected for %s", async (_, spec, reason, message) => {
    await connect(alice, "octo");
    expect(await create("refused", spec)).toMatchObject([403, { reason, message }]);
    expect((await alice.fetch(`${installations}/refused`)).status).toBe(404);
  });

  test("is rejected for the ID of a repository that the user cannot see", async () => {
    await connect(alice, "octo");
    const repositoryIDs = [await idOf("acme/secret")];
    expect(await create("refused", { installationID: own, repositoryIDs })).toMatchObject([
      403,
      { reason: "NotYourRepository" },
    ]);
  });

  test("is rejected if no account is connected, or GitHub does not answer", async () => {
    const spec = { installationID: own, repositories: ["web"] };
    expect(await create("refused", spec)).toMatchObject([403, { reason: "GitHubNotConnected" }]);
    await connect(alice, "nobody");
    expect(await create("refused", spec)).toMatchObject([403, { reason: "NotYourInstallation" }]);
    await connect(alice, "octo");
    github.fault({ path: /^\/user\/installations/ }, "reset", 1);
    expect(await create("refused", spec)).toMatchObject([503, { reason: "GitHubUnavailable" }]);
    expect((await alice.fetch(`${installations}/refused`)).status).toBe(404);
  });

  test("can be changed only to what the user can see", async () => {
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
    // Errors of the API server are passed on unchanged.
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

  test("cannot be changed based on a former version", async () => {
    await connect(alice, "octo");
    expect((await create("raced", { installationID: own, repositories: ["web"] }))[0]).toBe(201);
    // GitHub answers slowly; meanwhile the Installation is replaced.
    const changed = Promise.withResolvers<void>();
    onTestFinished(() => changed.resolve());
    const fault = github.fault({ path: /^\/user\/installations\?/ }, { heldUntil: changed.promise }, 1);
    const before = github.requests().length;
    const slow = patch("raced", { spec: { repositoryIDs: null } });
    await expect.poll(() => github.requests().length, { timeout: 60_000 }).toBeGreaterThan(before);
    await environment.client.mergePatch(
      Installation,
      { namespace: team, name: "raced" },
      { spec: { repositories: null, repositoryIDs: [await idOf("acme/web")] } },
      { fieldManager: "test" },
    );
    changed.resolve();
    expect(await slow).toMatchObject([409, { reason: "Conflict" }]);
    fault.remove();
    expect((await stored("raced")).spec?.repositoryIDs).toHaveLength(1);
  });
});
