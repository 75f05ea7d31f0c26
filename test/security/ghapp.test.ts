/** The functions of GitHub Apps with exactly their generated permissions, each as a separate user. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Kind } from "../../bus/kube/kind.ts";
import { gatewayName } from "../../deploy/generate/rbac.ts";
import { ClusterGitHubApp, GitHubApp, Installation } from "../../functions/ghapp/kinds.ts";
import { TokenSecret } from "../../functions/ghapp/secret.ts";
import { functions } from "../../functions/index.ts";
import { examplePayload } from "../github/payloads.ts";
import { hookSecret } from "../harness/environment.ts";
import { type GhApps, platformNamespace, startGhApps } from "../harness/ghapp.ts";
import { createNamespace } from "../harness/namespaces.ts";
import { accountUser } from "../harness/rights.ts";
import { conditionOf, has } from "../harness/testobjects.ts";
import { unwritten } from "./exercised.ts";

const names = ["githubapp", "clustergithubapp", "installation"];
const ours = functions.filter(({ name }) => names.includes(name));
/** A namespace that is not opted in. */
const closed = "closed";
const timeout = 60_000;
const at = (name: string) => ({ namespace: "default", name });

let ghapps: GhApps;
beforeAll(async () => {
  const installations = [{ account: "acme" }, { account: "acme" }];
  ghapps = await startGhApps({ workers: "one each", apps: [{ webhookSecret: hookSecret, installations }] });
  const gateway = await ghapps.environment.gateway("gateway-1", {
    env: await ghapps.accounts.env("gateway"),
  });
  ghapps.github.deliverTo([gateway.hookUrl()]);
  for (const namespace of ["default", platformNamespace]) await ghapps.keySecret(namespace);
});
afterAll(() => ghapps?.stop());

const ready = (name: string) => ghapps.environment.until(Installation, at(name), has("Ready", "True"));

/** Waits until the Secret has a different token. */
async function untilRenewed(name: string, token: string | undefined): Promise<void> {
  const isRenewed = async () => {
    const found = await ghapps.token(name);
    return found !== undefined && found !== token;
  };
  await expect.poll(isRenewed, { timeout }).toBe(true);
}

test("where Secrets may not be read, the condition names the command that grants it", async () => {
  const { environment } = ghapps;
  await createNamespace(environment.client, closed);
  await ghapps.keySecret(closed);
  await ghapps.app("app", {}, closed);
  const denied = has("Ready", "False", "SecretAccessDenied");
  const app = await environment.until(GitHubApp, { namespace: closed, name: "app" }, denied);
  await ghapps.installation("own", {}, closed);
  const installation = await environment.until(Installation, { namespace: closed, name: "own" }, denied);
  for (const object of [app, installation])
    expect(conditionOf(object)?.message).toContain(`denrei opt-in ${closed}`);
  expect(ghapps.mints()).toEqual([]);
});

test("the permissions suffice for the whole life of the objects", async () => {
  const { environment, github } = ghapps;
  const [first = 0, second = 0] = github.apps[0]?.installations.map(({ id }) => id) ?? [];
  await ghapps.app("app");
  await ghapps.clusterApp("main", { allowed: [{ namespaces: ["default"] }] });
  await environment.until(GitHubApp, at("app"), has("WebhooksDelivered", "True"));
  await environment.until(ClusterGitHubApp, { name: "main" }, has("WebhooksDelivered", "True"));
  const appRef = { kind: "ClusterGitHubApp" as const, name: "main" };
  await ghapps.installation("own", { installationID: first });
  await ghapps.installation("shared", { installationID: second, appRef });
  for (const name of ["own", "shared"]) {
    await ready(name);
    expect(await ghapps.use(await ghapps.token(name), "GET /repos/acme/web")).toBe(200);
  }

  const before = await ghapps.token("own");
  await environment.client.delete(TokenSecret, at("own"), {});
  await untilRenewed("own", before);
  const made = await ghapps.token("own");
  await ghapps.patch(Installation, "own", { spec: { template: { metadata: { labels: { team: "a" } } } } });
  await untilRenewed("own", made);

  // GitHub reports that the installation no longer exists.
  const gone = github.fault(
    { path: new RegExp(`^/app/installations/${first}(/access_tokens)?$`) },
    { status: 404, body: '{"message":"Not Found"}' },
  );
  await github.send(
    "installation",
    examplePayload("installation", { action: "deleted", installation: first }),
  );
  await environment.until(Installation, at("own"), has("Ready", "False", "NotFound"));
  gone.remove();
  await ghapps.touch(Installation, "own");
  await ready("own");

  const shared = await ghapps.token("shared");
  await ghapps.patch(ClusterGitHubApp, { name: "main" }, { spec: { allowed: [] } });
  await environment.untilGone(TokenSecret, at("shared"));
  await expect.poll(() => ghapps.use(shared, "GET /repos/acme/web"), { timeout }).toBe(401);

  // An invalid key, which they report in an Event as well.
  await ghapps.patch(TokenSecret, at("gh-app-key"), { data: { "private-key.pem": "bm9uZQ==" } });
  await environment.until(GitHubApp, at("app"), has("Ready", "False"));
  await ghapps.patch(TokenSecret, { namespace: platformNamespace, name: "gh-app-key" }, { data: null });
  await environment.until(ClusterGitHubApp, { name: "main" }, has("Ready", "False"));

  for (const kind of [Installation, GitHubApp, ClusterGitHubApp] as readonly Kind[]) {
    for (const { metadata } of (await environment.client.list(kind)).items)
      await environment.client.delete(kind, metadata, {});
    for (const { metadata } of (await environment.client.list(kind)).items)
      await environment.untilGone(kind, metadata);
  }
  await ghapps.untilQuiet();
  await Promise.all(ghapps.workers.map((worker) => worker.stop()));
  const asked = await ghapps.accounts.asked();
  expect(asked.filter((one) => one.refused !== "no" && one.namespace !== closed)).toEqual([]);
  expect(unwritten(ours, asked)).toEqual([]);
  expect(asked.filter(({ user }) => user === accountUser(gatewayName))).toEqual([]);
});
