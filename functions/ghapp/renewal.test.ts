import { describe, expect, test } from "vitest";
import type { Stored } from "../../bus/kube/object.ts";
import type { Find } from "../../bus/objects/indexes.ts";
import type { Cause } from "../../bus/queue/request.ts";
import { webhookPayloads } from "../../bus/webhooks/github/payloads.ts";
import installationFunction from "./installation.ts";
import type { Installation } from "./kinds.ts";
import { changeOf, isRenewalDue, newChange } from "./renewal.ts";
import { keysOfRepository, repositoryKeys } from "./repositories.ts";

const now = Date.parse("2026-11-20T12:00:00Z");

const installation = (status?: Installation["status"], spec: object = {}): Stored<Installation> => ({
  apiVersion: "ghapp.tsuzu.dev/v1alpha1",
  kind: "Installation",
  metadata: { namespace: "a", name: "web", uid: "u", resourceVersion: "1" },
  spec: {
    appRef: { kind: "GitHubApp", name: "app" },
    installationID: 2,
    key: "token",
    template: {},
    ...spec,
  },
  ...(status && { status }),
});
const token = (change: string) => ({ change, refresh: now + 1, expires: now + 2 });
const webhook = (delivery: string): Cause => ({
  type: "webhook",
  provider: "github",
  event: "installation",
  delivery,
});
/** The Installation after the webhooks among the causes were recorded. */
const noted = (of: Stored<Installation>, causes: readonly Cause[], at = now) => {
  const change = newChange(of, { causes, now: () => at });
  return change === undefined ? of : installation({ ...of.status, change });
};

/** All actions that change the permissions or the account of an installation's tokens. */
const actions = {
  installation: ["created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"],
  installation_repositories: ["added", "removed"],
  installation_target: ["renamed"],
} as const;

test.each(
  Object.entries(actions).flatMap(([event, all]) =>
    all.map((action) => [event as keyof typeof actions, action] as const),
  ),
)("%s %s enqueues its Installations, and requires a new token", async (event, action) => {
  const find: Find = async (index, value) => {
    const values = (installationFunction.indexes as Record<string, (object: object) => readonly string[]>)[
      index
    ];
    return values?.(installation()).includes(value) ? [{ namespace: "a", name: "web" }] : [];
  };
  const woken = (id: number) => {
    const data = { action, installation: { id } };
    const at = { provider: "github", event, owner: "acme", repository: "" };
    const webhook = { ...at, delivery: "1", data, traceparent: undefined };
    return installationFunction.webhooks.find((trigger) => trigger.event === event)?.keys(webhook, find);
  };
  expect(await woken(2)).toEqual([{ namespace: "a", name: "web" }]);
  expect(await woken(22)).toEqual([]);
  const after = noted(installation(), [{ type: "webhook", provider: "github", event, delivery: "1" }]);
  expect(isRenewalDue(after, token(""))).toBe(true);
});

test("accepts no other events about installations, and one about repositories", () => {
  const taken = Object.keys(webhookPayloads).filter((name) => name.startsWith("installation"));
  expect(taken.sort()).toEqual(Object.keys(actions).sort());
  const events = installationFunction.webhooks.map(({ event }) => event);
  expect(events.sort()).toEqual([...taken, "repository"].sort());
});

test("keeps a token that is newer than the last change", () => {
  const changed = { group: "", kind: "Secret", namespace: "a", name: "web", uid: "u", resourceVersion: "1" };
  const causes: Cause[] = [{ type: "timer" }, { type: "replay" }, { type: "object", ...changed }];
  expect(newChange(installation(), { causes, now: () => now })).toBeUndefined();
  expect(isRenewalDue(installation(), token(""))).toBe(false);
  const before = noted(installation(), [webhook("1")]);
  expect(newChange(before, { causes, now: () => now })).toBeUndefined();
  expect(isRenewalDue(before, token(changeOf(before)))).toBe(false);
});

test("requires a new token until one was minted for the last change, whatever the cause", () => {
  const first = noted(installation(), [webhook("1")]);
  expect(isRenewalDue(first, token(""))).toBe(true);
  const second = noted(first, [{ type: "timer" }, webhook("2")]);
  expect(isRenewalDue(second, token(changeOf(first)))).toBe(true);
  expect(isRenewalDue(noted(second, [{ type: "timer" }]), token(changeOf(second)))).toBe(false);
  // Without its status, the last change is unknown.
  expect(isRenewalDue(installation(), token(changeOf(second)))).toBe(true);
});

test("records a webhook once, however often the reconcile is retried", () => {
  const both = noted(installation(), [webhook("1"), webhook("2")]);
  for (const causes of [[webhook("1")], [webhook("2"), webhook("1")]])
    expect(newChange(both, { causes, now: () => now + 5000 })).toBeUndefined();
});

test("records each change with a later time, even if a clock is behind", () => {
  const first = noted(installation(), [webhook("1")]);
  for (const later of [now, now - 60_000, now + 1])
    expect(changeOf(noted(first, [webhook("2")], later)) > changeOf(first)).toBe(true);
});

describe("the event repository", () => {
  const repositories = [{ id: 7, fullName: "acme/web" }];
  const all = {
    named: installation({ repositories }, { repositories: ["acme/Web"] }),
    unknown: installation({}, { repositories: ["web"] }),
    ids: installation({}, { repositoryIDs: [7] }),
    all: installation(),
    other: installation({ repositories: [{ id: 8, fullName: "acme/api" }] }, { repositories: ["api"] }),
    elsewhere: installation({}, { repositories: ["web"], installationID: 22 }),
  };
  const find: Find = async (_, value) =>
    Object.entries(all)
      .filter(([, one]) => repositoryKeys(one).includes(value))
      .map(([name]) => ({ namespace: "a", name }));

  test.each<[string, string, object | undefined, string[]]>([
    ["renamed", "site", { repository: { name: { from: "web" } } }, ["all", "ids", "named", "unknown"]],
    ["transferred", "web", {}, ["all", "ids", "named", "unknown"]],
    ["deleted", "web", undefined, ["ids", "named", "unknown"]],
    ["created", "web", undefined, ["ids", "named", "unknown"]],
    ["archived", "web", undefined, []],
    ["privatized", "web", undefined, []],
  ])("%s enqueues the Installations that it concerns", async (action, name, changes, woken) => {
    const payload = { action, changes, repository: { id: 7 }, installation: { id: 2 } };
    const keys = await keysOfRepository(name, payload as never, find);
    expect(keys.map((key) => key.name).sort()).toEqual(woken);
  });

  test("of another installation enqueues those with the repository's id", async () => {
    const payload = { action: "transferred", repository: { id: 7 }, installation: { id: 99 } };
    const keys = await keysOfRepository("web", payload as never, find);
    expect(keys.map((key) => key.name).sort()).toEqual(["ids", "named"]);
  });
});
