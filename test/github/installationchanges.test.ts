/** Changes at GitHub replace the token in an Installation's Secret, and the tokens of workers. */
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { allowedUrlsVariable } from "../../bus/github/allowed.ts";
import { type ConditionUpdate, withConditions } from "../../bus/kube/conditions.ts";
import { ApiError } from "../../bus/kube/errors.ts";
import type { SecretObject } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import type { Cause } from "../../bus/queue/request.ts";
import { BlockedError } from "../../bus/worker/errors.ts";
import type { Context } from "../../bus/worker/function.ts";
import { mergePatched } from "../../bus/worker/writes.ts";
import { type SimulatedGitHub, startGitHub } from "../../deploy/simulators/github/github.ts";
import { apiTokenOf } from "../../functions/ghapp/apitoken.ts";
import installationFunction from "../../functions/ghapp/installation.ts";
import type { Installation } from "../../functions/ghapp/kinds.ts";
import { base64 } from "../harness/secretvalues.ts";

const names = ["acme/again", "acme/quota", "acme/key", "acme/old", "acme/moved", "acme/kept"];
const start = Date.parse("2026-11-26T12:00:00Z");
const timer: Cause = { type: "timer" };

let github: SimulatedGitHub;
let allowedBefore: string | undefined;
beforeAll(async () => {
  github = await startGitHub({ repositories: names });
  allowedBefore = process.env[allowedUrlsVariable];
  process.env[allowedUrlsVariable] = github.url;
});
afterAll(async () => {
  if (allowedBefore === undefined) delete process.env[allowedUrlsVariable];
  else process.env[allowedUrlsVariable] = allowedBefore;
  await github?.stop();
});

const object = (kind: string, name: string, rest: object): Stored =>
  ({
    kind,
    metadata: { namespace: "team-a", name, uid: `${kind} ${name}`, resourceVersion: "1" },
    ...rest,
  }) as Stored;

/** An Installation for a repository of acme in an in-memory cluster, and calls of the function. */
function installationOf(repo: string) {
  const app = github.apps[0];
  if (app === undefined) throw new Error("expected an App");
  const objects = new Map<string, Stored>();
  const put = (one: Stored) => objects.set(`${one.kind} ${one.metadata.name}`, one);
  const key = object("Secret", "app-key", { data: { pem: base64(app.privateKey) } });
  const privateKeySecretRef = { name: "app-key", key: "pem" };
  const allowed = [{ repositories: ["acme/*"] }];
  put(object("GitHubApp", "app", { spec: { url: github.url, appID: app.id, privateKeySecretRef, allowed } }));
  put(key);
  let now = start;
  let deliveries = 0;
  let quota = false;
  let writes = 0;
  let installation = object("Installation", repo, {
    spec: {
      appRef: { kind: "GitHubApp", name: "app" },
      installationID: app.installations[0]?.id,
      repositories: [repo],
      apiPermissions: { pull_requests: "write" },
      format: "basic-auth",
      template: {},
    },
  }) as Stored<Installation>;
  const write = (one: Stored): Stored => {
    const exceeded = { reason: "Forbidden", message: "exceeded quota: secrets" };
    if (quota) throw new ApiError(`PATCH ${one.metadata.name}`, 403, exceeded);
    put(one);
    return one;
  };
  const get = async ({ kind }: { kind: string }, name: string) => objects.get(`${kind} ${name}`);
  const contextFor = (...causes: Cause[]) =>
    ({
      key: { namespace: "team-a", name: repo },
      causes,
      signal: new AbortController().signal,
      log: { warn() {}, info() {} },
      now: () => now,
      assertOwned() {},
      event() {},
      read: { get },
      live: { get },
      create: async (_: unknown, child: KubeObject) =>
        write({
          ...child,
          kind: "Secret",
          metadata: {
            ...child.metadata,
            ...{ uid: "made", resourceVersion: "1", ownerReferences: [{ uid: installation.metadata.uid }] },
          },
        } as Stored),
      patch: async (_: unknown, found: Stored, patch: object) => write(mergePatched(found, patch) as Stored),
      delete: async (_: unknown, { kind, metadata }: Stored) => objects.delete(`${kind} ${metadata.name}`),
      async status(_: unknown, found: Stored<Installation>, status: object, updates?: ConditionUpdate[]) {
        const conditions =
          updates &&
          withConditions(found.status?.conditions as never, updates, { generation: 1, now: new Date(now) });
        const merged = mergePatched(found.status, { ...status, ...(conditions && { conditions }) });
        if (!isDeepStrictEqual(merged, found.status)) writes++;
        installation = { ...found, status: merged } as Stored<Installation>;
        return installation;
      },
    }) as unknown as Context;
  return {
    status: () => installation.status,
    ready: () => installation.status?.conditions?.find(({ type }) => type === "Ready"),
    writes: () => writes,
    webhook: (event: string): Cause => ({ type: "webhook", event, delivery: String(++deliveries) }),
    takeKey: () => objects.delete("Secret app-key"),
    giveKey: () => put(key),
    limit(to: boolean) {
      quota = to;
    },
    /** Reconciles once. Resolves to the reason of the BlockedError, if any. */
    async reconcile(...causes: Cause[]): Promise<string | undefined> {
      now += 1000;
      try {
        await installationFunction.reconcile(installation, contextFor(...causes));
        return undefined;
      } catch (error) {
        if (error instanceof BlockedError) return error.reason;
        throw error;
      }
    },
    stored: () => (objects.get(`Secret ${repo}`) as SecretObject | undefined)?.data?.password,
    async api(): Promise<string> {
      return (await apiTokenOf(installation, "write", contextFor())).token;
    },
  };
}

const uses = async (token: string, path: string): Promise<number> => {
  const answer = await fetch(`${github.url}/api/v3${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await answer.body?.cancel();
  return answer.status;
};

test("gets new tokens, also for workers, when a repository is recreated and added again", async () => {
  const installation = installationOf("again");
  expect(await installation.reconcile(timer)).toBeUndefined();
  const [stored, api] = [installation.stored(), await installation.api()];
  expect(await installation.api()).toBe(api);
  expect(await uses(api, "/repos/acme/again")).toBe(200);
  await github.api("DELETE", "/repos/acme/again");
  await github.createRepository("acme/again");
  expect(await uses(api, "/repos/acme/again")).toBe(404);

  expect(await installation.reconcile(installation.webhook("installation_repositories"))).toBeUndefined();
  expect(installation.stored()).not.toBe(stored);
  expect(await uses(await installation.api(), "/repos/acme/again")).toBe(200);
  const after = await installation.api();
  expect(await installation.reconcile(timer)).toBeUndefined();
  expect(await installation.api()).toBe(after);
});

test("denies tokens, also to workers, when the account was renamed", async () => {
  const installation = installationOf("moved");
  expect(await installation.reconcile(timer)).toBeUndefined();
  const api = await installation.api();
  const body = {
    ...{ token: "ghs_of_another_account", expires_at: new Date(start + 3_600_000).toISOString() },
    ...{ permissions: { contents: "read" }, repository_selection: "selected" },
    repositories: [{ id: 1, full_name: "other/moved" }],
  };
  const renamed = github.fault(
    { method: "POST", path: /access_tokens$/ },
    {
      status: 201,
      body: JSON.stringify(body),
    },
  );
  onTestFinished(() => renamed.remove());
  expect(await installation.api()).toBe(api);
  expect(await installation.reconcile(installation.webhook("installation_target"))).toBe("NotAllowed");
  expect(installation.stored()).toBeUndefined();
  await expect(installation.api()).rejects.toMatchObject({ reason: "NotAllowed" });
});

const blocks: Record<
  string,
  { set(of: ReturnType<typeof installationOf>, on: boolean): void; reason: string }
> = {
  key: { set: (of, on) => void (on ? of.takeKey() : of.giveKey()), reason: "KeySecretNotFound" },
  quota: { set: (of, on) => of.limit(on), reason: "QuotaExceeded" },
};

test.each(Object.entries(blocks))(
  "keeps a renewal due while it is blocked: %s",
  async (repo, { set, reason }) => {
    const installation = installationOf(repo);
    expect(await installation.reconcile(timer)).toBeUndefined();
    const before = installation.stored();
    const webhook = installation.webhook("installation_repositories");
    set(installation, true);
    expect(await installation.reconcile(webhook)).toBe(reason);
    const writes = installation.writes();
    const { change } = installation.status() ?? {};
    // Like the sweep, which does not know about the webhook, and like the retry.
    for (const cause of [timer, webhook]) expect(await installation.reconcile(cause)).toBe(reason);
    expect(installation.ready()).toMatchObject({ status: "False", reason });
    expect(installation.status()?.change).toEqual(change);
    expect(installation.writes()).toBe(writes);
    set(installation, false);
    expect(await installation.reconcile(timer)).toBeUndefined();
    expect(installation.stored()).not.toBe(before);
    expect(installation.ready()?.status).toBe("True");
    const renewed = installation.stored();
    expect(await installation.reconcile(webhook)).toBeUndefined();
    expect(installation.stored()).toBe(renewed);
  },
);

test("an Installation of a renamed repository reports the new name and is blocked until it is used", async () => {
  const installation = installationOf("old");
  expect(await installation.reconcile(timer)).toBeUndefined();
  expect(installation.status()?.repositories).toMatchObject([{ fullName: "acme/old" }]);
  await github.renameRepository("acme/old", "new");
  expect(await installation.reconcile(installation.webhook("repository"))).toBe("RepositoryRenamed");
  const message = installation.ready()?.message;
  expect(message).toContain("acme/old is now acme/new. Set new instead of old in spec.repositories");
  expect(message).toContain("update spec.allowed of the GitHubApp app");
  await expect(installation.api()).rejects.toMatchObject({ reason: "RepositoryRenamed", message });
  const tokens = github.tokens();
  expect(github.permissionsOf(tokens.at(-1) ?? "")).toBeUndefined();
});

test("a repository that was not renamed and gets no token is reported as before", async () => {
  const installation = installationOf("kept");
  expect(await installation.reconcile(timer)).toBeUndefined();
  await github.api("DELETE", "/repos/acme/kept");
  expect(await installation.reconcile(installation.webhook("repository"))).toBe("Refused");
});
