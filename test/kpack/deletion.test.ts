/** Deletion, adoption, and no-op writes in the kpack simulator against the recording. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Kind } from "../../bus/kube/kind.ts";
import { externalKind, Namespace } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { Build, Image, Pod, SourceResolver } from "../../deploy/simulators/kpack/kinds.ts";
import { conditionOf } from "../../deploy/simulators/kpack/status.ts";
import { type Environment, imageIn, manager, r1, r2, revised, startEnvironment } from "./environment.ts";
import { record } from "./recording.ts";

let environment: Environment;
beforeAll(async () => {
  environment = await startEnvironment({ steps: "first and last" });
});
afterAll(() => environment?.stop());

const at = (namespace: string, name: string) => ({ namespace, name });
const isRunning = (step: string) => (pod: Pod) =>
  pod.status?.initContainerStatuses?.some(({ name, state }) => name === step && state.running) ?? false;
const held = { "sim.kpk/hold-step": "detect" };

describe.concurrent("a deleted Image", () => {
  test("deletes all its children, also a running Build", async () => {
    const { image, namespace, untilReady, patch } = await environment.createNamespace("all");
    await image("web");
    await untilReady("web", "True/UpToDate");
    await patch("web", { metadata: { annotations: held }, ...revised(r2) });
    await environment.until(Pod, at(namespace, "web-build-2-build-pod"), isRunning("detect"));
    await environment.client.delete(Image, at(namespace, "web"), {});
    for (const number of [1, 2]) {
      await environment.untilGone(Pod, at(namespace, `web-build-${number}-build-pod`));
      await environment.untilGone(Build, at(namespace, `web-build-${number}`));
    }
    await environment.untilGone(SourceResolver, at(namespace, "web-source"));
    await environment.untilGone(Image, at(namespace, "web"));
  });

  test("that is recreated is built from number 1 to another digest", async () => {
    const ns = await environment.createNamespace("anew");
    await ns.image("web");
    const before = await ns.untilReady("web", "True/UpToDate");
    await environment.client.delete(Image, at("anew", "web"), {});
    await environment.untilGone(Build, at("anew", "web-build-1"));
    await environment.untilGone(SourceResolver, at("anew", "web-source"));
    // Otherwise kpack would use the old Build of that name.
    await environment.kpack.caughtUp();
    await ns.image("web");
    const after = await ns.untilReady("web", "True/UpToDate");
    expect(after.status?.buildCounter).toBe(1);
    expect(after.status?.latestImage).not.toBe(before.status?.latestImage);
  });

  test("with orphaned children leaves them to a new Image by label, which then waits forever", async () => {
    const ns = await environment.createNamespace("orphans");
    const { namespace } = ns;
    await ns.image("web");
    await ns.untilReady("web", "True/UpToDate");
    await ns.patch("web", revised(r2));
    await ns.untilBuilt("web", 2);
    await ns.untilReady("web", "True/UpToDate");
    await environment.client.delete(Image, at(namespace, "web"), { propagation: "Orphan" });
    await environment.untilGone(Image, at(namespace, "web"));
    const seen = await record(environment.client, namespace);
    await ns.image("web", { revision: "3".repeat(40) });
    await environment.until(
      SourceResolver,
      at(namespace, "web-source"),
      ({ metadata, status }) => metadata.generation === 3 && status?.observedGeneration === 3,
    );
    const lines = await seen.until(/ResolverNotReady/);
    seen.stop();
    expect(lines).toEqual([
      "ADDED Image gen=1",
      `MODIFIED Image gen=1 obs=1 latestBuildRef=web-build-2 buildCounter=2 latestBuildReason=COMMIT latestBuildImageGeneration=2 latestImage=D1 latestStack=kpk.stack Ready=Unknown/ResolverNotReady "Error: SourceResolver 'web-source' is not ready" BR BU`,
    ]);
    expect(
      (await environment.client.get(SourceResolver, at(namespace, "web-source"))).metadata.ownerReferences,
    ).toBeUndefined();
  });
});

describe.concurrent("a deleted Build", () => {
  test("that was the only one is recreated as number 1 with reason CONFIG, while the Image keeps its latestImage", async () => {
    const ns = await environment.createNamespace("builds");
    await ns.image("web");
    const before = await ns.untilReady("web", "True/UpToDate");
    const [first] = await ns.builds("web");
    const seen = await record(environment.client, ns.namespace);
    await environment.client.delete(Build, at(ns.namespace, "web-build-1"), {});
    const lines = await seen.until(/^ADDED Build-1/, /Image .*latestBuildRef=web-build-1 .*Ready=True/);
    seen.stop();
    const [again] = await ns.builds("web");
    expect(again?.metadata.name).toBe("web-build-1");
    expect(again?.metadata.uid).not.toBe(first?.metadata.uid);
    expect(again?.metadata.annotations?.["image.kpack.io/reason"]).toBe("CONFIG");
    const running = lines.filter((line) => / Image .*BuildRunning/.test(line));
    expect(running.length).toBeGreaterThan(0);
    for (const line of running) expect(line).toMatch(/buildCounter=1 .*latestImage=D1 Ready/);
    expect(before.status?.latestImage).toBeDefined();
  });

  test("that was running is recreated with its number and reason", async () => {
    const ns = await environment.createNamespace("running");
    await ns.image("web");
    await ns.untilReady("web", "True/UpToDate");
    await ns.patch("web", { metadata: { annotations: held }, ...revised(r2) });
    const pod = at(ns.namespace, "web-build-2-build-pod");
    const first = await environment.until(Pod, pod, isRunning("detect"));
    await environment.client.delete(Build, at(ns.namespace, "web-build-2"), {});
    await environment.until(
      Pod,
      pod,
      (one) => one.metadata.uid !== first.metadata.uid && isRunning("detect")(one),
    );
    await environment.client.mergePatch(
      Pod,
      pod,
      { metadata: { annotations: { "sim.kpk/hold-step": null } } },
      manager,
    );
    await ns.untilReady("web", "True/UpToDate");
    const builds = await ns.builds("web");
    expect(
      builds.map(({ metadata }) => [metadata.name, metadata.annotations?.["image.kpack.io/reason"]]),
    ).toEqual([
      ["web-build-1", "CONFIG"],
      ["web-build-2", "COMMIT"],
    ]);
    expect(conditionOf(builds[1], "Succeeded")?.status).toBe("True");
  });
});

test.concurrent("a namespace goes with all that is in it", async () => {
  const ns = await environment.createNamespace("doomed");
  await ns.image("web", { annotations: held });
  await environment.until(Pod, at("doomed", "web-build-1-build-pod"), isRunning("detect"));
  await environment.client.delete(Namespace, { name: "doomed" }, {});
  await environment.untilGone(Namespace, { name: "doomed" });
});

describe.concurrent("a write that changes nothing", () => {
  test("causes no event, also without the defaulted fields", async () => {
    const ns = await environment.createNamespace("nothing");
    const { namespace } = ns;
    const desired = imageIn(namespace, "web");
    const apply = () => environment.client.apply(Image, desired, { fieldManager: "test", force: "conflict" });
    await apply();
    const image = await ns.untilReady("web", "True/UpToDate");
    const seen = await record(environment.client, namespace);
    const written = [
      await apply(),
      await ns.patch("web", { spec: { tag: image.spec.tag, failedBuildHistoryLimit: 10 } }),
      await environment.client.request<Image>({
        method: "PUT",
        path: `/apis/kpack.io/v1alpha2/namespaces/${namespace}/images/web`,
        body: {
          ...desired,
          metadata: { ...desired.metadata, resourceVersion: image.metadata.resourceVersion },
        },
      }),
    ];
    expect(written.map(({ metadata }) => [metadata.resourceVersion, metadata.generation])).toEqual(
      written.map(() => [image.metadata.resourceVersion, 1]),
    );
    await ns.patch("web", { metadata: { annotations: { a: "b" } } });
    const lines = await seen.until(/Image/);
    seen.stop();
    expect(lines).toHaveLength(1);
  });

  test("leaves defaults without a field manager, and the status with kpack's", async () => {
    const ns = await environment.createNamespace("owners");
    await environment.client.apply(Image, imageIn("owners", "web"), {
      fieldManager: "test",
      force: "conflict",
    });
    const { metadata } = await ns.untilReady("web", "True/UpToDate");
    const owned = (metadata as unknown as { managedFields: Owned[] }).managedFields;
    expect(owned.map(({ manager, operation, subresource }) => [manager, operation, subresource])).toEqual([
      ["test", "Apply", undefined],
      ["controller", "Update", "status"],
    ]);
    expect(JSON.stringify(owned)).not.toContain("HistoryLimit");
  });
});

interface Owned {
  readonly manager: string;
  readonly operation: string;
  readonly subresource?: string;
}

test.concurrent("there are no Events and no finalizers", async () => {
  const ns = await environment.createNamespace("quiet");
  await ns.image("web", { revision: r1 });
  await ns.untilReady("web", "True/UpToDate");
  const Event = externalKind({ group: "", version: "v1", kind: "Event", plural: "events" });
  expect((await environment.client.list(Event, ns.namespace)).items).toEqual([]);
  for (const kind of [Image, Build, SourceResolver, Pod] as unknown as Kind<KubeObject>[]) {
    const { items } = await environment.client.list(kind, ns.namespace);
    expect(items.map(({ metadata }) => metadata.finalizers)).toEqual([undefined]);
  }
});
