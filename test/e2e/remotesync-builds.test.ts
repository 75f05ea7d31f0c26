/** RemoteSyncs while kpack, its builders, or its webhooks are broken. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Pod } from "../../bus/kube/kind.ts";
import { ServiceAccount } from "../../bus/kube/workloads.ts";
import { Image } from "../../functions/paas/kinds/kpack.ts";
import { RemoteSync } from "../../functions/paas/kinds.ts";
import { kpack } from "../../functions/paas/names.ts";
import { type Paas, registry, secrets, startPaas } from "../harness/paas.ts";
import { numberOf, type RemoteSyncs, remoteSyncs, revisionOf } from "../harness/remotesyncs.ts";
import { conditionOf, has } from "../harness/testobjects.ts";
import { changeBeforeTimer } from "../harness/timers.ts";

const namespace = "default";

let paas: Paas;
let syncs: RemoteSyncs;
beforeAll(async () => {
  paas = await startPaas({ gateways: 1 });
  syncs = remoteSyncs(paas);
});
afterAll(() => paas?.stop());

const builtBy = (name: string) => ({ builder: { kind: "ClusterBuilder", name } as const });

/** Creates one that waits for something. */
async function create(name: string, spec: Partial<RemoteSync["spec"]>): Promise<void> {
  await Promise.all([paas.application(name), syncs.branch(name)]);
  await paas.remoteSync(name, { branch: name }, spec);
}

test("deploys another digest of the same revision for a new stack, and stays ready", async () => {
  const { status } = await syncs.start("stack");
  await paas.untilQuiet();
  const before = conditionOf(await syncs.get("stack"));
  await paas.kpack.newStack();
  const digest = await paas.environment
    .until(
      RemoteSync,
      { name: "stack" },
      (sync) =>
        sync.status?.buildNumber === 2 &&
        has("Ready", "True")(sync) &&
        sync.status.latestImage !== status?.latestImage,
    )
    .then((sync) => sync.status?.latestImage);
  await paas.untilQuiet();
  const builds = await syncs.builds("stack");
  expect(builds.map(revisionOf)).toEqual([status?.revision, status?.revision]);
  expect(builds[1]?.metadata.annotations?.["image.kpack.io/reason"]).toBe("STACK");
  expect((await syncs.application("stack")).spec.image).toBe(digest);
  const after = await syncs.get("stack");
  expect(conditionOf(after)?.lastTransitionTime).toBe(before?.lastTransitionTime);
  expect(after.status?.revision).toBe(status?.revision);
});

test.each([
  ["BUILDPACK", "build"],
  ["CONFIG", "detect"],
])(
  "a failed rebuild (%s) is a warning: the commit stays ready, and the next push removes the warning",
  async (reason, step) => {
    const name = `rebuilt-${reason.toLowerCase()}`;
    const { status } = await syncs.start(name);
    const before = conditionOf(await syncs.get(name));
    await syncs.steer(name, { "sim.kpk/fail-step": step });
    if (reason === "BUILDPACK") await paas.kpack.newBuildpacks();
    else await paas.patch(RemoteSync, name, { spec: { build: { env: [{ name: "A", value: "1" }] } } });
    const failed = await syncs.until(name, "RebuildFailed", "Ready", "True");
    expect(failed.status?.warning).toMatch(
      new RegExp(`^build 2 failed in the step ${step}: .*\\(${reason}\\)`),
    );
    expect(failed.status?.message).toBe("");
    expect(conditionOf(failed, "Built")).toMatchObject({ status: "True", reason: "RebuildFailed" });
    if (reason === "BUILDPACK")
      expect(conditionOf(failed)?.lastTransitionTime).toBe(before?.lastTransitionTime);
    expect(failed.status?.lastFailure).toMatchObject({ step, revision: status?.revision });
    expect(failed.status?.latestImage).toBe(status?.latestImage);
    expect((await syncs.application(name)).spec.image).toBe(status?.latestImage);
    await expect.poll(() => syncs.notes(name, "RebuildFailed")).toHaveLength(1);
    await syncs.steer(name, { "sim.kpk/fail-step": null });
    const healed = await syncs.ready(name, await syncs.push(name));
    expect(healed.status?.warning).toBeUndefined();
    expect(conditionOf(healed)).toMatchObject({ reason: "Deployed" });
  },
);

test("an edited builder causes no failure and no write", async () => {
  await paas.kpack.builder("edited", "ready");
  await create("edited", builtBy("edited"));
  await syncs.ready("edited");
  await syncs.allRolledOut();
  await paas.untilQuiet();
  const [before, writes] = [await syncs.get("edited"), await paas.writes()];
  for (let edit = 0; edit < 5; edit++) {
    await paas.kpack.builder("edited", "not-ready");
    await paas.environment.until(Image, { name: "modoki-edited" }, has("Ready", "False", "BuilderNotReady"));
    await paas.kpack.builder("edited", "ready");
    await paas.environment.until(Image, { name: "modoki-edited" }, has("Ready", "True"));
  }
  await paas.untilQuiet();
  expect(await syncs.get("edited")).toEqual(before);
  expect((await paas.writes()) - writes).toBe(0);
});

test("builds an Image without a registry Secret, with no empty reference anywhere", async () => {
  await syncs.branch("open");
  await syncs.start("open", { branch: "open" }, { image: { name: `${registry}/acme/web`, secretName: "" } });
  const account = await paas.environment.client.get(ServiceAccount, {
    namespace,
    name: "modoki-open-builder",
  });
  expect(account.secrets).toEqual([{ name: secrets.git }]);
  expect(account.imagePullSecrets ?? []).toEqual([]);
  expect((await syncs.application("open")).spec.imagePullSecrets ?? []).toEqual([]);
  await syncs.allRolledOut();
  await paas.untilQuiet();
  const writes = await paas.writes();
  await paas.touch(ServiceAccount, "modoki-open-builder");
  await paas.untilQuiet();
  expect((await paas.writes()) - writes).toBe(0);
});

test("builds commits that were pushed while kpack's webhooks were unavailable", async () => {
  const { status } = await syncs.start("away");
  await paas.kpack.webhook.stop();
  const revision = await syncs.push("away");
  const waiting = await syncs.until("away", "KpackUnavailable");
  expect(waiting.status?.revision).toBe(revision);
  expect(conditionOf(waiting, "SourceResolved")?.status).toBe("True");
  expect((await syncs.application("away")).spec.image).toBe(status?.latestImage);
  await paas.kpack.webhook.restart();
  await syncs.ready("away", revision);
  expect((await syncs.builds("away")).map(revisionOf)).toEqual([status?.revision, revision]);
});

test("reports settings that change while kpack's webhooks are unavailable as a warning, and applies them later", async () => {
  const { status } = await syncs.start("changed");
  await paas.kpack.webhook.stop();
  const build = { env: [{ name: "A", value: "1" }] };
  await paas.patch(RemoteSync, "changed", { spec: { build } });
  const waiting = await syncs.until("changed", "KpackUnavailable", "Ready", "True");
  expect(conditionOf(waiting, "Built")).toMatchObject({ status: "True", reason: "KpackUnavailable" });
  expect(waiting.status?.warning).toContain("failed calling webhook");
  expect(waiting.status?.latestImage).toBe(status?.latestImage);
  await paas.kpack.webhook.restart();
  const done = await paas.environment.until(
    RemoteSync,
    { name: "changed" },
    (sync) => has("Ready", "True", "Deployed")(sync) && sync.status?.buildNumber === 2,
  );
  expect(done.status?.warning).toBeUndefined();
  expect((await syncs.builds("changed")).at(-1)?.spec).toMatchObject(build);
});

test("neither changes nor deletes an Image of its name that it does not own", async () => {
  const tag = `${registry}/theirs:1`;
  const theirs = await paas.create(Image, {
    metadata: { namespace, name: "modoki-taken" },
    spec: {
      tag,
      builder: { kind: "ClusterBuilder", name: "none" },
      serviceAccountName: "theirs",
      source: { git: { url: "https://git.example.com/x", revision: "main" } },
    },
  });
  await create("taken", {});
  const taken = await syncs.until("taken", "NameTaken");
  expect(taken.status?.message).toContain("Image modoki-taken");
  await paas.untilQuiet();
  const now = await paas.environment.client.get(Image, { namespace, name: "modoki-taken" });
  expect(now.metadata).toMatchObject({ uid: theirs.metadata.uid, generation: theirs.metadata.generation });
  const delay = await changeBeforeTimer(paas, "modoki-remotesync", { namespace, name: "taken" }, () =>
    paas.environment.client.delete(Image, now.metadata, {}),
  );
  expect(delay).toBeLessThanOrEqual(5000);
  await syncs.ready("taken");
});

// Each waits for its own builds and counts nothing.
describe.concurrent("builds", () => {
  test("finds a build that is missing in the Image's status", async ({ expect }) => {
    const { status } = await syncs.start("lost");
    await syncs.steer("lost", { "sim.kpk/hold-step": "export" });
    paas.kpack.loseNextReference({ namespace, name: "modoki-lost" });
    const revision = await syncs.push("lost");
    const building = await paas.environment.until(
      RemoteSync,
      { name: "lost" },
      (sync) => sync.status?.buildNumber === 2 && has("Built", "Unknown", "Building")(sync),
    );
    expect(building.status?.buildRef).toBe("modoki-lost-build-2");
    const image = (await syncs.image("lost")) as Image & { status?: { latestBuildRef?: string } };
    expect(image.status?.latestBuildRef).toBe("modoki-lost-build-1");
    // The Build exists before its pod.
    const pod = { name: "modoki-lost-build-2-build-pod" };
    await paas.environment.until(Pod, pod, () => true);
    await paas.patch(Pod, pod.name, { metadata: { annotations: { "sim.kpk/hold-step": null } } });
    const done = await syncs.ready("lost", revision);
    expect(done.status?.latestImage).not.toBe(status?.latestImage);
    expect((await syncs.application("lost")).spec.image).toBe(done.status?.latestImage);
  });

  test("waits for a builder that is missing, then broken", async ({ expect }) => {
    await create("late", builtBy("late"));
    const missing = await syncs.until("late", "BuilderNotFound", "Built", "Unknown");
    expect(missing.status?.message).toContain("Unable to find builder 'late'");
    await paas.kpack.builder("late", "broken");
    await syncs.until("late", "BuilderNotReady", "Built", "Unknown");
    expect((await syncs.get("late")).status?.lastFailure).toBeUndefined();
    await paas.kpack.builder("late", "ready");
    await syncs.ready("late");
  });

  test("retries a build that never had a pod, after a pause, and only the newest Build", async ({
    expect,
  }) => {
    await syncs.start("unlucky");
    const account = "modoki-unlucky-builder";
    const { secrets: before = [] } = await paas.environment.client.get(ServiceAccount, {
      namespace,
      name: account,
    });
    await paas.patch(ServiceAccount, account, { secrets: [...before, { name: "not-there" }] });
    const revision = await syncs.push("unlucky");
    const waiting = await syncs.until("unlucky", "BuildNotStarted");
    expect(waiting.status?.message).toMatch(/secrets "not-there" not found\. Retrying\./);
    expect(waiting.status?.lastFailure).toMatchObject({ revision });
    expect(waiting.status?.lastFailure).not.toHaveProperty("step");
    const again = await paas.environment.until(
      RemoteSync,
      { name: "unlucky" },
      (sync) => sync.status?.buildNumber === 3 && has("Built", "False", "BuildNotStarted")(sync),
    );
    expect(again.status?.retries).toBe(1);
    await paas.patch(ServiceAccount, account, { secrets: before });
    const done = await syncs.ready("unlucky", revision);
    expect(done.status?.retries).toBeUndefined();
    const builds = await syncs.builds("unlucky");
    expect(builds.map(numberOf)).toEqual([1, 2, 3, 4]);
    expect(builds.map(({ metadata }) => kpack.rebuild in (metadata.annotations ?? {}))).toEqual([
      false,
      true,
      true,
      false,
    ]);
    const [, second = 0, third = 0, fourth = 0] = builds.map(({ metadata }) =>
      Date.parse(metadata.creationTimestamp ?? ""),
    );
    expect(third - second).toBeGreaterThanOrEqual(2000);
    expect(fourth - third).toBeGreaterThanOrEqual(10_000);
    const image = await syncs.image("unlucky");
    expect(image?.metadata.annotations).not.toHaveProperty(kpack.rebuild);
  });
});

describe.concurrent("builds that change", () => {
  test("deploys the result of a Build whose builder was deleted, though the Image does not report it", async ({
    expect,
  }) => {
    await paas.kpack.builder("going", "ready");
    await create("going", builtBy("going"));
    await syncs.ready("going");
    await syncs.steer("going", { "sim.kpk/hold-step": "export" });
    const revision = await syncs.push("going");
    await paas.environment.until(RemoteSync, { name: "going" }, ({ status }) => status?.buildNumber === 2);
    const pod = "modoki-going-build-2-build-pod";
    await paas.environment.until(Pod, { name: pod }, () => true);
    await paas.kpack.builder("going", "deleted");
    await paas.environment.until(Image, { name: "modoki-going" }, has("Ready", "False", "BuilderNotFound"));
    await paas.patch(Pod, pod, { metadata: { annotations: { "sim.kpk/hold-step": null } } });
    const { status } = await syncs.ready("going", revision);
    expect((await syncs.image("going"))?.status?.latestImage).not.toBe(status?.latestImage);
    expect((await syncs.application("going")).spec.image).toBe(status?.latestImage);
  });

  test("copies build options to the Image, and builds the same revision again for other options", async ({
    expect,
  }) => {
    const build = {
      env: [{ name: "A", value: "1" }],
      resources: { limits: { memory: "3Gi" } },
      timeoutSeconds: 900,
    };
    const github = { branch: "wishes" };
    await syncs.branch("wishes");
    const { status } = await syncs.start("wishes", github, { build });
    await paas.patch(RemoteSync, "wishes", {
      spec: { base: { subPath: "services/web" }, build: { env: [{ name: "A", value: "2" }] } },
    });
    const done = await paas.environment.until(
      RemoteSync,
      { name: "wishes" },
      (sync) => has("Ready", "True")(sync) && sync.status?.observedGeneration === sync.metadata.generation,
    );
    expect(done.status).toMatchObject({ revision: status?.revision, buildNumber: 2 });
    const [, second] = await syncs.builds("wishes");
    expect(second?.metadata.annotations?.["image.kpack.io/reason"]).toBe("CONFIG");
    expect(second?.spec).toMatchObject({
      env: [{ name: "A", value: "2" }],
      resources: build.resources,
      activeDeadlineSeconds: 900,
      source: { subPath: "services/web" },
    });
  });

  test("reports kpack's rejection in its words, and recovers after a change", async ({ expect }) => {
    await create("refused", { build: { cacheSize: "3G" } });
    const refused = await syncs.until("refused", "ImageRefused");
    expect(refused.status?.message).toContain(
      "without spec.cache.volume.storageClassName or a default StorageClass",
    );
    await paas.patch(RemoteSync, "refused", { spec: { build: null } });
    await syncs.ready("refused");
  });
});
