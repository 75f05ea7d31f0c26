import { expect, test } from "vitest";
import { webhookPayloads } from "../../bus/events/github/payloads.ts";
import type { Stored } from "../../bus/kube/object.ts";
import type { Find } from "../../bus/objects/indexes.ts";
import type { Cause } from "../../bus/queue/request.ts";
import installationFunction from "./installation.ts";
import type { Installation } from "./kinds.ts";
import { isRenewalDue, renewalMark } from "./renewal.ts";

const now = Date.parse("2026-11-20T12:00:00Z");
const minutes = (n: number): number => n * 60_000;
const at = (ago: number): string => new Date(now - ago).toISOString().replace(/\.\d+Z$/, "Z");

const installation = (refreshAt?: string): Stored<Installation> => ({
  apiVersion: "ghapp.tsuzu.dev/v1alpha1",
  kind: "Installation",
  metadata: { namespace: "a", name: "web", uid: "u", resourceVersion: "1" },
  spec: { appRef: { kind: "GitHubApp", name: "app" }, installationID: 2, key: "token", template: {} },
  ...(refreshAt !== undefined && { status: { refreshAt } }),
});
const token = (issuedAgo: number) => ({
  issued: now - issuedAgo,
  refresh: now + minutes(20),
  expires: now + minutes(30),
});
const isDue = (refreshAt: string | undefined, issuedAgo: number, ...causes: Cause[]) =>
  isRenewalDue(installation(refreshAt), token(issuedAgo), { causes, now: () => now });

/** Every action that changes the permissions or the account of an installation's tokens. */
const actions = {
  installation: ["created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"],
  installation_repositories: ["added", "removed"],
  installation_target: ["renamed"],
} as const;

test.each(
  Object.entries(actions).flatMap(([event, all]) =>
    all.map((action) => [event as keyof typeof actions, action] as const),
  ),
)("%s %s: the Installations of it are woken, and have another token made", async (event, action) => {
  const find: Find = async (index, value) => {
    const values = (installationFunction.indexes as Record<string, (object: object) => readonly string[]>)[
      index
    ];
    return values?.(installation()).includes(value) ? [{ namespace: "a", name: "web" }] : [];
  };
  const woken = (id: number) => {
    const payload = { action, installation: { id } };
    const webhook = { event, delivery: "1", owner: "acme", repository: "", payload, traceparent: undefined };
    return installationFunction.webhooks?.[event]?.(webhook as never, find);
  };
  expect(await woken(2)).toEqual([{ namespace: "a", name: "web" }]);
  expect(await woken(22)).toEqual([]);
  expect(isDue(at(-minutes(20)), minutes(30), { type: "webhook", event, delivery: "1" })).toBe(true);
});

test("no other event about installations is taken", () => {
  const taken = Object.keys(webhookPayloads).filter((name) => name.startsWith("installation"));
  expect(taken.sort()).toEqual(Object.keys(actions).sort());
  expect(Object.keys(installationFunction.webhooks ?? {}).sort()).toEqual(taken.sort());
});

test("without a webhook a token that is as it should be stays", () => {
  const changed = { group: "", kind: "Secret", namespace: "a", name: "web", uid: "u", resourceVersion: "1" };
  const causes: Cause[] = [{ type: "timer" }, { type: "replay" }, { type: "object", ...changed }];
  for (const refreshAt of [undefined, at(-minutes(20))])
    expect(isDue(refreshAt, minutes(30), ...causes), refreshAt).toBe(false);
});

test("a renewal that GitHub did not answer stays due until there is a newer token", () => {
  const since = renewalMark(installation(at(-minutes(20))), { now: () => now - minutes(2) });
  expect(since).toBe(now - minutes(2));
  const mark = new Date(since).toISOString();
  expect(isDue(mark, minutes(30), { type: "timer" })).toBe(true);
  expect(isDue(mark, minutes(1), { type: "timer" })).toBe(false);
  // Made in the second that the mark stands for.
  expect(isDue(at(minutes(2)), minutes(2) - 500, { type: "timer" })).toBe(true);
});

test("the mark of a renewal stays the same while it is due", () => {
  const mark = at(minutes(7));
  expect(renewalMark(installation(mark), { now: () => now })).toBe(Date.parse(mark));
  expect(renewalMark(installation(), { now: () => now })).toBe(now);
});
