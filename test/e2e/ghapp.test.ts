/** An Installation from the sample to its steady state, on a real control plane and the emulated GitHub. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { controllerOf, type Stored } from "../../bus/kube/object.ts";
import { ClusterGitHubApp, Installation } from "../../functions/ghapp/kinds.ts";
import { annotations, type SecretObject, TokenSecret } from "../../functions/ghapp/secret.ts";
import { type GhApps, platformNamespace, startGhApps } from "../harness/ghapp.ts";
import { base64, texts } from "../harness/secretvalues.ts";
import { sized } from "../harness/size.ts";
import { conditionOf, has } from "../harness/testobjects.ts";

const namespace = "team-a";
const sample = { name: "acme-web", namespace };
const rounds = sized(6, 100);
/** Rounds without a pause between them. */
const together = 3;
const timeout = 60_000;

let ghapps: GhApps;
/** GitHub's ID of acme/web. */
let web: number;
/** The number of token requests before the test. */
let before: number;
beforeAll(async () => {
  ghapps = await startGhApps();
  const { github, environment } = ghapps;
  ({ id: web } = await github.api<{ id: number }>("GET", "/repos/acme/web"));
  await ghapps.namespace(namespace);
  await ghapps.keySecret(platformNamespace);
  const installationID = github.apps[0]?.installations[0]?.id ?? 0;
  await ghapps.clusterApp("main", {
    allowed: [
      {
        namespaces: ["team-*"],
        installationIDs: [installationID],
        repositories: ["acme/web"],
        permissions: { contents: "read", pull_requests: "write" },
      },
    ],
  });
  await ghapps.installation(
    sample.name,
    {
      appRef: { apiVersion: "ghapp.tsuzu.dev/v1alpha1", kind: "ClusterGitHubApp", name: "main" },
      installationID,
      repositoryIDs: [web],
      permissions: { contents: "read", pull_requests: "read" },
      key: "password",
      template: {
        type: "kubernetes.io/basic-auth",
        stringData: { username: "x-access-token" },
        metadata: { annotations: { "kpack.io/git": "https://github.com" }, labels: { team: "a" } },
      },
    },
    namespace,
  );
  await environment.until(Installation, sample, has("Ready", "True"));
});
afterAll(() => ghapps?.stop());
beforeEach(async () => {
  await ghapps.untilQuiet();
  before = ghapps.mints().length;
});

const secret = () => ghapps.secret(sample.name, namespace);
const mints = () => ghapps.mints().length - before;

/** The Secret, once its version has changed and its token works. */
async function untilRepaired({ metadata }: Stored<SecretObject>): Promise<Stored<SecretObject>> {
  const isMended = async () => {
    const found = await secret();
    if (found === undefined || found.metadata.resourceVersion === metadata.resourceVersion) return false;
    return (await ghapps.use(texts(found).password, "GET /repos/acme/web/branches/main")) === 200;
  };
  await expect.poll(isMended, { timeout }).toBe(true);
  await ghapps.untilQuiet();
  return (await secret()) as Stored<SecretObject>;
}

test("the sample has its token in the desired Secret, valid for exactly what was requested", async () => {
  const { environment, github } = ghapps;
  const installation = await environment.client.get(Installation, sample);
  const { type, metadata, ...found } = (await secret()) as Stored<SecretObject>;
  const { username, password, ...rest } = texts(found as SecretObject);
  expect({ type, username, rest }).toEqual({
    type: "kubernetes.io/basic-auth",
    username: "x-access-token",
    rest: {},
  });
  expect(metadata.labels).toMatchObject({ team: "a" });
  expect(metadata.annotations).toMatchObject({ "kpack.io/git": "https://github.com" });
  expect(controllerOf({ ...found, metadata } as SecretObject)?.uid).toBe(installation.metadata.uid);
  const { status } = installation;
  expect(status).toMatchObject({ ready: true, secret: sample.name, message: "", observedGeneration: 1 });
  expect(conditionOf(installation, "TokenIssued")).toMatchObject({ status: "True", reason: "TokenIssued" });
  const expires = Date.parse(metadata.annotations?.[annotations.expires] ?? "");
  expect(Date.parse(status?.expiresAt ?? "")).toBe(Math.floor(expires / 1000) * 1000);
  expect(Date.parse(status?.refreshAt ?? "")).toBeLessThan(expires);

  expect(ghapps.mints().map(({ body }) => JSON.parse(body))).toEqual([
    { repository_ids: [web], permissions: { contents: "read", pull_requests: "read" } },
  ]);
  expect(github.tokens()).toEqual([password]);
  expect(await ghapps.use(password, "GET /repos/acme/web/branches/main")).toBe(200);
  expect(await ghapps.use(password, "GET /repos/acme/api/branches/main")).toBe(404);
  const file = { message: "m", content: "" };
  expect(await ghapps.use(password, "PUT /repos/acme/web/contents/a", file)).toBe(403);
});

test("GitHub knows its App", async () => {
  const { environment } = ghapps;
  const app = await environment.until(
    ClusterGitHubApp,
    { name: "main" },
    has("Ready", "True", "Authenticated"),
  );
  expect(app.status?.slug).toBe("denrei");
});

test(`replaying every event ${rounds} times causes no write, and requests only the App from GitHub`, async () => {
  const { workers, github } = ghapps;
  // Fresh processes do not remember their own writes. Their counters start at 0.
  for (const worker of workers) {
    await worker.stop();
    await worker.start();
  }
  const changes = await ghapps.changes();
  const kinds = new Set(changes.map(({ subject }) => subject.split(".")[3]));
  expect(kinds).toEqual(new Set(["ClusterGitHubApp", "Installation", "Namespace", "Secret"]));
  const asked = github.requests().length;
  for (let round = 0; round < rounds; round++) {
    await ghapps.replay(changes);
    if (round % together === together - 1) await ghapps.untilQuiet();
  }
  await ghapps.untilQuiet();
  expect(await ghapps.writes()).toBe(0);
  const paths = github.requests().slice(asked);
  // Events of an object that is queued or in flight are coalesced, so each round starts when everything is idle.
  expect(paths.filter(({ path }) => path === "/app").length).toBeGreaterThanOrEqual(rounds / together);
  expect(paths.filter(({ path }) => !/^\/app(\/hook\/deliveries.*)?$/.test(path))).toEqual([]);
});

test("restores a Secret that was deleted by hand", async () => {
  const found = (await secret()) as Stored<SecretObject>;
  await ghapps.environment.client.delete(TokenSecret, sample, {});
  const { metadata } = await untilRepaired(found);
  expect(metadata.uid).not.toBe(found.metadata.uid);
  expect(mints()).toBe(1);
});

test("repairs a Secret that was changed by hand", async () => {
  const found = (await secret()) as Stored<SecretObject>;
  const [password, other] = ["ghs_mine", "x"].map(base64);
  await ghapps.patch(TokenSecret, sample, { data: { password, other } });
  const repaired = await untilRepaired(found);
  expect(Object.keys(repaired.data ?? {}).sort()).toEqual(["password", "username"]);
  expect(repaired.metadata.uid).toBe(found.metadata.uid);
  expect(mints()).toBe(1);
});

test("keeps labels and annotations of others, and removes those of the template with it", async () => {
  const found = (await secret()) as Stored<SecretObject>;
  await ghapps.patch(TokenSecret, sample, { metadata: { labels: { mine: "1" } } });
  const metadata = { labels: { team: null, part: "web" }, annotations: null };
  await ghapps.patch(Installation, sample, { spec: { template: { metadata } } });
  await expect.poll(async () => (await secret())?.metadata.labels?.part, { timeout }).toBe("web");
  const { metadata: changed } = await untilRepaired(found);
  expect(changed.labels).toEqual({ mine: "1", part: "web" });
  expect(changed.annotations).not.toHaveProperty("kpack.io/git");
});

test("moves the token when only its key in the Secret changes", async () => {
  const found = (await secret()) as Stored<SecretObject>;
  const old = texts(found).password;
  await ghapps.patch(Installation, sample, { spec: { key: "token", template: { type: "Opaque" } } });
  await expect.poll(async () => (await secret())?.metadata.uid, { timeout }).not.toBe(found.metadata.uid);
  await ghapps.untilQuiet();
  const moved = texts(await secret());
  expect(Object.keys(moved).sort()).toEqual(["token", "username"]);
  expect(moved.token).not.toBe(old);
  expect(await ghapps.use(moved.token, "GET /repos/acme/web/branches/main")).toBe(200);

  await ghapps.patch(Installation, sample, { spec: { key: "secret" } });
  await expect
    .poll(async () => Object.keys(texts(await secret())).sort(), { timeout })
    .toEqual(["secret", "username"]);
});
