import { describe, expect, test } from "vitest";
import type { Stored } from "../../../bus/kube/object.ts";
import type { Cause } from "../../../bus/queue/request.ts";
import { workerRules } from "../../../bus/worker/rbac.ts";
import apppipeline from "../apppipeline.ts";
import type { AppPipeline } from "../kinds/apppipeline.ts";
import report from "../report.ts";
import { isDue } from "./listing.ts";

const now = new Date("2026-01-02T03:04:05Z");
const changed = (kind: string): Cause => ({
  type: "object",
  ...{ group: "", kind, namespace: "default", name: "x", uid: "u", resourceVersion: "1" },
});
const child = changed("RemoteSync");
const webhook: Cause = { type: "webhook", provider: "github", event: "pull_request", delivery: "d" };

/** A pipeline that was listed, and is due again in a second. */
const pipeline = (status: object = {}, metadata: object = {}, listed = "True") =>
  ({
    metadata: { name: "web", generation: 2, annotations: {}, ...metadata },
    spec: {},
    status: {
      listedGeneration: 2,
      nextListingAt: "2026-01-02T03:04:06Z",
      conditions: [{ type: "PullRequestsListed", status: listed }],
      ...status,
    },
  }) as unknown as Stored<AppPipeline>;
const failed = (status: object = {}) => pipeline(status, {}, "False");
const due = (of: Stored<AppPipeline>, ...causes: Cause[]) => isDue(of, now, { causes });

describe("GitHub is asked", () => {
  test.each([
    ["before the first listing", pipeline({ nextListingAt: undefined }), child],
    ["after a change of the spec", pipeline({ listedGeneration: 1 }), child],
    ["when it is due, whatever the cause", pipeline({ nextListingAt: "2026-01-02T03:04:05Z" }), child],
    [
      "for a requested refresh",
      pipeline({}, { annotations: { "modoki.tsuzu.dev/refreshed-at": "1" } }),
      child,
    ],
    ["for a webhook", pipeline(), webhook],
    ["for a replay", pipeline(), { type: "replay" } as Cause],
    ["for another token after a failure", failed(), changed("Secret")],
    ["for other settings of the site after a failure", failed(), changed("ConfigMap")],
  ])("%s", (_, of, cause) => {
    expect(due(of, cause)).toBe(true);
  });

  test.each([
    ["for a change of a preview", pipeline(), child],
    ["for a change of a preview after a failure", failed(), child],
    ["for a timer or a sweep before it is due", pipeline(), { type: "timer" } as Cause],
    [
      "for a handled refresh",
      pipeline({ refreshedAt: "1" }, { annotations: { "modoki.tsuzu.dev/refreshed-at": "1" } }),
      child,
    ],
    ["for another token after a success", pipeline(), changed("Secret")],
  ])("not %s", (_, of, cause) => {
    expect(due(of, cause)).toBe(false);
  });

  test("for one valid cause among others", () => {
    expect(due(pipeline(), child, webhook)).toBe(true);
  });
});

test("allows functions that use GitHub to read the token and the site's settings, and no other Secrets", () => {
  for (const fn of [apppipeline, report]) {
    expect(workerRules(fn, "opted-in")).toEqual([
      { apiGroups: [""], resources: ["secrets"], verbs: ["get"] },
    ]);
    expect(workerRules(fn, "all")).toContainEqual({
      apiGroups: [""],
      resources: ["configmaps", "namespaces"],
      verbs: ["get"],
    });
  }
});
