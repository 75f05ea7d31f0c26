/** GitHub's webhooks about installations reach the Installations, and lost webhooks are redelivered. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { FaultAnswer } from "../../deploy/simulators/github/faults.ts";
import { GitHubApp, Installation } from "../../functions/ghapp/kinds.ts";
import { examplePayload } from "../github/payloads.ts";
import { type GatewayReplica, hookSecret } from "../harness/environment.ts";
import { type GhApps, startGhApps } from "../harness/ghapp.ts";
import { conditionOf, has } from "../harness/testobjects.ts";

const timeout = 100_000;
const delivered = "WebhooksDelivered";
const graceMillis = 30_000;

let ghapps: GhApps;
let gateway: GatewayReplica;
/** Installation IDs, one per test, so that tests can tell their requests apart. */
let ids: number[];
beforeAll(async () => {
  const installations = Array.from({ length: 8 }, () => ({ account: "acme" }));
  ghapps = await startGhApps({ apps: [{ webhookSecret: hookSecret, installations }] });
  ids = ghapps.github.apps[0]?.installations.map(({ id }) => id) ?? [];
  gateway = await ghapps.environment.gateway("gateway-1");
  ghapps.github.deliverTo([gateway.hookUrl()]);
  await ghapps.keySecret("default");
  await ghapps.app("app");
  await ghapps.environment.until(GitHubApp, { name: "app" }, has(delivered, "True", "Delivered"));
});
afterAll(() => ghapps?.stop());

/** Sends a webhook about an installation; resolves with its outcome. */
const tell = (action: string, installation: number) =>
  ghapps.github.send("installation", examplePayload("installation", { action, installation }));

const until = (name: string, status: "True" | "False", reason?: string) =>
  ghapps.environment.until(Installation, { name }, has("Ready", status, reason));

/** Makes the App check for failed deliveries, as every five minutes. */
async function look(): Promise<void> {
  await ghapps.touch(GitHubApp, "app");
  await ghapps.untilQuiet();
}

/** Sets the answer to an installation's requests. */
function answers(id: number, method: string, path: string, answer: FaultAnswer): { remove(): void } {
  const injected = ghapps.github.fault(
    { method, path: new RegExp(`^/app/installations/${id}${path}$`) },
    answer,
  );
  onTestFinished(() => injected.remove());
  return injected;
}

/** Requests about an installation since the last call. */
function asker(id: number): () => string[] {
  const path = `/app/installations/${id}`;
  let seen = 0;
  return () => {
    const all = ghapps.github.requests().filter((request) => `${request.path}/`.startsWith(`${path}/`));
    const since = all.slice(seen);
    seen = all.length;
    return since.map(({ method, path: asked }) => `${method} ${asked.replace(path, "")}`.trim()).sort();
  };
}

test("a deleted installation makes exactly its Installations unready, until it is restored", async () => {
  const [gone, other] = ids.splice(0, 2) as [number, number];
  await ghapps.installation("gone", { installationID: gone });
  await ghapps.installation("gone-too", { installationID: gone });
  await ghapps.installation("other", { installationID: other });
  for (const name of ["gone", "gone-too", "other"]) await until(name, "True");
  await ghapps.untilQuiet();
  const token = await ghapps.token("gone");
  const [askedGone, askedOther] = [asker(gone), asker(other)];
  expect(askedGone()).toHaveLength(2);
  expect(askedOther()).toHaveLength(1);

  const refused = answers(gone, "POST", "/access_tokens", { status: 404, body: '{"message":"Not Found"}' });
  expect(await tell("deleted", gone)).toMatchObject({ status_code: 202 });
  for (const name of ["gone", "gone-too"]) {
    const { status } = await until(name, "False", "NotFound");
    expect(status?.message).toContain("The App is not installed there (any more)");
  }
  await ghapps.untilQuiet();
  expect(askedGone()).toEqual(["POST /access_tokens", "POST /access_tokens"]);
  expect(askedOther()).toEqual([]);
  // The earlier token is still in the Secret, but is no reason to be ready again.
  await ghapps.touch(Installation, "gone");
  await ghapps.untilQuiet();
  expect(askedGone()).toEqual(["POST /access_tokens"]);
  await until("gone", "False", "NotFound");

  refused.remove();
  await tell("created", gone);
  for (const name of ["gone", "gone-too"]) await until(name, "True");
  await ghapps.untilQuiet();
  expect(askedGone()).toEqual(["POST /access_tokens", "POST /access_tokens"]);
  expect(await ghapps.token("gone")).not.toBe(token);
  const { status } = await ghapps.environment.client.get(Installation, {
    namespace: "default",
    name: "other",
  });
  expect(status?.ready).toBe(true);
});

test("a suspended installation is not ready until the suspension ends", async () => {
  const [id] = ids.splice(0, 1) as [number];
  await ghapps.installation("suspended", { installationID: id });
  await until("suspended", "True");
  const message = "This installation has been suspended";
  const refused = answers(id, "POST", "/access_tokens", { status: 403, body: JSON.stringify({ message }) });
  await tell("suspend", id);
  const { status } = await until("suspended", "False", "Forbidden");
  expect(status?.message).toContain(message);
  refused.remove();
  await tell("unsuspend", id);
  await until("suspended", "True");
  await ghapps.untilQuiet();
  expect(ghapps.mints(id).map(({ status }) => status)).toEqual([201, 403, 201]);
});

test("keeps the token while GitHub is unavailable after a webhook, and gets another one when it is back", async () => {
  const [id] = ids.splice(0, 1) as [number];
  await ghapps.installation("steady", { installationID: id });
  const { status } = await until("steady", "True");
  const token = await ghapps.token("steady");
  await ghapps.untilQuiet();
  const away = answers(id, "POST", "/access_tokens", "reset");
  const asked = asker(id);
  asked();
  await tell("new_permissions_accepted", id);
  await expect.poll(asked, { timeout }).toEqual(["POST /access_tokens"]);
  await ghapps.untilQuiet();
  const now = await ghapps.environment.client.get(Installation, { namespace: "default", name: "steady" });
  expect(now.status).toMatchObject({ ready: true, expiresAt: status?.expiresAt });
  expect(conditionOf(now)?.status).toBe("True");
  expect(await ghapps.token("steady")).toBe(token);

  away.remove();
  await ghapps.touch(Installation, "steady");
  await expect.poll(() => ghapps.token("steady"), { timeout }).not.toBe(token);
  await ghapps.untilQuiet();
  expect(asked()).toEqual(["POST /access_tokens"]);
});

test("an enterprise installation has tokens, and its webhooks arrive", async () => {
  const [id] = ids.splice(0, 1) as [number];
  const account = {
    id: 7,
    slug: "my-company",
    name: "My Company",
    html_url: "https://github.com/enterprises/my-company",
  };
  const of = { id, app_id: ghapps.github.apps[0]?.id, account, permissions: {}, repository_selection: "all" };
  answers(id, "GET", "", { status: 200, body: JSON.stringify(of) });
  await ghapps.app("enterprise", { allowed: [{ repositories: ["*/*"] }] });
  const appRef = { kind: "GitHubApp", name: "enterprise" } as const;
  await ghapps.installation("enterprise", { appRef, installationID: id });
  await until("enterprise", "True");
  const payload = examplePayload("installation", { action: "created", installation: id });
  const enterprise = {
    ...payload,
    installation: { ...payload.installation, account, target_type: "Enterprise" },
  };
  expect(await ghapps.github.send("installation", enterprise)).toMatchObject({ status_code: 202 });
});

test("a renamed repository: the Installation that names it gets a new token, others do not", async () => {
  const [id] = ids.splice(0, 1) as [number];
  await ghapps.installation("names-web", { installationID: id, repositories: ["web"] });
  await ghapps.installation("names-api", { installationID: id, repositories: ["api"] });
  for (const name of ["names-web", "names-api"]) await until(name, "True");
  await ghapps.untilQuiet();
  const tokens = () => Promise.all(["names-web", "names-api"].map((name) => ghapps.token(name)));
  const [web, api] = await tokens();
  const repository = { id: 4711, full_name: "acme/site" };
  const renamed = {
    ...examplePayload("repository", { action: "renamed", installation: id, repository }),
    changes: { repository: { name: { from: "web" } } },
  };
  expect(await ghapps.github.send("repository", renamed)).toMatchObject({ status_code: 202 });
  await expect.poll(() => ghapps.token("names-web"), { timeout }).not.toBe(web);
  await ghapps.untilQuiet();
  expect((await tokens())[1]).toBe(api);
});

test("redelivers webhooks that were lost while no gateway was running", async () => {
  const { github, environment } = ghapps;
  const [id] = ids.splice(0, 1) as [number];
  await ghapps.installation("missed", { installationID: id });
  await until("missed", "True");
  await ghapps.untilQuiet();
  await gateway.stop();
  const lost = [await tell("new_permissions_accepted", id), await tell("unsuspend", id)];
  expect(lost.map(({ status_code }) => status_code)).toEqual([502, 502]);

  await gateway.start();
  github.deliverTo([gateway.hookUrl()]);
  const attempts = () =>
    lost.map(({ guid }) =>
      github
        .deliveries()
        .filter((delivery) => delivery.guid === guid)
        .map(({ redelivery, status_code }) => `${redelivery} ${status_code}`),
    );
  const failed = ["false 502"];
  const arrived = [...failed, "true 202"];
  // A recent attempt is ignored for 30 seconds.
  await look();
  expect(attempts()).toEqual([failed, failed]);
  github.ageDeliveries(graceMillis);
  await look();
  await expect.poll(attempts, { timeout, interval: 20 }).toEqual([arrived, arrived]);
  const routed = () =>
    ghapps.workers
      .flatMap((worker) => worker.log.records())
      .filter(({ msg, delivery }) => msg === "webhook routed" && lost.some(({ guid }) => guid === delivery))
      .map(({ keys }) => keys);
  await expect.poll(routed, { timeout }).toEqual([["default/missed"], ["default/missed"]]);

  const at = { namespace: "default", name: "app" };
  const events = async () => (await ghapps.events("app")).map(({ type, reason }) => `${type} ${reason}`);
  await expect.poll(events, { timeout }).toContain("Warning WebhooksNotDelivered");
  await look();
  await environment.until(GitHubApp, at, has(delivered, "True", "Delivered"));
  await ghapps.untilQuiet();
  expect(attempts()).toEqual([arrived, arrived]);
});

test("rejects a webhook with an unreadable payload permanently, and requests no redelivery", async () => {
  const { github, environment } = ghapps;
  const sent = await github.send("installation", { action: "created", installation: { id: 1 } });
  expect(sent).toMatchObject({ status_code: 422 });
  github.ageDeliveries(graceMillis);
  await look();
  await environment.until(GitHubApp, { name: "app" }, has(delivered, "False", "Refused"));
  await ghapps.untilQuiet();
  expect(github.deliveries().filter(({ guid }) => guid === sent.guid)).toHaveLength(1);
});

test("reports a webhook that a gateway rejects on the App, which stays ready", async () => {
  const { github, environment } = ghapps;
  // A hook for which the gateway has no secret.
  github.deliverTo([gateway.hookUrl().replace(/app$/, "wrong")]);
  expect(await tell("created", ids[0] ?? 0)).toMatchObject({ status_code: 401 });
  const at = { namespace: "default", name: "app" };
  github.ageDeliveries(graceMillis);
  await look();
  const app = await environment.client.get(GitHubApp, at);
  expect(conditionOf(app, delivered)).toMatchObject({ status: "False", reason: "Redelivering" });
  expect(conditionOf(app)?.status).toBe("True");
});
