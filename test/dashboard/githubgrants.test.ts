/** Installations are made and changed by those who have at GitHub what is in them, and by nobody else. */
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { apiVersionOf } from "../../bus/kube/kind.ts";
import type { EmulatedGitHub } from "../../deploy/simulators/github/emulator.ts";
import { Installation } from "../../functions/ghapp/kinds.ts";
import { people, type Scene, team } from "../harness/dashboard.ts";
import { connect } from "../harness/githubconnection.ts";
import { ids, startGitHubScene } from "../harness/githubscene.ts";
import type { Visitor } from "../harness/visitor.ts";

const { own, personal, unseen } = ids;

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
    [
      "what they only read, to tell it something",
      {
        installationID: own,
        repositories: ["docs"],
        permissions: { contents: "read" },
        apiPermissions: { pull_requests: "write" },
      },
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
    const changed = Promise.withResolvers<void>();
    onTestFinished(() => changed.resolve());
    const fault = github.fault({ path: /^\/user\/installations\?/ }, { heldUntil: changed.promise }, 1);
    const asked = github.requests().length;
    const slow = patch("raced", { spec: { repositoryIDs: null } });
    await expect.poll(() => github.requests().length, { timeout: 60_000 }).toBeGreaterThan(asked);
    await scene.kit.client.mergePatch(
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
