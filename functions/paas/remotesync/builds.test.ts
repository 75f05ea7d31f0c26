import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Stored } from "../../../bus/kube/object.ts";
import type { Build, Image } from "../kinds/kpack.ts";
import { failureOf, outcomeOf, stepOf, waitingReason } from "./builds.ts";
import { judge } from "./builtcondition.ts";

type State = "running" | "succeeded" | "failed" | "infrastructure";

const conditions: Record<State, NonNullable<NonNullable<Build["status"]>["conditions"]>> = {
  running: [{ type: "Succeeded", status: "Unknown" }],
  succeeded: [{ type: "Succeeded", status: "True", reason: "Completed" }],
  failed: [
    {
      type: "Succeeded",
      status: "False",
      reason: "Failed",
      message: "Error:  Container detect terminated with error ERROR: failed to detect: exit status 1",
    },
  ],
  infrastructure: [{ type: "Succeeded", status: "False", message: 'secrets "regcred" not found' }],
};

interface Made {
  readonly number: number;
  readonly revision?: string;
  readonly state: State;
  readonly reason?: string;
  readonly annotated?: boolean;
}

const build = ({ number, revision = "a", state, reason = "COMMIT", annotated }: Made): Stored<Build> => ({
  apiVersion: "kpack.io/v1alpha2",
  kind: "Build",
  metadata: {
    namespace: "default",
    name: `web-build-${number}`,
    uid: `uid-${number}`,
    resourceVersion: "1",
    labels: { "image.kpack.io/buildNumber": String(number), "image.kpack.io/imageGeneration": "1" },
    annotations: {
      "image.kpack.io/reason": reason,
      ...(annotated && { "image.kpack.io/additionalBuildNeeded": "now" }),
    },
  },
  spec: { source: { git: { revision } } },
  status: {
    conditions: conditions[state],
    ...(state === "succeeded" && { latestImage: `image@${number}` }),
    ...(state !== "infrastructure" && { podName: "pod", stepsCompleted: ["prepare", "analyze"] }),
  },
});

const image = (observedGeneration: number, reason = "UpToDate", latestImage?: string): Stored<Image> => ({
  apiVersion: "kpack.io/v1alpha2",
  kind: "Image",
  metadata: { namespace: "default", name: "web", uid: "u", resourceVersion: "1", generation: 2 },
  spec: {
    tag: "registry/web:web",
    builder: { kind: "ClusterBuilder", name: "default" },
    serviceAccountName: "builder",
    source: { git: { url: "https://github.com/acme/web", revision: "a" } },
  },
  status: {
    observedGeneration,
    ...(latestImage !== undefined && { latestImage }),
    conditions: [{ type: "Ready", status: "Unknown", reason, message: "why" }],
  },
});

const made = fc.uniqueArray(
  fc.record({
    number: fc.integer({ min: 1, max: 30 }),
    revision: fc.constantFrom("a", "b"),
    state: fc.constantFrom<State>("running", "succeeded", "failed", "infrastructure"),
    annotated: fc.boolean(),
  }),
  { selector: ({ number }) => number, maxLength: 8 },
);
const shuffled = made.chain((list) =>
  fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
);

test("evaluates Builds in any order", () => {
  fc.assert(
    fc.property(shuffled, ([list, other]) => {
      const names = ({ newest, succeeded, ...rest }: ReturnType<typeof outcomeOf>) => ({
        ...rest,
        newest: newest?.metadata.name,
        succeeded: succeeded?.metadata.name,
      });
      expect(names(outcomeOf(other.map(build), "a"))).toEqual(names(outcomeOf(list.map(build), "a")));
    }),
  );
});

test("takes no image of another revision or of a failed Build", () => {
  fc.assert(
    fc.property(made, (list) => {
      const { succeeded, newest } = outcomeOf(list.map(build), "a");
      const good = list.filter(({ revision, state }) => revision === "a" && state === "succeeded");
      const last = Math.max(...good.map(({ number }) => number));
      expect(succeeded?.status?.latestImage).toBe(good.length === 0 ? undefined : `image@${last}`);
      expect(newest?.spec.source?.git?.revision ?? "a").toBe("a");
    }),
  );
});

test("orders Builds by number: the tenth is newer than the ninth", () => {
  const nine = build({ number: 9, state: "failed" });
  const ten = build({ number: 10, state: "succeeded" });
  expect(outcomeOf([ten, nine], "a").newest).toBe(ten);
});

test("retries only the newest Build of all, and only once", () => {
  const lost = { number: 2, state: "infrastructure" } as const;
  expect(outcomeOf([build(lost)], "a").canBeRetried).toBe(true);
  expect(outcomeOf([build({ ...lost, annotated: true })], "a").canBeRetried).toBe(false);
  const later = build({ number: 3, revision: "b", state: "running" });
  expect(outcomeOf([build(lost), later], "a").canBeRetried).toBe(false);
});

describe("a failed Build", () => {
  test("is an infrastructure failure without a reason and a pod", () => {
    expect(outcomeOf([build({ number: 1, state: "infrastructure" })], "a").state).toBe("infrastructure");
    const withPod = build({ number: 1, state: "infrastructure" });
    expect(outcomeOf([{ ...withPod, status: { ...withPod.status, podName: "pod" } }], "a").state).toBe(
      "failed",
    );
  });

  test("names the step of its message, or the first uncompleted one", () => {
    const failed = build({ number: 1, state: "failed" });
    expect(stepOf({ ...failed, status: { ...failed.status, stepsCompleted: [] } })).toBe("detect");
    const rebase = build({ number: 2, state: "running", reason: "STACK" });
    expect(stepOf({ ...rebase, status: { ...rebase.status, stepsCompleted: [] } })).toBe("rebase");
    const stepsCompleted = ["prepare", "analyze", "detect", "restore", "build", "export"];
    const silent = [{ type: "Succeeded", status: "False", reason: "Failed" } as const];
    const completion = { ...failed, status: { podName: "pod", stepsCompleted, conditions: silent } };
    expect(stepOf(completion)).toBe("completion");
    expect(failureOf(completion).message).toBe("no reason given");
  });
});

describe("judge", () => {
  const reported = (builds: readonly Made[], of = image(2)) => {
    const { status, reason, message } = judge(outcomeOf(builds.map(build), "a"), of);
    return `${status} ${reason}: ${message}`;
  };

  test("reports a running Build", () => {
    expect(reported([{ number: 1, state: "running" }])).toBe("Unknown Building: build 1: detect");
  });

  test("reports the image as built during a rebuild on another stack", () => {
    const first = { number: 1, state: "succeeded" } as const;
    const rebuilt = { number: 2, state: "running", reason: "STACK" } as const;
    expect(reported([first, rebuilt])).toBe("True Succeeded: build 1 made image@1; build 2 is running");
  });

  test("does not accept an earlier Build after a configuration change of the same revision", () => {
    const first = { number: 1, state: "succeeded" } as const;
    expect(reported([first, { number: 2, state: "running", reason: "CONFIG" }])).toBe(
      "Unknown Building: build 2: detect",
    );
    const unseen = [image(1), image(2, "ResolverNotReady")];
    // kpack has started a Build that has not been read yet, or has even ended.
    unseen.push(image(2, "BuildRunning", "image@1"), image(2, "UpToDate", "image@2"));
    for (const one of unseen)
      expect(reported([first], one)).toBe("Unknown Queued: waiting for kpack to observe the Image");
    for (const one of [image(2), image(2, "UpToDate", "image@1")])
      expect(reported([first], one)).toBe("True Succeeded: build 1 made image@1");
    const other = { number: 2, revision: "b", state: "running" } as const;
    expect(reported([first, other], image(2, "BuildRunning"))).toBe("True Succeeded: build 1 made image@1");
  });

  test.each(["STACK", "BUILDPACK", "CONFIG", "LIFECYCLE", "TRIGGER", "BUILDPACK,STACK"])(
    "reports a failed rebuild (%s) of a built revision as a warning",
    (reason) => {
      const first = { number: 1, state: "succeeded" } as const;
      const why = `It was a rebuild (${reason.replace(",", ", ")}) of a commit that build 1 built. That image stays deployed.`;
      const failed = reported([first, { number: 2, state: "failed", reason }]);
      expect(failed).toMatch(/^True RebuildFailed: build 2 failed in the step detect: .*exit status 1\. It /);
      expect(failed).toContain(why);
      expect(failed).toMatch(
        /kpack does not retry it\. .*: kubectl annotate build \S+ -n \S+ image\.kpack\.io\/additionalBuildNeeded=/,
      );
      expect(reported([first, { number: 2, state: "infrastructure", reason }])).toBe(
        `True RebuildNotStarted: build 2 failed: secrets "regcred" not found. Retrying. ${why}`,
      );
    },
  );

  test("reports a failure before any success, or after a success of another revision", () => {
    const failed = { number: 2, state: "failed" } as const;
    expect(reported([failed])).toMatch(
      /^False BuildFailed: build 2 failed in the step detect: .*exit status 1$/,
    );
    const other = { number: 1, revision: "b", state: "succeeded" } as const;
    expect(reported([other, failed])).toMatch(/^False BuildFailed: /);
    expect(reported([{ number: 2, state: "infrastructure" }])).toBe(
      'False BuildNotStarted: build 2 failed: secrets "regcred" not found. Retrying.',
    );
  });

  test("reports a success after failed rebuilds with the newest image and no warning", () => {
    const all: Made[] = [
      { number: 1, state: "succeeded" },
      { number: 2, state: "failed", reason: "STACK" },
      { number: 3, state: "succeeded", reason: "TRIGGER" },
    ];
    expect(reported(all)).toBe("True Succeeded: build 3 made image@3");
  });

  test("keeps the recorded image when a rebuild fails and the successful Build no longer exists", () => {
    const outcome = outcomeOf([build({ number: 1, state: "failed", reason: "CONFIG" })], "a", "image@0");
    expect(outcome.kept?.image).toBe("image@0");
    expect(judge(outcome, image(2))).toMatchObject({ status: "True", reason: "RebuildFailed" });
  });

  test.each([
    ["BuilderNotFound", "BuilderNotFound"],
    ["BuilderNotReady", "BuilderNotReady"],
    ["BuildRunning", "Queued"],
    ["ResolverNotReady", "Queued"],
    ["BuildFailed", "Queued"],
  ])("reports no failure without a Build while the Image has %s: %s", (reason, expected) => {
    expect(waitingReason(image(2, reason)).reason).toBe(expected);
    expect(judge(outcomeOf([], "a"), image(2, reason)).status).toBe("Unknown");
  });
});
