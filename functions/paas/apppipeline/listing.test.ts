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
const webhook: Cause = { type: "webhook", event: "pull_request", delivery: "d" };

/** A pipeline that was listed, and is to be listed again a second later than now. */
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
    ["when nobody has asked yet", pipeline({ nextListingAt: undefined }), child],
    ["when what is wanted has changed", pipeline({ listedGeneration: 1 }), child],
    ["when it is time, whatever woke it", pipeline({ nextListingAt: "2026-01-02T03:04:05Z" }), child],
    [
      "when somebody wants it refreshed",
      pipeline({}, { annotations: { "modoki.tsuzu.dev/refreshed-at": "1" } }),
      child,
    ],
    ["for a webhook", pipeline(), webhook],
    ["when somebody asks for it by hand", pipeline(), { type: "replay" } as Cause],
    ["for another token, when it did not answer", failed(), changed("Secret")],
    ["for other settings of the site, when it did not answer", failed(), changed("ConfigMap")],
  ])("%s", (_, of, cause) => {
    expect(due(of, cause)).toBe(true);
  });

  test.each([
    ["for what becomes of previews", pipeline(), child],
    ["for the same, when it did not answer", failed(), child],
    ["for a timer or a sweep before it is time", pipeline(), { type: "timer" } as Cause],
    [
      "for a refresh that it has answered",
      pipeline({ refreshedAt: "1" }, { annotations: { "modoki.tsuzu.dev/refreshed-at": "1" } }),
      child,
    ],
    ["for another token, when it has answered", pipeline(), changed("Secret")],
  ])("not %s", (_, of, cause) => {
    expect(due(of, cause)).toBe(false);
  });

  test("for one reason among others that are none", () => {
    expect(due(pipeline(), child, webhook)).toBe(true);
  });
});

test("whoever speaks to GitHub may read its token and the site's settings, and no more Secrets than that", () => {
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
