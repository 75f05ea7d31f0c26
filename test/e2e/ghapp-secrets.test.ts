/** The Secrets of Installations: those of others, those of the original controller, and every format. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { controllerOf, type Stored } from "../../bus/kube/object.ts";
import { GitHubApp, Installation } from "../../functions/ghapp/kinds.ts";
import { annotations, type SecretObject, TokenSecret } from "../../functions/ghapp/secret.ts";
import { type GhApps, startGhApps } from "../harness/ghapp.ts";
import { base64, texts } from "../harness/secretvalues.ts";
import { conditionOf, has } from "../harness/testobjects.ts";

const timeout = 60_000;

let ghapps: GhApps;
beforeAll(async () => {
  ghapps = await startGhApps();
  await ghapps.keySecret("default");
  await ghapps.app("app");
});
afterAll(() => ghapps?.stop());

async function untilReady(name: string): Promise<Stored<SecretObject>> {
  await ghapps.environment.until(Installation, { name }, has("Ready", "True"));
  await ghapps.untilQuiet();
  return (await ghapps.secret(name)) as Stored<SecretObject>;
}

/** Makes the refresh due. */
const makeDue = (name: string) =>
  ghapps.patch(TokenSecret, name, {
    metadata: { annotations: { [annotations.refresh]: new Date().toISOString() } },
  });

const works = async (token: string | undefined) =>
  (await ghapps.use(token, "GET /repos/acme/web/branches/main")) === 200;

test("recreates an immutable Secret with each token", async () => {
  await ghapps.installation("immutable", { template: { immutable: true } });
  const seen = [await untilReady("immutable")];
  expect(seen[0]?.immutable).toBe(true);
  for (const round of [1, 2]) {
    await makeDue("immutable");
    await expect
      .poll(async () => (await ghapps.secret("immutable"))?.metadata.uid ?? seen[0]?.metadata.uid, {
        timeout,
      })
      .not.toBe(seen[0]?.metadata.uid);
    seen.unshift(await untilReady("immutable"));
    expect(await works(texts(seen[0]).token), `round ${round}`).toBe(true);
  }
  expect(new Set(seen.map((secret) => texts(secret).token)).size).toBe(3);
  await ghapps.patch(Installation, "immutable", { spec: { template: { immutable: null } } });
  await expect
    .poll(async () => (await ghapps.secret("immutable"))?.immutable ?? false, { timeout })
    .toBe(false);
});

test("recreates a Secret of another type", async () => {
  await ghapps.installation("typed");
  const before = await untilReady("typed");
  await ghapps.patch(Installation, "typed", {
    spec: { key: "password", template: { type: "kubernetes.io/basic-auth" } },
  });
  await expect
    .poll(async () => (await ghapps.secret("typed"))?.type, { timeout })
    .toBe("kubernetes.io/basic-auth");
  const after = await untilReady("typed");
  expect(after.metadata.uid).not.toBe(before.metadata.uid);
  expect(Object.keys(texts(after))).toEqual(["password"]);
});

test("leaves a Secret that it does not own, and becomes ready when that is deleted", async () => {
  const { environment } = ghapps;
  const made = await ghapps.create(TokenSecret, {
    metadata: { namespace: "default", name: "taken" },
    data: { token: base64("mine") },
  });
  const minted = ghapps.mints().length;
  await ghapps.installation("taken");
  const blocked = await environment.until(
    Installation,
    { name: "taken" },
    has("Ready", "False", "NameTaken"),
  );
  expect(blocked.status?.message).toContain("is never overwritten. Delete it");
  await ghapps.untilQuiet();
  expect((await ghapps.secret("taken"))?.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  expect(ghapps.mints()).toHaveLength(minted);
  await environment.client.delete(TokenSecret, { namespace: "default", name: "taken" }, {});
  expect(await works(texts(await untilReady("taken")).token)).toBe(true);
});

test("leaves a Secret that another object controls", async () => {
  const owner = await ghapps.installation("owner");
  const { uid } = owner.metadata;
  const ownerReferences = [
    { apiVersion: owner.apiVersion, kind: owner.kind, name: "owner", uid, controller: true },
  ];
  const metadata = { namespace: "default", name: "foreign", ownerReferences };
  const made = await ghapps.create(TokenSecret, { metadata, data: { token: base64("mine") } });
  await ghapps.installation("foreign");
  await ghapps.environment.until(Installation, { name: "foreign" }, has("Ready", "False", "NameTaken"));
  await ghapps.untilQuiet();
  expect((await ghapps.secret("foreign"))?.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
});

test("adopts a Secret of the original controller", async () => {
  const { environment } = ghapps;
  const appRef = { kind: "GitHubApp" as const, name: "seeds" };
  const { apiVersion, kind, metadata } = await ghapps.installation("seeded", { appRef });
  await environment.until(Installation, { name: "seeded" }, has("Ready", "False", "AppNotFound"));
  const made = await ghapps.create(TokenSecret, {
    metadata: {
      namespace: "default",
      name: "seeded",
      annotations: { "ghapp.tsuzu.dev/sha1": "x", [annotations.expires]: "2020-09-20T00:00:00Z" },
      ownerReferences: [{ apiVersion, kind, name: "seeded", uid: metadata.uid }],
    },
    data: { token: base64("ghs_old"), password: base64("ghs_old") },
  });
  await ghapps.app("seeds");
  const taken = await untilReady("seeded");
  expect(taken.metadata.uid).toBe(made.metadata.uid);
  expect(controllerOf(taken)?.uid).toBe(metadata.uid);
  expect(Object.keys(texts(taken))).toEqual(["token"]);
  // From here on, events of the Secret trigger the Installation.
  await environment.client.delete(TokenSecret, { namespace: "default", name: "seeded" }, {});
  await expect.poll(async () => works(await ghapps.token("seeded")), { timeout }).toBe(true);
  await environment.client.delete(GitHubApp, { namespace: "default", name: "seeds" }, {});
});

test.each([
  [
    { template: { type: "kubernetes.io/service-account-token" } },
    "Kubernetes grants special rights to Secrets of the types kubernetes.io/service-account-token and bootstrap.kubernetes.io/token",
  ],
  [{ key: undefined }, "The format raw needs a key."],
  [{ repositories: ["web"], repositoryIDs: [1] }, "either repositories or repositoryIDs"],
  [{ installationID: 0 }, "spec.installationID"],
  [{ appRef: { kind: "Secret", name: "x" } }, "spec.appRef.kind"],
  [{ key: "a/b" }, "spec.key"],
])("the API server rejects %j", async (spec, message) => {
  await expect(ghapps.installation("refused", spec as object)).rejects.toThrow(message);
});

test.each([
  [{ appRef: { name: "other" } }, "appRef cannot be changed: create another Installation"],
  [{ installationID: 2 }, "installationID cannot be changed: create another Installation"],
])("once there, the API server refuses %j", async (spec, message) => {
  const name = `kept-${Object.keys(spec)[0]?.toLowerCase()}`;
  await ghapps.installation(name);
  await expect(ghapps.patch(Installation, name, { spec })).rejects.toThrow(message);
});

test("writes every token format, also for tokens as long as GitHub's newer ones", async () => {
  ghapps.github.issueTokens({ length: 520 });
  await ghapps.installation("basic", { format: "basic-auth", key: undefined });
  const login = await untilReady("basic");
  const { username, password } = texts(login);
  expect(login.type).toBe("kubernetes.io/basic-auth");
  expect({ username, length: password?.length }).toEqual({ username: "x-access-token", length: 520 });
  expect(await works(password)).toBe(true);

  await ghapps.installation("docker", {
    format: "dockerconfigjson",
    key: undefined,
    registry: "registry.example.com",
  });
  const docker = await untilReady("docker");
  expect(docker.type).toBe("kubernetes.io/dockerconfigjson");
  const { auths } = JSON.parse(texts(docker)[".dockerconfigjson"] ?? "");
  const auth = auths["registry.example.com"];
  expect(auth).toEqual({
    username: "x-access-token",
    password: auth.password,
    auth: base64(`x-access-token:${auth.password}`),
  });
  expect(await works(auth.password)).toBe(true);

  const netrc = "machine github.com login x-access-token password {{token}}";
  await ghapps.installation("templated", {
    template: { stringData: { netrc, twice: "{{token}} {{token}}" }, data: { plain: base64("{{token}}") } },
  });
  const { token, ...rest } = texts(await untilReady("templated"));
  expect(token).toHaveLength(520);
  expect(rest).toEqual({
    netrc: netrc.replace("{{token}}", token ?? ""),
    twice: `${token} ${token}`,
    plain: "{{token}}",
  });
  ghapps.github.issueTokens({});
});

test("requests tokens for exactly the named repositories and permissions", async () => {
  const installationID = ghapps.github.apps[0]?.installations[0]?.id ?? 0;
  await ghapps.installation("narrow", {
    installationID,
    repositories: ["acme/web"],
    permissions: { contents: "read" },
  });
  const { token } = texts(await untilReady("narrow"));
  expect(JSON.parse(ghapps.mints().at(-1)?.body ?? "")).toEqual({
    repositories: ["web"],
    permissions: { contents: "read" },
  });
  expect(await works(token)).toBe(true);
  expect(await ghapps.use(token, "GET /repos/acme/api/branches/main")).toBe(404);
  expect(await ghapps.use(token, "GET /repos/acme/web/pulls")).toBe(403);

  await ghapps.installation("wide");
  const wide = texts(await untilReady("wide")).token;
  expect(JSON.parse(ghapps.mints().at(-1)?.body || "{}")).toEqual({});
  expect(await ghapps.use(wide, "GET /repos/acme/api/branches/main")).toBe(200);
});

test.each([
  ["what its type needs", { type: "kubernetes.io/dockerconfigjson" }, ".dockerconfigjson"],
  ["base64", { data: { other: "?" } }, "base64"],
])(
  "reports a template without %s, without requesting tokens again and again",
  async (name, template, word) => {
    const at = name.replaceAll(" ", "-");
    const minted = ghapps.mints().length;
    await ghapps.installation(at, { template });
    const blocked = await ghapps.environment.until(
      Installation,
      { name: at },
      has("Ready", "False", "SecretInvalid"),
    );
    expect(conditionOf(blocked)?.message).toContain(word);
    await ghapps.untilQuiet();
    expect(ghapps.mints()).toHaveLength(minted + 1);
    // The unused token is revoked.
    expect(await ghapps.use(ghapps.github.tokens().at(-1), "GET /repos/acme/web")).toBe(401);
    await ghapps.patch(Installation, at, { spec: { template: { type: null, data: null } } });
    expect(await works(texts(await untilReady(at)).token)).toBe(true);
  },
);
