/** Changes at GitHub replace the token in an Installation's Secret, and the tokens of workers. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { allowedUrlsVariable } from "../../bus/github/allowed.ts";
import type { Cause } from "../../bus/queue/request.ts";
import { type SimulatedGitHub, startGitHub } from "../../deploy/simulators/github/github.ts";
import { MemoryInstallation, start } from "./memoryinstallation.ts";

const names = ["acme/again", "acme/quota", "acme/key", "acme/old", "acme/moved", "acme/kept"];
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

const uses = async (token: string, path: string): Promise<number> => {
  const answer = await fetch(`${github.url}/api/v3${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await answer.body?.cancel();
  return answer.status;
};

test("gets new tokens, also for workers, when a repository is recreated and added again", async () => {
  const installation = new MemoryInstallation(github, "again");
  expect(await installation.reconcile(timer)).toBeUndefined();
  const [stored, api] = [installation.stored(), await installation.apiToken()];
  expect(await installation.apiToken()).toBe(api);
  expect(await uses(api, "/repos/acme/again")).toBe(200);
  await github.api("DELETE", "/repos/acme/again");
  await github.createRepository("acme/again");
  expect(await uses(api, "/repos/acme/again")).toBe(404);

  expect(await installation.reconcile(installation.webhook("installation_repositories"))).toBeUndefined();
  expect(installation.stored()).not.toBe(stored);
  expect(await uses(await installation.apiToken(), "/repos/acme/again")).toBe(200);
  const after = await installation.apiToken();
  expect(await installation.reconcile(timer)).toBeUndefined();
  expect(await installation.apiToken()).toBe(after);
});

test("denies tokens, also to workers, when the account was renamed", async () => {
  const installation = new MemoryInstallation(github, "moved");
  expect(await installation.reconcile(timer)).toBeUndefined();
  const api = await installation.apiToken();
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
  expect(await installation.apiToken()).toBe(api);
  expect(await installation.reconcile(installation.webhook("installation_target"))).toBe("NotAllowed");
  expect(installation.stored()).toBeUndefined();
  await expect(installation.apiToken()).rejects.toMatchObject({ reason: "NotAllowed" });
});

const blocks: Record<string, { set(of: MemoryInstallation, isBlocked: boolean): void; reason: string }> = {
  key: { set: (of, isBlocked) => of.setKey(!isBlocked), reason: "KeySecretNotFound" },
  quota: { set: (of, isBlocked) => of.setOverQuota(isBlocked), reason: "QuotaExceeded" },
};

test.each(Object.entries(blocks))(
  "keeps a renewal due while it is blocked: %s",
  async (repo, { set, reason }) => {
    const installation = new MemoryInstallation(github, repo);
    expect(await installation.reconcile(timer)).toBeUndefined();
    const before = installation.stored();
    const webhook = installation.webhook("installation_repositories");
    set(installation, true);
    expect(await installation.reconcile(webhook)).toBe(reason);
    const writes = installation.statusWrites();
    const { change } = installation.status() ?? {};
    // Like the sweep, which does not know about the webhook, and like the retry.
    for (const cause of [timer, webhook]) expect(await installation.reconcile(cause)).toBe(reason);
    expect(installation.ready()).toMatchObject({ status: "False", reason });
    expect(installation.status()?.change).toEqual(change);
    expect(installation.statusWrites()).toBe(writes);
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
  const installation = new MemoryInstallation(github, "old");
  expect(await installation.reconcile(timer)).toBeUndefined();
  expect(installation.status()?.repositories).toMatchObject([{ fullName: "acme/old" }]);
  await github.renameRepository("acme/old", "new");
  expect(await installation.reconcile(installation.webhook("repository"))).toBe("RepositoryRenamed");
  const message = installation.ready()?.message;
  expect(message).toContain("acme/old is now acme/new. Set new instead of old in spec.repositories");
  expect(message).toContain("update spec.allowed of the GitHubApp app");
  await expect(installation.apiToken()).rejects.toMatchObject({ reason: "RepositoryRenamed", message });
  const tokens = github.tokens();
  expect(github.permissionsOf(tokens.at(-1) ?? "")).toBeUndefined();
});

test("a repository that was not renamed and gets no token is reported as before", async () => {
  const installation = new MemoryInstallation(github, "kept");
  expect(await installation.reconcile(timer)).toBeUndefined();
  await github.api("DELETE", "/repos/acme/kept");
  expect(await installation.reconcile(installation.webhook("repository"))).toBe("Refused");
});
