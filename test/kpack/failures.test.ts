/** Failing Builds, endless Builds, and credentials in the kpack simulator against the recording. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Secret } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import {
  type Build,
  Build as BuildKind,
  Image,
  Pod,
  ServiceAccount,
  SourceResolver,
} from "../../deploy/simulators/kpack/kinds.ts";
import { conditionOf } from "../../deploy/simulators/kpack/status.ts";
import {
  account,
  accountIn,
  type Environment,
  eachStep,
  manager,
  r1,
  r2,
  revised,
  startEnvironment,
} from "./environment.ts";
import { record } from "./recording.ts";

let environment: Environment;
beforeAll(async () => {
  environment = await startEnvironment({ steps: "first and last" });
});
afterAll(() => environment?.stop());

/** Status, reason, and message of a Build's condition. */
const failure = (build: Stored<Build> | Build) => {
  const { status, reason, message } = conditionOf(build, "Succeeded") ?? {};
  return { status, reason, message };
};

describe.concurrent("a failing step", () => {
  test("fails the Build with its last log line, and the Image keeps its latestImage", async () => {
    const ns = await environment.createNamespace("step");
    await ns.image("web");
    const before = await ns.untilReady("web", "True/UpToDate");
    await ns.patch("web", {
      metadata: { annotations: { "sim.kpk/fail-step": "detect" } },
      ...revised(r2),
    });
    const image = await ns.untilReady("web", "False/BuildFailed");
    const [, build] = await ns.builds("web");
    const message =
      "Error:  Container detect terminated with error ERROR: failed to detect: exit status 1: For more info use " +
      "`kubectl logs -n step web-build-2-build-pod -c detect`";
    expect(failure(build as Build)).toEqual({ status: "False", reason: "Failed", message });
    expect(build?.status?.stepsCompleted).toEqual(["prepare", "analyze"]);
    expect(build?.status?.latestImage).toBeUndefined();
    expect(image.status?.conditions?.map(({ type, status }) => [type, status])).toEqual([
      ["Ready", "False"],
      ["BuilderReady", "True"],
      ["BuilderUpToDate", "True"],
    ]);
    expect(conditionOf(image, "Ready")?.message).toBe(
      `Error: Build 'web-build-2' in namespace 'step' failed: ${message}`,
    );
    expect(image.status).toMatchObject({ latestBuildRef: "web-build-2", latestBuildReason: "COMMIT" });
    expect(image.status?.latestImage).toBe(before.status?.latestImage);
    expect(image.status?.latestStack).toBeUndefined();
    // The next Build starts from the last successful image, but its revision is compared with that of the failed Build.
    await ns.patch("web", { metadata: { annotations: { "sim.kpk/fail-step": null } }, ...revised(r1) });
    const next = await ns.untilBuilt("web", 3);
    expect(next.spec.lastBuild?.image).toBe(before.status?.latestImage);
    expect(next.metadata.annotations?.["image.kpack.io/buildChanges"]).toBe(
      JSON.stringify([{ reason: "COMMIT", old: r2, new: r1 }]),
    );
  });

  test("is not retried", async () => {
    const ns = await environment.createNamespace("once");
    await ns.image("web", { annotations: { "sim.kpk/fail-step": "prepare" } });
    await ns.untilReady("web", "False/BuildFailed");
    await ns.patch("web", { metadata: { labels: { poked: "yes" } } });
    await environment.until(
      SourceResolver,
      { namespace: "once", name: "web-source" },
      ({ metadata }) => metadata.labels?.poked === "yes",
    );
    await ns.untilReady("web", "False/BuildFailed");
    expect(await ns.builds("web")).toHaveLength(1);
  });
});

test.concurrent.each([
  ["Evicted", "The node was low on resource: memory. Threshold quantity: 100Mi, available: 12Mi."],
  ["DeadlineExceeded", "Pod was active on the node longer than the specified deadline"],
])("a pod that is ended (%s) leaves its own message", async (reason, message) => {
  const ns = await environment.createNamespace(`evict-${reason.toLowerCase()}`);
  await ns.image("web", { annotations: { "sim.kpk/evict": reason } });
  const image = await ns.untilReady("web", "False/BuildFailed");
  expect(failure(await ns.untilBuilt("web", 1))).toEqual({ status: "False", reason: "Failed", message });
  expect(conditionOf(image, "Ready")?.message).toMatch(new RegExp(`failed: ${message}$`));
});

test.concurrent("a completion that fails leaves no message", async () => {
  const ns = await environment.createNamespace("completion");
  await ns.image("web", { annotations: { "sim.kpk/fail-step": "completion" } });
  const image = await ns.untilReady("web", "False/BuildFailed");
  const build = await ns.untilBuilt("web", 1);
  expect(build.status?.conditions?.map((one) => Object.keys(one).sort())).toEqual([
    ["lastTransitionTime", "reason", "status", "type"],
  ]);
  expect(conditionOf(image, "Ready")?.message).toBe(
    "Error: Build 'web-build-1' in namespace 'completion' failed: ",
  );
});

describe.concurrent("an endless Build", () => {
  test("has unreadable metadata", async () => {
    const ns = await environment.createNamespace("unreadable");
    await ns.image("web", { annotations: { "sim.kpk/bad-metadata": "1", ...eachStep } });
    const pod = { namespace: ns.namespace, name: "web-build-1-build-pod" };
    await environment.until(Pod, pod, ({ status }) => status?.phase === "Succeeded");
    // Each label causes a reconcile; none of them ends the Build.
    const at = { namespace: ns.namespace, name: "web-build-1" };
    for (const value of ["1", "2"])
      await environment.client.mergePatch(BuildKind, at, { metadata: { labels: { value } } }, manager);
    const build = await environment.until(
      BuildKind,
      at,
      ({ status }) =>
        status?.stepsCompleted?.length === 6 && conditionOf({ status }, "Succeeded")?.reason === undefined,
    );
    expect(failure(build)).toEqual({ status: "Unknown", reason: undefined, message: undefined });
    const image = await environment.client.get(Image, { namespace: ns.namespace, name: "web" });
    expect(conditionOf(image, "Ready")?.reason).toBe("BuildRunning");
  });

  test("recreates a deleted pod", async () => {
    const ns = await environment.createNamespace("podless");
    await ns.image("web", { annotations: { "sim.kpk/hold-step": "analyze" } });
    const pod = { namespace: ns.namespace, name: "web-build-1-build-pod" };
    const first = await environment.until(Pod, pod, ({ status }) =>
      Boolean(status?.initContainerStatuses?.some(({ name, state }) => name === "analyze" && state.running)),
    );
    await environment.client.delete(Pod, pod, {});
    const second = await environment.until(
      Pod,
      pod,
      ({ metadata, status }) =>
        metadata.uid !== first.metadata.uid &&
        Boolean(
          status?.initContainerStatuses?.some(({ name, state }) => name === "analyze" && state.running),
        ),
    );
    expect(second.metadata.ownerReferences).toEqual(first.metadata.ownerReferences);
    await environment.client.mergePatch(
      Pod,
      pod,
      { metadata: { annotations: { "sim.kpk/hold-step": null } } },
      manager,
    );
    await ns.untilReady("web", "True/UpToDate");
    expect(await ns.builds("web")).toHaveLength(1);
  });
});

describe.concurrent("a ServiceAccount", () => {
  const secrets = (name?: string) => ({ secrets: [name === undefined ? {} : { name }] });

  test.each([
    ["missing", undefined, 'serviceaccounts "picky" not found'],
    ["secretless", secrets("not-there"), 'secrets "not-there" not found'],
    ["pull", { imagePullSecrets: [{}] }, "ServiceAccount has invalid ImagePullSecret reference"],
  ])(
    "that is unusable (%s) fails the Build at once, without a reason and a pod",
    async (name, more, message) => {
      const ns = await environment.createNamespace(`account-${name}`);
      const { namespace } = ns;
      if (more) await environment.client.create(ServiceAccount, accountIn(namespace, "picky", more), manager);
      await ns.image("web", { spec: { serviceAccountName: "picky" } });
      const image = await ns.untilReady("web", "False/BuildFailed");
      const [build] = await ns.builds("web");
      expect(failure(build as Build)).toEqual({ status: "False", reason: undefined, message });
      expect(build?.status?.podName).toBeUndefined();
      expect(build?.status?.stepStates).toBeUndefined();
      expect((await environment.client.list(Pod, namespace)).items).toEqual([]);
      expect(conditionOf(image, "Ready")?.message).toBe(
        `Error: Build 'web-build-1' in namespace '${namespace}' failed: ${message}`,
      );
    },
  );

  test("that was fixed is used for the next requested Build", async () => {
    const ns = await environment.createNamespace("account-healed");
    const { namespace } = ns;
    await environment.client.create(ServiceAccount, accountIn(namespace, "picky", secrets("late")), manager);
    await ns.image("web", { spec: { serviceAccountName: "picky" } });
    await ns.untilReady("web", "False/BuildFailed");
    const late = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace, name: "late", annotations: { "kpack.io/git": "https://git.example" } },
    };
    await environment.client.create(Secret, { ...late }, manager);
    const needed = { metadata: { annotations: { "image.kpack.io/additionalBuildNeeded": "" } } };
    await environment.client.mergePatch(BuildKind, { namespace, name: "web-build-1" }, needed, manager);
    await ns.untilReady("web", "True/UpToDate");
    const pod = await environment.client.get(Pod, { namespace, name: "web-build-2-build-pod" });
    expect(pod.spec.initContainers?.[0]).toMatchObject({ args: ["-basic-git=late=https://git.example"] });
    expect(await ns.builds("web")).toHaveLength(2);
  });

  test("with a Secret reference without a name blocks the first Build until it is fixed", async () => {
    const ns = await environment.createNamespace("account-nameless");
    const { namespace } = ns;
    await environment.client.create(ServiceAccount, accountIn(namespace, "picky", secrets()), manager);
    const seen = await record(environment.client, namespace);
    await ns.image("web", { spec: { serviceAccountName: "picky" } });
    await seen.until(/ResolverNotReady/);
    // The error appears only in the log.
    const logged = `SourceResolver ${namespace}/web-source: resource name may not be empty`;
    await environment.failures.until((line) => line === logged);
    await environment.failures.until(
      (line) => line === logged,
      undefined,
      environment.failures.all.indexOf(logged) + 1,
    );
    expect(await ns.builds("web")).toEqual([]);
    const at = { namespace, name: "picky" };
    await environment.client.mergePatch(ServiceAccount, at, { secrets: null }, manager);
    const lines = await seen.until(/Image .*Ready=True/);
    seen.stop();
    expect(lines.slice(0, 3)).toEqual([
      "ADDED Image gen=1",
      `MODIFIED Image gen=1 obs=1 Ready=Unknown/ResolverNotReady "Error: SourceResolver 'web-source' is not ready" BR BU`,
      "ADDED Build-1",
    ]);
  });

  test("may name missing pull secrets", async () => {
    const ns = await environment.createNamespace("account-pulls");
    const { namespace } = ns;
    const more = { imagePullSecrets: [{ name: "nowhere" }] };
    await environment.client.create(ServiceAccount, accountIn(namespace, "picky", more), manager);
    await ns.image("web", { spec: { serviceAccountName: "picky" } });
    await ns.untilReady("web", "True/UpToDate");
  });
});

test.concurrent("keeps a limited number of failed and of successful Builds", async () => {
  const ns = await environment.createNamespace("history");
  const fail = (step: string | null) => ({ metadata: { annotations: { "sim.kpk/fail-step": step } } });
  await ns.image("web", {
    spec: { failedBuildHistoryLimit: 1, successBuildHistoryLimit: 1, serviceAccountName: account },
  });
  await ns.untilReady("web", "True/UpToDate");
  for (const [at, step] of ["build", "build", null, null].entries()) {
    await ns.patch("web", { ...fail(step), ...revised(String(at + 2).repeat(40)) });
    await ns.untilBuilt("web", at + 2);
    await ns.untilReady("web", step ? "False/BuildFailed" : "True/UpToDate");
  }
  const pods = { namespace: ns.namespace };
  for (const number of [1, 2, 4])
    await environment.untilGone(Pod, { ...pods, name: `web-build-${number}-build-pod` });
  expect((await ns.builds("web")).map(({ metadata }) => metadata.name)).toEqual([
    "web-build-3",
    "web-build-5",
  ]);
});
