/** RemoteSyncs with kpack: its stand-in, or that of an existing cluster with simulated build pods. */
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isNotFound } from "../../bus/kube/errors.ts";
import { externalKind, Secret } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { ServiceAccount } from "../../bus/kube/workloads.ts";
import { Build, Image } from "../../functions/paas/kinds/kpack.ts";
import { RemoteSync } from "../../functions/paas/kinds.ts";
import { type Paas, registry, secrets, startPaas } from "../harness/paas.ts";
import { numberOf, type RemoteSyncs, remoteSyncs, revisionOf } from "../harness/remotesyncs.ts";
import { sized } from "../harness/size.ts";
import { conditionOf, has } from "../harness/testobjects.ts";

const Pod = externalKind({ group: "", version: "v1", kind: "Pod", plural: "pods" });
const timeout = 60_000;

let paas: Paas;
let syncs: RemoteSyncs;
beforeAll(async () => {
  paas = await startPaas({ gateways: 1 });
  syncs = remoteSyncs(paas);
});
afterAll(() => paas?.stop());

const untilBuild = (name: string, number: number, condition: (build: Build) => boolean) =>
  expect
    .poll(async () => (await syncs.builds(name)).some((one) => numberOf(one) === number && condition(one)), {
      timeout,
    })
    .toBe(true);

test("builds a push, and deploys the digest of exactly that build", async () => {
  const first = await syncs.start("push");
  const before = await syncs.image("push");
  const revision = await syncs.push("push");
  const { status } = await syncs.ready("push", revision);
  const builds = await syncs.builds("push");
  expect(builds.map(revisionOf)).toEqual([first.status?.revision, revision]);
  const digest = builds.at(-1)?.status?.latestImage;
  expect(digest).toMatch(new RegExp(`^${registry}/acme/web@sha256:[0-9a-f]{64}$`));
  expect(digest).not.toBe(first.status?.latestImage);
  expect(status).toMatchObject({
    latestImage: digest,
    buildRef: builds.at(-1)?.metadata.name,
    buildNumber: 2,
    ref: "push",
    message: "",
  });
  const app = await syncs.application("push");
  expect(app.spec).toMatchObject({ image: digest, imagePullSecrets: [{ name: secrets.registry }] });
  expect(app.metadata.annotations?.["modoki.tsuzu.dev/revision"]).toBe(revision);
  expect(builds.at(-1)?.spec.tags).toContain(`${registry}/acme/web:${revision}`);

  const after = await syncs.image("push");
  expect(after?.metadata.uid).toBe(before?.metadata.uid);
  // More builds would race with kpack's own.
  expect((after?.metadata.generation ?? 0) - (before?.metadata.generation ?? 0)).toBe(1);
});

test("a failed build keeps the running version and reports step, reason, and log; the next push recovers", async () => {
  const good = await syncs.start("failing");
  await syncs.steer("failing", { "sim.kpk/fail-step": "detect" });
  const bad = await syncs.push("failing");
  const failed = await syncs.until("failing", "BuildFailed");
  expect(failed.status?.revision).toBe(bad);
  expect(conditionOf(failed, "Built")?.message).toMatch(
    /^build 2 failed in the step detect: .*exit status 1/,
  );
  expect(failed.status?.message).toBe(conditionOf(failed)?.message);
  const { lastFailure } = failed.status ?? {};
  expect(lastFailure).toMatchObject({ revision: bad, step: "detect", build: failed.status?.buildRef });
  expect(lastFailure?.log?.trim().split("\n").length).toBeLessThanOrEqual(50);
  expect(lastFailure?.log).toMatch(/exit status 1\s*$/);
  expect((await syncs.application("failing")).spec.image).toBe(good.status?.latestImage);
  await expect
    .poll(() => syncs.notes("failing", "BuildFailed"), { timeout })
    .toEqual([expect.stringMatching(/in the step detect/)]);

  await syncs.steer("failing", { "sim.kpk/fail-step": null });
  const healed = await syncs.ready("failing", await syncs.push("failing"));
  expect((await syncs.application("failing")).spec.image).toBe(healed.status?.latestImage);
  expect(healed.status).toMatchObject({ lastFailure, buildNumber: 3 });
});

test("a failed rebuild keeps the commit ready with a warning, which a later success removes", async () => {
  const { status } = await syncs.start("again");
  const rebuilt = async (number: number, succeeds: "True" | "False") => {
    // kpack orders Builds by the second of their creation.
    await setTimeout(2000);
    await syncs.rebuild((await syncs.builds("again")).at(-1) as Stored<Build>);
    await untilBuild("again", number, has("Succeeded", succeeds));
  };
  await syncs.steer("again", { "sim.kpk/fail-step": "build" });
  await rebuilt(2, "False");
  const warned = await syncs.until("again", "RebuildFailed", "Ready", "True");
  expect(warned.status?.warning).toMatch(/^build 2 failed in the step build: .*\(TRIGGER\)/);
  expect((await syncs.application("again")).spec.image).toBe(status?.latestImage);
  await syncs.steer("again", { "sim.kpk/fail-step": null });
  await rebuilt(3, "True");
  const digest = (await syncs.builds("again")).at(-1)?.status?.latestImage;
  expect(digest).not.toBe(status?.latestImage);
  const healed = await paas.environment.until(
    RemoteSync,
    { name: "again" },
    (sync) => has("Ready", "True", "Deployed")(sync) && sync.status?.latestImage === digest,
  );
  expect(healed.status?.warning).toBeUndefined();
  expect((await syncs.application("again")).spec.image).toBe(digest);
});

test("deploys a commit that was pushed during a build, and never the image of that build", async () => {
  await syncs.start("overtaken");
  await syncs.steer("overtaken", { "sim.kpk/hold-step": "build" });
  const slow = await syncs.push("overtaken");
  await untilBuild("overtaken", 2, (build) => build.status?.stepsCompleted?.includes("restore") ?? false);
  await syncs.steer("overtaken", { "sim.kpk/hold-step": null });
  const wanted = [await syncs.push("overtaken"), await syncs.push("overtaken")].at(-1);
  const queued = await paas.environment.until(
    RemoteSync,
    { name: "overtaken" },
    ({ status }) => status?.revision === wanted,
  );
  expect(conditionOf(queued, "Built")).toMatchObject({ status: "Unknown", reason: "Queued" });

  const podName = (await syncs.builds("overtaken")).at(-1)?.status?.podName ?? "";
  await paas.patch(Pod, podName, { metadata: { annotations: { "sim.kpk/hold-step": null } } });
  const done = await syncs.ready("overtaken", wanted);
  const builds = await syncs.builds("overtaken");
  expect(builds.map(revisionOf).slice(1)).toEqual([slow, wanted]);
  expect(done.status?.latestImage).toBe(builds.at(-1)?.status?.latestImage);
  await expect.poll(() => syncs.notes("overtaken", "Deployed"), { timeout }).toHaveLength(2);
  const deployed = (await syncs.notes("overtaken", "Deployed")).join("\n");
  expect(deployed).toContain(done.status?.latestImage);
  expect(deployed).not.toContain(builds[1]?.status?.latestImage);
});

test("waits for a missing registry Secret before it creates the Image", async () => {
  await Promise.all([paas.application("waiting"), syncs.branch("waiting")]);
  const image = { name: `${registry}/acme/waiting`, secretName: "later" };
  await paas.remoteSync("waiting", { branch: "waiting" }, { image });
  const waiting = await syncs.until("waiting", "SecretNotFound");
  expect(conditionOf(waiting, "SourceResolved")?.status).toBe("True");
  await paas.untilQuiet();
  expect(await syncs.image("waiting")).toBeUndefined();
  const { data, type } = await paas.environment.client.get(Secret, {
    namespace: paas.namespace,
    name: secrets.registry,
  });
  await paas.create(Secret, { metadata: { namespace: paas.namespace, name: "later" }, type, data });
  await syncs.ready("waiting");
  expect((await syncs.builds("waiting")).length).toBe(1);
});

test("retries a build that could not start once the missing object exists", async () => {
  const own = { namespace: paas.namespace, name: "own" };
  const { data, type } = await paas.environment.client.get(Secret, { ...own, name: secrets.registry });
  const secret = { metadata: own, type, data };
  await paas.create(Secret, secret);
  const image = { name: `${registry}/acme/lacking`, secretName: "own" };
  await syncs.branch("lacking");
  const { status } = await syncs.start("lacking", { branch: "lacking" }, { image });
  await paas.environment.client.delete(Secret, own, {});
  const [first] = await syncs.builds("lacking");
  await syncs.rebuild(first as Awaited<ReturnType<RemoteSyncs["builds"]>>[number]);
  await paas.environment.until(RemoteSync, { name: "lacking" }, (sync) =>
    Boolean(
      has("Ready", "True", "RebuildNotStarted")(sync) && sync.status?.warning?.includes("no Secret own"),
    ),
  );
  expect((await syncs.application("lacking")).spec.image).toBe(status?.latestImage);
  await paas.create(Secret, secret);
  await untilBuild("lacking", 3, has("Succeeded", "True"));
  const builds = await syncs.builds("lacking");
  expect(builds.map((build) => conditionOf(build, "Succeeded")?.status)).toEqual(["True", "False", "True"]);
  expect(new Set(builds.map(revisionOf)).size).toBe(1);
  await expect
    .poll(async () => (await syncs.application("lacking")).spec.image, { timeout })
    .toBe(builds[2]?.status?.latestImage);
  await syncs.ready("lacking");
});

test("recreates and builds the Image for another image repository", async () => {
  const { status } = await syncs.start("moving");
  const before = await syncs.image("moving");
  await paas.patch(RemoteSync, "moving", { spec: { image: { name: `${registry}/acme/moved` } } });
  const moved = await paas.environment.until(
    RemoteSync,
    { name: "moving" },
    (sync) => has("Ready", "True")(sync) && (sync.status?.latestImage?.includes("/acme/moved@") ?? false),
  );
  const after = await syncs.image("moving");
  expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
  expect(after?.spec.tag).toBe(`${registry}/acme/moved:moving`);
  const builds = await syncs.builds("moving");
  expect(builds.map(numberOf)).toEqual([1]);
  expect(moved.status?.revision).toBe(status?.revision);
  expect((await syncs.application("moving")).spec.image).toBe(moved.status?.latestImage);
});

test("when all Builds are deleted, uses the new one that has the name of the first", async () => {
  await syncs.start("emptied");
  const revision = await syncs.push("emptied");
  await syncs.ready("emptied", revision);
  const before = await syncs.builds("emptied");
  for (const { metadata } of before)
    await paas.environment.client.delete(Build, metadata, {}).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  const again = await paas.environment.until(
    RemoteSync,
    { name: "emptied" },
    (sync) => has("Ready", "True")(sync) && sync.status?.buildNumber === 1,
  );
  const [first, ...more] = await syncs.builds("emptied");
  expect(more).toEqual([]);
  expect(before.map(({ metadata }) => metadata.uid)).not.toContain(first?.metadata.uid);
  expect(again.status).toMatchObject({ revision, latestImage: first?.status?.latestImage });
  expect((await syncs.application("emptied")).spec.image).toBe(first?.status?.latestImage);
});

test("keeps other clients' Secrets in the account, and writes nothing on replayed events", async () => {
  await syncs.start("shared");
  const name = "modoki-shared-builder";
  const foreign = [{ name: "dockercfg-1" }];
  const at = { namespace: paas.namespace, name };
  await paas.create(Secret, { metadata: { ...at, name: "dockercfg-1" } });
  const { secrets: ours = [], imagePullSecrets: pulls = [] } = await paas.environment.client.get(
    ServiceAccount,
    at,
  );
  const all = { secrets: [...foreign, ...ours], imagePullSecrets: [...foreign, ...pulls] };
  await paas.patch(ServiceAccount, name, all);
  await syncs.ready("shared", await syncs.push("shared"));
  expect(await paas.environment.client.get(ServiceAccount, at)).toMatchObject(all);
  // In an existing cluster its image need not exist.
  if (paas.environment.origin === "local") await syncs.allRolledOut();
  await paas.untilQuiet();
  const writes = await paas.writes();
  syncs.asked();
  const changes = await paas.changes();
  await paas.replay(changes);
  const own = changes.filter(({ data }) => Buffer.from(data).includes("shared"));
  expect(own.length).toBeGreaterThan(4);
  for (let count = 0; count < sized(19, 99); count++) await paas.replay(own);
  await paas.untilQuiet();
  expect((await paas.writes()) - writes).toBe(0);
  expect(syncs.asked()).toEqual([]);
});

test("deletes its Image and account, and keeps the Application", async () => {
  const { status } = await syncs.start("leaving");
  const { metadata } = (await syncs.image("leaving")) ?? {};
  await paas.environment.client.delete(RemoteSync, { namespace: paas.namespace, name: "leaving" }, {});
  await paas.environment.untilGone(Image, { name: metadata?.name ?? "" });
  await paas.environment.untilGone(ServiceAccount, { name: "modoki-leaving-builder" });
  const app = await syncs.application("leaving");
  expect(app.spec).toMatchObject({ image: status?.latestImage });
  expect(app.spec.serviceAccount).toBeUndefined();
});
