import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Condition } from "../../../bus/kube/object.ts";
import type { Application } from "../kinds/application.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { phaseOf } from "./phase.ts";
import type { Candidate } from "./select.ts";

const candidate: Candidate = { number: 1, headSHA: "head", since: "2026-01-02T03:04:05Z" };
const image = "registry.example.com/web@sha256:1";
type Statuses = Readonly<Record<string, readonly [Condition["status"], string?]>>;
const conditions = (statuses: Statuses) =>
  Object.entries(statuses).map(([type, [status, reason = "Reason"]]) => ({
    ...{ type, status, reason, message: `message of ${type}` },
    lastTransitionTime: "2026-01-02T03:04:05Z",
  }));

/** `generation`: the object's, and the observed one. */
const remoteSync = (statuses: Statuses, status: Partial<RemoteSync["status"]> = {}, generation = [1, 1]) =>
  ({
    metadata: { name: "sync", generation: generation[0] },
    status: {
      ...{ headSHA: "head", revision: "merge", latestImage: image, observedGeneration: generation[1] },
      ...status,
      conditions: conditions(statuses),
    },
  }) as RemoteSync;
const application = (
  statuses: Statuses,
  spec: Partial<Application["spec"]> = { image },
  generation = [1, 1],
) =>
  ({
    metadata: { name: "app", generation: generation[0] },
    spec: { domains: [], ...spec },
    status: { observedGeneration: generation[1], conditions: conditions(statuses) },
  }) as unknown as Application;

const done = { SourceResolved: ["True"], Built: ["True"], Deployed: ["True"] } as const;
const running = application({ Ready: ["True"] });
const phase = (...args: Parameters<typeof phaseOf>) => phaseOf(...args)?.phase;

describe("a preview is", () => {
  test.each([
    ["Resolving", "there are no objects", undefined, undefined],
    ["Resolving", "the source has no status", undefined, remoteSync({})],
    ["Resolving", "the status is about an earlier commit", running, remoteSync(done, { headSHA: "before" })],
    ["Resolving", "the spec has changed since", running, remoteSync(done, {}, [2, 1])],
    [
      "Resolving",
      "GitHub is computing the merge",
      running,
      remoteSync({ ...done, SourceResolved: ["Unknown"] }),
    ],
    ["Resolving", "GitHub asked to wait", running, remoteSync({ SourceResolved: ["False", "RateLimited"] })],
    [
      "Resolving",
      "GitHub is unreachable",
      undefined,
      remoteSync({ SourceResolved: ["False", "GitHubUnreachable"] }),
    ],
    ["Failed", "there is no commit", running, remoteSync({ SourceResolved: ["False"] })],
    ["Building", "a build runs", running, remoteSync({ ...done, Built: ["Unknown"] })],
    ["Failed", "a build has failed", running, remoteSync({ ...done, Built: ["False"] })],
    ["Building", "the image is not deployed", running, remoteSync({ ...done, Deployed: ["Unknown"] })],
    ["Failed", "the image cannot be deployed", running, remoteSync({ ...done, Deployed: ["False"] })],
    ["Deploying", "the Application is not on the bus yet", undefined, remoteSync(done)],
    [
      "Deploying",
      "it has another image",
      application({ Ready: ["True"] }, { image: "other" }),
      remoteSync(done),
    ],
    [
      "Deploying",
      "it has changed since",
      application({ Ready: ["True"] }, { image }, [3, 2]),
      remoteSync(done),
    ],
    ["Deploying", "pods are rolling out", application({ Ready: ["False", "Progressing"] }), remoteSync(done)],
    ["Deploying", "the pods have no status", application({}), remoteSync(done)],
    [
      "Failed",
      "pods do not become ready",
      application({ Ready: ["False", "ProgressDeadlineExceeded"] }),
      remoteSync(done),
    ],
    ["Ready", "everything is done", running, remoteSync(done)],
  ] as const)("%s when %s", (expected, _, app, sync) => {
    expect(phase(app, sync, candidate)).toBe(expected);
  });

  test("Resolving again while its objects are being deleted", () => {
    const going = <T extends Application | RemoteSync>(object: T): T => ({
      ...object,
      metadata: { ...object.metadata, deletionTimestamp: "2026-01-02T03:04:05Z" },
    });
    expect(phase(running, going(remoteSync(done)), candidate)).toBe("Resolving");
    expect(phase(going(running), remoteSync(done), candidate)).toBe("Deploying");
  });

  test("unchanged while the RemoteSync reports the pull request as closed", () => {
    expect(
      phaseOf(running, remoteSync({ SourceResolved: ["False", "PullRequestClosed"] }), candidate),
    ).toBeUndefined();
  });

  test("Ready with a warning after a failed rebuild, and without one before it is ready", () => {
    const warned = remoteSync({ ...done, Built: ["True", "RebuildFailed"] }, { warning: "build 2 failed" });
    expect(phaseOf(running, warned, candidate)).toEqual({ phase: "Ready", warning: "build 2 failed" });
    const rolling = application({ Ready: ["False", "Progressing"] });
    expect(phaseOf(rolling, warned, candidate)).toEqual({ phase: "Deploying" });
  });

  test("about the approved commit if there is one", () => {
    const approved = { ...candidate, fork: "s/w", approvedSHA: "approved" };
    expect(phase(running, remoteSync(done, { revision: "approved", headSHA: undefined }), approved)).toBe(
      "Ready",
    );
    expect(phase(running, remoteSync(done, { revision: "head", headSHA: "head" }), approved)).toBe(
      "Resolving",
    );
  });
});

test("is Ready only when the status of both objects is current, of this commit, and of its image", () => {
  const status = fc.constantFrom<Condition["status"]>("True", "False", "Unknown");
  const some = fc.boolean();
  fc.assert(
    fc.property(
      fc.record({ source: status, built: status, deployed: status, ready: status }),
      fc.record({ syncIsNew: some, appIsNew: some, isHead: some, hasImage: some }),
      (statuses, is) => {
        const sync = remoteSync(
          { SourceResolved: [statuses.source], Built: [statuses.built], Deployed: [statuses.deployed] },
          { headSHA: is.isHead ? "head" : "before" },
          is.syncIsNew ? [2, 2] : [2, 1],
        );
        const app = application(
          { Ready: [statuses.ready] },
          { image: is.hasImage ? image : "other" },
          is.appIsNew ? [2, 2] : [2, 1],
        );
        const all =
          Object.values(statuses).every((one) => one === "True") && Object.values(is).every(Boolean);
        expect(phase(app, sync, candidate) === "Ready").toBe(all);
      },
    ),
  );
});
