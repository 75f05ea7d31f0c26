/** Builders in the kpack simulator against the recording: conditions of Images, and new stacks. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ClusterBuilder, Image, Pod, SourceResolver } from "../../deploy/simulators/kpack/kinds.ts";
import { conditionOf } from "../../deploy/simulators/kpack/status.ts";
import { type Environment, manager, r1, startEnvironment } from "./environment.ts";
import { record } from "./recording.ts";

let environment: Environment;
beforeAll(async () => {
  environment = await startEnvironment({ steps: "first and last" });
});
afterAll(() => environment?.stop());

const spec = (name: string, kind = "ClusterBuilder") => ({ builder: { kind, name } });
const readyOf = (line: string): string => line.slice(line.indexOf(" Ready=") + 1);
const notReady = (name: string) => `Error: Builder '${name}' is not ready in namespace ''`;
const notUpToDate =
  'BuilderUpToDate=False/BuilderNotUpToDate "Builder is not up to date. The latest stack and buildpacks may not be in use."';

describe.concurrent("a builder that", () => {
  test("does not exist is the Image's only condition, and the Image is built when the builder is ready", async () => {
    const { image, namespace, builds } = await environment.createNamespace("late");
    const seen = await record(environment.client, namespace);
    await image("web", { spec: spec("late") });
    await seen.until(/BuilderNotFound/);
    expect((await environment.client.list(SourceResolver, namespace)).items).toEqual([]);
    await environment.kpack.builder("late", "not-ready");
    await seen.until(/BuilderNotReady/);
    await environment.kpack.builder("late", "broken");
    await seen.until(/Message: Builder has no latestImage/);
    const broken = await environment.client.get(ClusterBuilder, { name: "late" });
    expect(conditionOf(broken, "Ready")).toMatchObject({ status: "False", reason: "NoLatestImage" });
    expect(conditionOf(broken, "UpToDate")).toMatchObject({
      status: "False",
      reason: "ReconcileFailed",
      message: 'clusterstack.kpack.io "nostack" not found',
    });
    expect(await builds("web")).toEqual([]);
    await environment.kpack.builder("late", "ready");
    const lines = await seen.until(/Image .*Ready=True/);
    seen.stop();
    const both = (text: string) =>
      `Ready=False/BuilderNotReady "${text}" BuilderReady=False/BuilderNotReady "${text}" ${notUpToDate}`;
    const ready = lines.filter((line) => / Image .* Ready=/.test(line)).map(readyOf);
    expect([...new Set(ready)].slice(0, 3)).toEqual([
      `Ready=False/BuilderNotFound "Error: Unable to find builder 'late' in namespace ''."`,
      both(notReady("late")),
      both(`${notReady("late")}; Message: Builder has no latestImage`),
    ]);
    expect(lines[1]).toMatch(/^MODIFIED Image gen=1 obs=1 Ready=False/);
    expect(await builds("web")).toHaveLength(1);
  });

  test("is namespaced and missing gives the same message", async () => {
    const ns = await environment.createNamespace("namespaced");
    await ns.image("web", { spec: spec("near", "Builder") });
    const image = await ns.untilReady("web", "False/BuilderNotFound");
    expect(image.status?.conditions?.map(({ message }) => message)).toEqual([
      "Error: Unable to find builder 'near' in namespace ''.",
    ]);
    const builder = {
      apiVersion: "kpack.io/v1alpha2",
      kind: "Builder",
      metadata: { namespace: ns.namespace, name: "near" },
      spec: { tag: "registry.example/near", stack: { kind: "ClusterStack", name: "default" } },
    };
    await environment.client.request({
      method: "POST",
      path: `/apis/kpack.io/v1alpha2/namespaces/${ns.namespace}/builders`,
      body: builder,
    });
    await ns.untilReady("web", "True/UpToDate");
    const [build] = await ns.builds("web");
    expect(build?.status?.buildMetadata).toMatchObject([{ id: "kpk/bp" }]);
    expect(build?.spec.builder.image).toContain("clusterbuilder-near");
  });

  test("is edited makes its Images briefly unready, without a Build", async () => {
    const ns = await environment.createNamespace("flap");
    await environment.kpack.builder("flapping", "ready");
    await ns.image("web", { spec: spec("flapping") });
    await ns.untilReady("web", "True/UpToDate");
    const seen = await record(environment.client, ns.namespace);
    await environment.kpack.builder("flapping", "ready");
    const lines = await seen.until(/Ready=True/);
    seen.stop();
    const kept =
      "gen=1 obs=1 latestBuildRef=web-build-1 buildCounter=1 latestBuildReason=CONFIG latestBuildImageGeneration=1 latestImage=D1 latestStack=kpk.stack";
    expect(lines).toEqual([
      `MODIFIED Image ${kept} Ready=False/BuilderNotReady "${notReady("flapping")}" BuilderReady=False/BuilderNotReady "${notReady("flapping")}" BU`,
      `MODIFIED Image ${kept} Ready=True/UpToDate BR BU`,
    ]);
  });

  test("is broken by an edit keeps its image", async () => {
    const ns = await environment.createNamespace("broken");
    await environment.kpack.builder("breaking", "ready");
    await ns.image("web", { spec: spec("breaking") });
    await ns.untilReady("web", "True/UpToDate");
    await environment.kpack.builder("breaking", "broken");
    const image = await environment.until(
      Image,
      { namespace: ns.namespace, name: "web" },
      (one) =>
        conditionOf(one, "BuilderUpToDate")?.status === "False" &&
        conditionOf(one, "Ready")?.status === "True",
    );
    expect(conditionOf(image, "BuilderReady")?.status).toBe("True");
    await ns.patch("web", { spec: { source: { subPath: "other" } } });
    await ns.untilBuilt("web", 2);
  });

  test("is deleted during a Build lets the Build succeed, but the Image does not report it", async () => {
    const ns = await environment.createNamespace("gone");
    await environment.kpack.builder("going", "ready");
    await ns.image("web", { spec: spec("going"), annotations: { "sim.kpk/hold-step": "export" } });
    const pod = { namespace: ns.namespace, name: "web-build-1-build-pod" };
    await environment.until(Pod, pod, ({ status }) =>
      Boolean(status?.initContainerStatuses?.at(-1)?.state.running),
    );
    const seen = await record(environment.client, ns.namespace);
    await environment.kpack.builder("going", "deleted");
    await seen.until(/BuilderNotFound/);
    await environment.client.mergePatch(
      Pod,
      pod,
      { metadata: { annotations: { "sim.kpk/hold-step": null } } },
      manager,
    );
    expect(conditionOf(await ns.untilBuilt("web", 1), "Succeeded")?.status).toBe("True");
    // Another reconcile of the Image does not change the condition.
    await ns.patch("web", { spec: { defaultProcess: "web" } });
    const lines = await seen.until(/gen=2 obs=2/);
    seen.stop();
    const last = lines.filter((line) => / Image /.test(line)).at(-1) ?? "";
    expect(readyOf(last)).toBe(
      `Ready=False/BuilderNotFound "Error: Unable to find builder 'going' in namespace ''."`,
    );
    expect(last).not.toContain("latestImage");
  });
});

describe("all Images are rebuilt at once", () => {
  const names = ["one", "two"];

  test("for a new stack, by a rebase to another digest of the same revision", async () => {
    const ns = await environment.createNamespace("stack");
    await Promise.all(names.map((name) => ns.image(name)));
    const before = await Promise.all(names.map((name) => ns.untilReady(name, "True/UpToDate")));
    await environment.kpack.newStack();
    const builds = await Promise.all(names.map((name) => ns.untilBuilt(name, 2)));
    for (const [at, build] of builds.entries()) {
      expect(build.metadata.annotations?.["image.kpack.io/reason"]).toBe("STACK");
      expect(build.spec.source.git?.revision).toBe(r1);
      expect(build.status?.stepsCompleted).toEqual(["rebase", "completion"]);
      expect(build.status?.latestImage).toMatch(/@sha256:/);
      expect(build.status?.latestImage).not.toBe(before[at]?.status?.latestImage);
    }
    const images = await Promise.all(names.map((name) => ns.untilReady(name, "True/UpToDate")));
    expect(images.map(({ status }) => [status?.latestImage, status?.buildCounter])).toEqual(
      builds.map(({ status }) => [status?.latestImage, 2]),
    );
  });

  test("for new buildpacks, with all steps", async () => {
    const ns = await environment.createNamespace("buildpacks");
    await Promise.all(names.map((name) => ns.image(name)));
    await Promise.all(names.map((name) => ns.untilReady(name, "True/UpToDate")));
    const [first] = await ns.builds("one");
    const [old] = first?.status?.buildMetadata ?? [];
    await environment.kpack.newBuildpacks();
    for (const build of await Promise.all(names.map((name) => ns.untilBuilt(name, 2)))) {
      expect(build.metadata.annotations?.["image.kpack.io/buildChanges"]).toBe(
        JSON.stringify([{ reason: "BUILDPACK", old: [{ id: old?.id, version: old?.version }], new: null }]),
      );
      expect(build.status?.stepsCompleted).toHaveLength(7);
    }
  });

  test("except those whose last Build failed", async () => {
    const ns = await environment.createNamespace("stack-failed");
    await ns.image("bad", { annotations: { "sim.kpk/fail-step": "build" } });
    await ns.image("good");
    await ns.untilReady("bad", "False/BuildFailed");
    await ns.untilReady("good", "True/UpToDate");
    await environment.kpack.newStack();
    await ns.untilBuilt("good", 2);
    await ns.patch("bad", { spec: { defaultProcess: "web" } });
    await ns.untilReady("bad", "False/BuildFailed");
    expect(await ns.builds("bad")).toHaveLength(1);
  });
});
