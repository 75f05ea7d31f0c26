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

/** A fully resolved RemoteSync, except for the given fields. */
function sync({ resolved = ["True", "Resolved"], status, refreshedAt, headSHA, generation = 1 }: As = {}) {
  const condition = resolved !== "never" && {
    type: "SourceResolved",
    status: resolved[0],
    reason: resolved[1],
    message: "previous",
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
const webhook: Cause = { type: "webhook", provider: "github", event: "push", delivery: "d" };
const timer: Cause = { type: "timer" };
const secret = object("Secret");

const verdict = (as: As, ...causes: Cause[]) => verdictOf(sync(as), causes, now);
const isDue = (as: As, ...causes: Cause[]): boolean => verdict(as, ...causes) === "due";

test.each(["Build", "Image", "Application", "ServiceAccount", "RemoteSync", "ConfigMap", "Secret"])(
  "does not ask GitHub for a changed %s",
  (kind) => {
    expect(verdict({}, object(kind))).toMatchObject({ status: "True", reason: "Resolved", stands: false });
  },
);

test.each<[string, As, Cause]>([
  ["a new one", { resolved: "never" }, object("RemoteSync")],
  ["a changed one", { generation: 2 }, object("RemoteSync")],
  ["one with another source", { status: { source: "acme/api@" } }, object("Application")],
  ["one to refresh", { refreshedAt: "now" }, object("RemoteSync")],
  [
    "one after a conflict with another RemoteSync",
    { resolved: ["Unknown", "Waiting"] },
    object("RemoteSync"),
  ],
  [
    "one after invalid settings of the site",
    { resolved: ["False", "SiteConfigInvalid"] },
    object("ConfigMap"),
  ],
  ["a webhook", {}, webhook],
  ["a replay", {}, { type: "replay" }],
  ["a sweep", {}, timer],
])("asks GitHub about %s", (_, as, cause) => {
  expect(isDue(as, cause)).toBe(true);
});

test("handles a refresh once", () => {
  expect(isDue({ refreshedAt: "now", status: { refreshedAt: "now" } }, object("RemoteSync"))).toBe(false);
});

test("asks for a webhook or a timer among other causes", () => {
  expect(isDue({}, object("Build"), webhook)).toBe(true);
  expect(isDue({}, object("Build"), timer, object("Image"))).toBe(true);
});

describe("an answer that GitHub could not give", () => {
  const pending: As["resolved"] = ["Unknown", "MergeabilityUnknown"];

  test("is requested again at its time, whatever the cause", () => {
    expect(isDue({ resolved: pending, status: { retryAt: at(-1) } }, object("Build"))).toBe(true);
    expect(isDue({ resolved: pending, status: { retryAt: at(0) } }, timer)).toBe(true);
  });

  test("is not requested earlier, except for a webhook", () => {
    const as = { resolved: pending, status: { retryAt: at(1) } };
    expect(isDue(as, object("Build"))).toBe(false);
    expect(isDue(as, timer)).toBe(false);
    expect(isDue(as, webhook)).toBe(true);
  });

  test("is awaited for the rest of the time", () => {
    expect(waitMillis(sync({ status: { retryAt: at(700) } }), now)).toBe(700);
    expect(waitMillis(sync({ status: { retryAt: at(-700) } }), now)).toBe(0);
    expect(waitMillis(sync(), now)).toBeUndefined();
  });
});

describe("a changed Secret", () => {
  test.each([
    "SecretNotFound",
    "SecretInvalid",
    "SecretAccessDenied",
    "TokenRejected",
    "Forbidden",
    "NotFound",
  ])("causes a request after %s, which stays reported until then", (reason) => {
    expect(isDue({ resolved: ["False", reason] }, secret)).toBe(true);
    expect(verdict({ resolved: ["False", reason] }, object("Build"))).toMatchObject({ reason, stands: true });
  });

  test.each(["MergeConflict", "PullRequestClosed"])(
    "causes no request after %s, which no token changes",
    (reason) => {
      expect(verdict({ resolved: ["False", reason] }, secret)).toMatchObject({ reason, stands: false });
    },
  );
});

test("asks once for a head from the pipeline, unless it is known", () => {
  const own = object("RemoteSync");
  expect(isDue({ headSHA: "new", status: { headSHA: "old" } }, own)).toBe(true);
  expect(isDue({ headSHA: "new", status: { headSHA: "old", askedHeadSHA: "new" } }, own)).toBe(false);
  expect(isDue({ headSHA: "new", status: { headSHA: "new" } }, own)).toBe(false);
  expect(isDue({ headSHA: "newer", status: { headSHA: "old", askedHeadSHA: "new" } }, own)).toBe(true);
});
