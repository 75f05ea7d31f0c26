import { describe, expect, test } from "vitest";
import type { Condition, Stored } from "../../../bus/kube/object.ts";
import type { Cause } from "../../../bus/queue/request.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { annotations } from "../names.ts";
import { verdictOf, waitMillis } from "./due.ts";
import { sourceText } from "./source.ts";

const now = Date.parse("2026-01-01T00:00:00Z");
const at = (millis: number): string => new Date(now + millis).toISOString();

const spec: RemoteSync["spec"] = {
  applicationRef: { name: "web" },
  base: { github: { owner: "acme", repo: "web", branch: "main", secretName: "token" } },
  image: { name: "registry.example.com/acme/web" },
};

interface As {
  readonly resolved?: readonly [Condition["status"], string] | "never";
  readonly status?: Partial<NonNullable<RemoteSync["status"]>>;
  readonly refreshedAt?: string;
  readonly headSHA?: string;
  readonly generation?: number;
}

/** One of which all is known, but for what is said. */
function sync({ resolved = ["True", "Resolved"], status, refreshedAt, headSHA, generation = 1 }: As = {}) {
  const condition = resolved !== "never" && {
    type: "SourceResolved",
    status: resolved[0],
    reason: resolved[1],
    message: "as it was",
    lastTransitionTime: at(0),
  };
  return {
    apiVersion: "modoki.tsuzu.dev/v1alpha1",
    kind: "RemoteSync",
    metadata: {
      namespace: "default",
      name: "web",
      uid: "u",
      resourceVersion: "1",
      generation,
      annotations: {
        ...(refreshedAt !== undefined && { [annotations.refreshedAt]: refreshedAt }),
        ...(headSHA !== undefined && { [annotations.headSHA]: headSHA }),
      },
    },
    spec,
    status: {
      observedGeneration: 1,
      revision: "a".repeat(40),
      source: sourceText({ spec }),
      conditions: condition ? [condition] : [],
      ...status,
    },
  } satisfies Stored<RemoteSync>;
}

const object = (kind: string): Cause => ({
  type: "object",
  group: "",
  kind,
  namespace: "default",
  name: "web",
  uid: "u",
  resourceVersion: "1",
});
const webhook: Cause = { type: "webhook", event: "push", delivery: "d" };
const timer: Cause = { type: "timer" };
const secret = object("Secret");

const verdict = (as: As, ...causes: Cause[]) => verdictOf(sync(as), causes, now);
const isDue = (as: As, ...causes: Cause[]): boolean => verdict(as, ...causes) === "due";

test.each(["Build", "Image", "Application", "ServiceAccount", "RemoteSync", "ConfigMap", "Secret"])(
  "a changed %s is no reason to ask for what is known",
  (kind) => {
    expect(verdict({}, object(kind))).toMatchObject({ status: "True", reason: "Resolved", stands: false });
  },
);

test.each<[string, As, Cause]>([
  ["one that is new", { resolved: "never" }, object("RemoteSync")],
  ["one that was changed", { generation: 2 }, object("RemoteSync")],
  ["one of another source", { status: { source: "acme/api@" } }, object("Application")],
  ["one that is to be refreshed", { refreshedAt: "now" }, object("RemoteSync")],
  [
    "one that another RemoteSync was in the way of",
    { resolved: ["Unknown", "Waiting"] },
    object("RemoteSync"),
  ],
  [
    "one that the site's settings were in the way of",
    { resolved: ["False", "SiteConfigInvalid"] },
    object("ConfigMap"),
  ],
  ["what a webhook tells of", {}, webhook],
  ["what is asked for by hand", {}, { type: "replay" }],
  ["what the sweep comes to", {}, timer],
])("GitHub is asked about %s", (_, as, cause) => {
  expect(isDue(as, cause)).toBe(true);
});

test("a refresh is answered once", () => {
  expect(isDue({ refreshedAt: "now", status: { refreshedAt: "now" } }, object("RemoteSync"))).toBe(false);
});

test("a webhook or a timer is a reason beside changes that are none", () => {
  expect(isDue({}, object("Build"), webhook)).toBe(true);
  expect(isDue({}, object("Build"), timer, object("Image"))).toBe(true);
});

describe("what GitHub could not say", () => {
  const pending: As["resolved"] = ["Unknown", "MergeabilityUnknown"];

  test("is asked for when its time has come, whatever wakes", () => {
    expect(isDue({ resolved: pending, status: { askAgainAt: at(-1) } }, object("Build"))).toBe(true);
    expect(isDue({ resolved: pending, status: { askAgainAt: at(0) } }, timer)).toBe(true);
  });

  test("is not asked for before, unless there is news", () => {
    const as = { resolved: pending, status: { askAgainAt: at(1) } };
    expect(isDue(as, object("Build"))).toBe(false);
    expect(isDue(as, timer)).toBe(false);
    expect(isDue(as, webhook)).toBe(true);
  });

  test("is looked at again in what is left of the time", () => {
    expect(waitMillis(sync({ status: { askAgainAt: at(700) } }), now)).toBe(700);
    expect(waitMillis(sync({ status: { askAgainAt: at(-700) } }), now)).toBe(0);
    expect(waitMillis(sync(), now)).toBeUndefined();
  });
});

describe("a Secret that has changed", () => {
  test.each([
    "SecretNotFound",
    "SecretInvalid",
    "SecretAccessDenied",
    "TokenRejected",
    "Forbidden",
    "NotFound",
  ])("is a reason to ask after %s, which stands until then", (reason) => {
    expect(isDue({ resolved: ["False", reason] }, secret)).toBe(true);
    expect(verdict({ resolved: ["False", reason] }, object("Build"))).toMatchObject({ reason, stands: true });
  });

  test.each(["MergeConflict", "PullRequestClosed"])("is none after %s: no token changes that", (reason) => {
    expect(verdict({ resolved: ["False", reason] }, secret)).toMatchObject({ reason, stands: false });
  });
});

test("a head that its pipeline has heard of is asked for once, unless it is known", () => {
  const own = object("RemoteSync");
  expect(isDue({ headSHA: "new", status: { headSHA: "old" } }, own)).toBe(true);
  expect(isDue({ headSHA: "new", status: { headSHA: "old", askedHeadSHA: "new" } }, own)).toBe(false);
  expect(isDue({ headSHA: "new", status: { headSHA: "new" } }, own)).toBe(false);
  expect(isDue({ headSHA: "newer", status: { headSHA: "old", askedHeadSHA: "new" } }, own)).toBe(true);
});
