/** Which Installations may get tokens of an App, and what happens to those that lose this permission. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Namespace } from "../../bus/kube/kind.ts";
import { kindSubjects, streams } from "../../bus/subjects.ts";
import { ClusterGitHubApp, GitHubApp, Installation } from "../../functions/ghapp/kinds.ts";
import type { Rule } from "../../functions/ghapp/policy.ts";
import { TokenSecret } from "../../functions/ghapp/secret.ts";
import { type GhApps, pemKey, platformNamespace, startGhApps } from "../harness/ghapp.ts";
import { has } from "../harness/testobjects.ts";

const timeout = 60_000;

let ghapps: GhApps;
/** Installation IDs, one per test, so that tests can tell their requests apart. */
let ids: number[];
beforeAll(async () => {
  const installations = Array.from({ length: 16 }, () => ({ account: "acme" }));
  ghapps = await startGhApps({ apps: [{ installations }] });
  ids = ghapps.github.apps[0]?.installations.map(({ id }) => id) ?? [];
  await ghapps.keySecret(platformNamespace);
  await ghapps.namespace("team-a");
});
afterAll(() => ghapps?.stop());

/** Creates a ClusterGitHubApp with these rules and an Installation of it, both with this name. */
async function wanted(
  name: string,
  allowed: Rule[] | undefined,
  spec: Partial<Installation["spec"]> = {},
): Promise<number> {
  const installationID = ids.pop() ?? 0;
  const app = { ...(allowed && { allowed }) } as Partial<ClusterGitHubApp["spec"]>;
  await ghapps.clusterApp(name, app);
  await ghapps.environment.until(ClusterGitHubApp, { name }, has("Ready", "True"));
  await ghapps.untilQuiet();
  const appRef = { kind: "ClusterGitHubApp" as const, name };
  await ghapps.installation(name, { appRef, installationID, ...spec }, "team-a");
  return installationID;
}

const allow = (name: string, allowed: Rule[]) =>
  ghapps.patch(ClusterGitHubApp, { name }, { spec: { allowed } });

const at = (name: string) => ({ namespace: "team-a", name });
const untilReady = (name: string) => ghapps.environment.until(Installation, at(name), has("Ready", "True"));

/** The message of its condition once it is not allowed. */
async function untilDenied(name: string): Promise<string> {
  const found = await ghapps.environment.until(Installation, at(name), has("Ready", "False", "NotAllowed"));
  await ghapps.untilQuiet();
  expect(found.status).toMatchObject({ ready: false });
  expect(found.status).not.toHaveProperty("expiresAt");
  return found.status?.message ?? "";
}

/** The current token, and the check that GitHub rejects it and its Secret is deleted after it was revoked. */
async function tokenOf(name: string): Promise<{ readonly untilWithdrawn: () => Promise<void> }> {
  const token = await ghapps.token(name, "team-a");
  expect(await ghapps.use(token, "GET /repos/acme/web")).toBe(200);
  return {
    async untilWithdrawn() {
      await ghapps.environment.untilGone(TokenSecret, at(name));
      await expect.poll(() => ghapps.use(token, "GET /repos/acme/web"), { timeout }).toBe(401);
      const reasons = async () => (await ghapps.events(name, "team-a")).map(({ reason }) => reason);
      await expect.poll(reasons, { timeout }).toContain("TokenRevoked");
    },
  };
}

test("a ClusterGitHubApp without rules allows no Installation", async () => {
  const id = await wanted("bare", undefined);
  const message = await untilDenied("bare");
  expect(message).toBe(
    "the ClusterGitHubApp bare does not allow this Installation: it has no rules in spec.allowed, and allows no Installation. " +
      "The owner of the App can allow it in spec.allowed.",
  );
  expect(await ghapps.secret("bare", "team-a")).toBeUndefined();
  expect(ghapps.mints(id)).toHaveLength(0);
  await allow("bare", [{}]);
  await untilReady("bare");
  const token = await tokenOf("bare");
  await allow("bare", []);
  await untilDenied("bare");
  await token.untilWithdrawn();
});

test("a GitHubApp without rules allows its namespace, and one with rules only those", async () => {
  await ghapps.keySecret("team-a");
  await ghapps.app("app", {}, "team-a");
  await ghapps.installation("local", { installationID: ids.pop() ?? 0 }, "team-a");
  await untilReady("local");
  const token = await tokenOf("local");
  const app = { ...at("app") };
  await ghapps.patch(GitHubApp, app, { spec: { allowed: [{ namespaces: ["team-b"] }] } });
  expect(await untilDenied("local")).toContain("rule 1: the namespace team-a does not match team-b");
  await token.untilWithdrawn();
});

test.each<[string, Rule, string]>([
  ["namespace", { namespaces: ["team-b", "*-b"] }, "the namespace team-a does not match team-b, *-b"],
  ["installation", { installationIDs: [7] }, "is not one of 7"],
  ["selector", { namespaceSelector: { matchLabels: { a: "b" } } }, "the labels of the namespace team-a"],
  ["unnamed", { permissions: { contents: "write" } }, "set spec.permissions"],
])("a rule about another %s allows nothing, and no token is made", async (name, rule, message) => {
  const id = await wanted(name, [rule]);
  expect(await untilDenied(name)).toContain(message);
  expect(ghapps.mints(id)).toHaveLength(0);
  await allow(name, [rule, { namespaces: ["team-*"], installationIDs: [id] }]);
  await untilReady(name);
});

test("grants no permissions beyond those of a rule", async () => {
  const rule: Rule = { permissions: { contents: "read" } };
  const id = await wanted("permitted", [rule], { permissions: { contents: "write" } });
  expect(await untilDenied("permitted")).toContain("contents: write exceeds contents: read");
  const permissions = { contents: "read", issues: "read" };
  await ghapps.patch(Installation, at("permitted"), { spec: { permissions } });
  await expect.poll(() => untilDenied("permitted"), { timeout }).toContain("issues: read exceeds none");
  expect(ghapps.mints(id)).toHaveLength(0);
  await ghapps.patch(Installation, at("permitted"), { spec: { permissions: { issues: null } } });
  await untilReady("permitted");
  expect(ghapps.mints(id).map(({ body }) => JSON.parse(body).permissions)).toEqual([{ contents: "read" }]);
});

test("allows a namespace when it gets its label, and revokes when it loses the label", async () => {
  const rule: Rule = { namespaceSelector: { matchLabels: { "may-deploy": "true" } } };
  const id = await wanted("labelled", [rule]);
  await untilDenied("labelled");
  expect(ghapps.mints(id)).toHaveLength(0);
  const label = (value: string | null) =>
    ghapps.patch(Namespace, { name: "team-a" }, { metadata: { labels: { "may-deploy": value } } });
  await label("true");
  await untilReady("labelled");
  const token = await tokenOf("labelled");

  // A bus that has lost its state must not lead to a revocation.
  const looks = () =>
    ghapps.workers
      .flatMap((worker) => worker.log.records())
      .filter(({ msg, key }) => msg === "reconciled" && key === "team-a/labelled").length;
  const [filter, before] = [kindSubjects("default", Namespace), looks()];
  const lost = await ghapps.changes(filter);
  await ghapps.bus.jsm.streams.purge(streams.objects, { filter });
  await ghapps.touch(Installation, at("labelled"));
  await expect.poll(looks, { timeout }).toBeGreaterThan(before);
  await tokenOf("labelled");
  await ghapps.replay(lost);

  await label(null);
  await untilDenied("labelled");
  await token.untilWithdrawn();
  expect(ghapps.mints(id)).toHaveLength(1);
});

test("revokes a token that exceeds the rule before it is stored", async () => {
  const id = await wanted("wide", [{ repositories: ["acme/we*", "other/*"] }]);
  expect(await untilDenied("wide")).toContain("acme/* is not among acme/we*, other/*");
  expect(await ghapps.secret("wide", "team-a")).toBeUndefined();
  expect(ghapps.mints(id).map(({ status }) => status)).toEqual([201]);
  const revoked = ghapps.github.requests().filter(({ method, installation }) => {
    return method === "DELETE" && installation === id;
  });
  expect(revoked.map(({ path, status }) => ({ path, status }))).toEqual([
    { path: "/installation/token", status: 204 },
  ]);

  await ghapps.patch(Installation, at("wide"), { spec: { repositories: ["api"] } });
  await expect.poll(() => untilDenied("wide"), { timeout }).toContain("acme/api is not among acme/we*");
  await ghapps.patch(Installation, at("wide"), { spec: { repositories: ["acme/web"] } });
  await untilReady("wide");
  await tokenOf("wide");
});

test("does not store a token that exceeds the rule, even when GitHub fails to revoke it", async () => {
  const failed = ghapps.github.fault({ method: "DELETE", path: /^\/installation\/token/ }, { status: 503 });
  onTestFinished(() => failed.remove());
  await wanted("unended", [{ repositories: ["acme/*"] }], { repositories: ["web"] });
  await untilReady("unended");
  await allow("unended", [{ repositories: ["acme/api"] }]);
  expect(await untilDenied("unended")).toContain("acme/web is not among acme/api");
  expect(await ghapps.secret("unended", "team-a")).toBeUndefined();
  expect(failed.hits).toBeGreaterThanOrEqual(2);
});

test("revokes a token whose repositories and permissions are unknown", async () => {
  const id = ids.at(-1) ?? 0;
  const path = new RegExp(`^/app/installations/${id}$`);
  const failed = ghapps.github.fault({ method: "GET", path }, { status: 503 });
  onTestFinished(() => failed.remove());
  await wanted("untold", [{ repositories: ["acme/*"] }]);
  await ghapps.environment.until(Installation, at("untold"), has("Ready", "False", "GitHubUnreachable"));
  const revoked = ghapps.github.requests().filter(({ method, installation }) => {
    return method === "DELETE" && installation === id;
  });
  expect(revoked.map(({ status }) => status)).toContain(204);
  expect(await ghapps.secret("untold", "team-a")).toBeUndefined();
});

test("revokes a token that a narrowed rule does not allow", async () => {
  await wanted("narrowed", [{ repositories: ["acme/*"] }]);
  await untilReady("narrowed");
  const token = await tokenOf("narrowed");
  await allow("narrowed", [{ repositories: ["acme/web"] }]);
  await untilDenied("narrowed");
  await token.untilWithdrawn();
});

test("revokes tokens that are no longer allowed even when the App's key is missing", async () => {
  await ghapps.keySecret(platformNamespace, "lost-key");
  const privateKeySecretRef = { name: "lost-key", key: pemKey };
  await ghapps.clusterApp("lost", { privateKeySecretRef, allowed: [{}] });
  const appRef = { kind: "ClusterGitHubApp" as const, name: "lost" };
  await ghapps.installation("lost", { appRef, installationID: ids.pop() ?? 0 }, "team-a");
  await untilReady("lost");
  await ghapps.environment.client.delete(TokenSecret, { namespace: platformNamespace, name: "lost-key" }, {});
  await ghapps.environment.until(Installation, at("lost"), has("Ready", "False", "KeySecretNotFound"));
  await allow("lost", []);
  await untilDenied("lost");
  expect(await ghapps.secret("lost", "team-a")).toBeUndefined();
});
