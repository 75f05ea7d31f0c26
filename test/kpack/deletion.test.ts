/** Deletion, adoption, and no-op writes in the kpack simulator against the recording. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Kind } from "../../bus/kube/kind.ts";
import { externalKind, Namespace } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { Build, Image, Pod, SourceResolver } from "../../deploy/simulators/kpack/kinds.ts";
import { conditionOf } from "../../deploy/simulators/kpack/status.ts";
import { record } from "./recording.ts";
import { imageIn, manager, r1, r2, revised, type Scene, startScene } from "./scene.ts";

let scene: Scene;
beforeAll(async () => {
  scene = await startScene({ steps: "first and last" });
});
afterAll(() => scene?.stop());

const at = (namespace: string, name: string) => ({ namespace, name });
const isRunning = (step: string) => (pod: Pod) =>
  pod.status?.initContainerStatuses?.some(({ name, state }) => name === step && state.running) ?? false;
const held = { "sim.kpk/hold-step": "detect" };

describe.concurrent("a deleted Image", () => {
  test("deletes all its children, also a running Build", async () => {
    const { image, namespace, untilReady, patch } = await scene.place("all");
    await image("web");
    await untilReady("web", "True/UpToDate");
    await patch("web", { metadata: { annotations: held }, ...revised(r2) });
    await scene.kit.until(Pod, at(namespace, "web-build-2-build-pod"), isRunning("detect"));
    await scene.client.delete(Image, at(namespace, "web"), {});
    for (const number of [1, 2]) {
      await scene.kit.untilGone(Pod, at(namespace, `web-build-${number}-build-pod`));
      await scene.kit.untilGone(Build, at(namespace, `web-build-${number}`));
    }
    await scene.kit.untilGone(SourceResolver, at(namespace, "web-source"));
    await scene.kit.untilGone(Image, at(namespace, "web"));
  });

  test("that is recreated is built from number 1 to another digest", async () => {
    const place = await scene.place("anew");
    await place.image("web");
    const before = await place.untilReady("web", "True/UpToDate");
    await scene.client.delete(Image, at("anew", "web"), {});
    await scene.kit.untilGone(Build, at("anew", "web-build-1"));
    await scene.kit.untilGone(SourceResolver, at("anew", "web-source"));
    // Otherwise kpack would use the old Build of that name.
    await scene.kpack.caughtUp();
    await place.image("web");
    const after = await place.untilReady("web", "True/UpToDate");
    expect(after.status?.buildCounter).toBe(1);
    expect(after.status?.latestImage).not.toBe(before.status?.latestImage);
  });

  test("with orphaned children leaves them to a new Image by label, which then waits forever", async () => {
    const place = await scene.place("orphans");
    const { namespace } = place;
    await place.image("web");
    await place.untilReady("web", "True/UpToDate");
    await place.patch("web", revised(r2));
    await place.untilBuilt("web", 2);
    await place.untilReady("web", "True/UpToDate");
    await scene.client.delete(Image, at(namespace, "web"), { propagation: "Orphan" });
    await scene.kit.untilGone(Image, at(namespace, "web"));
    const seen = await record(scene.client, namespace);
    await place.image("web", { revision: "3".repeat(40) });
    await scene.kit.until(
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
      (await scene.client.get(SourceResolver, at(namespace, "web-source"))).metadata.ownerReferences,
    ).toBeUndefined();
  });
});

describe.concurrent("a deleted Build", () => {
  test("that was the only one is recreated as number 1 with reason CONFIG, while the Image keeps its latestImage", async () => {
    const place = await scene.place("builds");
    await place.image("web");
    const before = await place.untilReady("web", "True/UpToDate");
    const [first] = await place.builds("web");
    const seen = await record(scene.client, place.namespace);
    await scene.client.delete(Build, at(place.namespace, "web-build-1"), {});
    const lines = await seen.until(/^ADDED Build-1/, /Image .*latestBuildRef=web-build-1 .*Ready=True/);
    seen.stop();
    const [again] = await place.builds("web");
    expect(again?.metadata.name).toBe("web-build-1");
    expect(again?.metadata.uid).not.toBe(first?.metadata.uid);
    expect(again?.metadata.annotations?.["image.kpack.io/reason"]).toBe("CONFIG");
    const running = lines.filter((line) => / Image .*BuildRunning/.test(line));
    expect(running.length).toBeGreaterThan(0);
    for (const line of running) expect(line).toMatch(/buildCounter=1 .*latestImage=D1 Ready/);
    expect(before.status?.latestImage).toBeDefined();
  });

  test("that was running is recreated with its number and reason", async () => {
    const place = await scene.place("running");
    await place.image("web");
    await place.untilReady("web", "True/UpToDate");
    await place.patch("web", { metadata: { annotations: held }, ...revised(r2) });
    const pod = at(place.namespace, "web-build-2-build-pod");
    const first = await scene.kit.until(Pod, pod, isRunning("detect"));
    await scene.client.delete(Build, at(place.namespace, "web-build-2"), {});
    await scene.kit.until(
      Pod,
      pod,
      (one) => one.metadata.uid !== first.metadata.uid && isRunning("detect")(one),
    );
    await scene.client.mergePatch(
      Pod,
      pod,
      { metadata: { annotations: { "sim.kpk/hold-step": null } } },
      manager,
    );
    await place.untilReady("web", "True/UpToDate");
    const builds = await place.builds("web");
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
  const place = await scene.place("doomed");
  await place.image("web", { annotations: held });
  await scene.kit.until(Pod, at("doomed", "web-build-1-build-pod"), isRunning("detect"));
  await scene.client.delete(Namespace, { name: "doomed" }, {});
  await scene.kit.untilGone(Namespace, { name: "doomed" });
});

describe.concurrent("a write that changes nothing", () => {
  test("causes no event, also without the defaulted fields", async () => {
    const place = await scene.place("nothing");
    const { namespace } = place;
    const desired = imageIn(namespace, "web");
    const apply = () => scene.client.apply(Image, desired, { fieldManager: "test", force: "conflict" });
    await apply();
    const image = await place.untilReady("web", "True/UpToDate");
    const seen = await record(scene.client, namespace);
    const written = [
      await apply(),
      await place.patch("web", { spec: { tag: image.spec.tag, failedBuildHistoryLimit: 10 } }),
      await scene.client.request<Image>({
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
    await place.patch("web", { metadata: { annotations: { a: "b" } } });
    const lines = await seen.until(/Image/);
    seen.stop();
    expect(lines).toHaveLength(1);
  });

  test("leaves defaults without a field manager, and the status with kpack's", async () => {
    const place = await scene.place("owners");
    await scene.client.apply(Image, imageIn("owners", "web"), { fieldManager: "test", force: "conflict" });
    const { metadata } = await place.untilReady("web", "True/UpToDate");
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
  const place = await scene.place("quiet");
  await place.image("web", { revision: r1 });
  await place.untilReady("web", "True/UpToDate");
  const Event = externalKind({ group: "", version: "v1", kind: "Event", plural: "events" });
  expect((await scene.client.list(Event, place.namespace)).items).toEqual([]);
  for (const kind of [Image, Build, SourceResolver, Pod] as unknown as Kind<KubeObject>[]) {
    const { items } = await scene.client.list(kind, place.namespace);
    expect(items.map(({ metadata }) => metadata.finalizers)).toEqual([undefined]);
  }
});
