/** Changes to an Image in the kpack simulator against the recording, and the resulting Builds. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Build, Pod, SourceResolver } from "../../deploy/simulators/kpack/kinds.ts";
import { conditionOf } from "../../deploy/simulators/kpack/status.ts";
import {
  type Environment,
  eachStep,
  manager,
  r1,
  r2,
  r3,
  r4,
  registry,
  revised,
  startEnvironment,
  type TestNamespace,
} from "./environment.ts";
import { record } from "./recording.ts";

let environment: Environment;
beforeAll(async () => {
  environment = await startEnvironment({ steps: "first and last" });
});
afterAll(() => environment?.stop());

/** A namespace with a built Image. */
async function built(namespace: string, annotations: Record<string, string> = {}): Promise<TestNamespace> {
  const ns = await environment.createNamespace(namespace);
  await ns.image("web", { annotations });
  await ns.untilReady("web", "True/UpToDate");
  return ns;
}

const reasons = (builds: readonly Build[]): unknown[] =>
  builds.map(({ metadata, spec }) => [
    metadata.annotations?.["image.kpack.io/reason"],
    spec.source.git?.revision,
  ]);

/** Lines of the Image (`Image gen=…`), without messages of running steps. */
const ofImage = (lines: readonly string[]): string[] =>
  lines.filter((line) => line.includes(" Image ") && !line.includes("Container "));

test.concurrent("shows the old image until another revision is built", async () => {
  const ns = await built("again");
  const seen = await record(environment.client, ns.namespace);
  await ns.patch("web", {
    metadata: { annotations: eachStep },
    spec: { source: { git: { revision: r2 } }, additionalTags: [`${registry}/apps/web:${r2}`] },
  });
  const lines = await seen.until(/Image .*latestBuildRef=web-build-2 .*Ready=True/);
  seen.stop();
  const first =
    "latestBuildRef=web-build-1 buildCounter=1 latestBuildReason=CONFIG latestBuildImageGeneration=1";
  const second =
    "latestBuildRef=web-build-2 buildCounter=2 latestBuildReason=COMMIT latestBuildImageGeneration=2";
  const running = (message: string) =>
    `MODIFIED Image gen=2 obs=2 ${second} latestImage=D1 Ready=Unknown/BuildRunning${message} BR BU`;
  expect(ofImage(lines)).toEqual([
    `MODIFIED Image gen=2 obs=1 ${first} latestImage=D1 latestStack=kpk.stack Ready=True/UpToDate BR BU`,
    `MODIFIED Image gen=2 obs=2 ${first} latestImage=D1 latestStack=kpk.stack Ready=Unknown/ResolverNotReady "Error: SourceResolver 'web-source' is not ready" BR BU`,
    running(` "Build 'web-build-2' is executing"`),
    running(""),
    running(""),
    `MODIFIED Image gen=2 obs=2 ${second} latestImage=D2 latestStack=kpk.stack Ready=True/UpToDate BR BU`,
  ]);
  const [one, two] = await ns.builds("web");
  expect(two?.metadata.annotations?.["image.kpack.io/buildChanges"]).toBe(
    JSON.stringify([{ reason: "COMMIT", old: r1, new: r2 }]),
  );
  expect(two?.metadata.labels?.["image.kpack.io/imageGeneration"]).toBe("2");
  expect(two?.spec.lastBuild).toEqual({ image: one?.status?.latestImage, cache: {}, stackId: "kpk.stack" });
  expect(two?.status?.latestImage).not.toBe(one?.status?.latestImage);
});

test.concurrent("revisions that come while a Build runs become one Build, of the newest", async () => {
  const ns = await built("during");
  const hold = { metadata: { annotations: { "sim.kpk/hold-step": "detect" } } };
  await ns.patch("web", { ...hold, ...revised(r2) });
  const pod = { namespace: ns.namespace, name: "web-build-2-build-pod" };
  await environment.until(Pod, pod, isRunning("detect"));
  const seen = await record(environment.client, ns.namespace);
  await ns.patch("web", { metadata: { annotations: { "sim.kpk/hold-step": null } }, ...revised(r3) });
  await ns.patch("web", revised(r4));
  const jumped = /Image gen=4 obs=4 latestBuildRef=web-build-2 .*latestBuildImageGeneration=2 .*BuildRunning/;
  await seen.until(jumped);
  const resolver = { namespace: ns.namespace, name: "web-source" };
  expect((await environment.client.get(SourceResolver, resolver)).spec.source.git?.revision).toBe(r2);

  await environment.client.mergePatch(Pod, pod, release, manager);
  const lines = await seen.until(/Image .*latestBuildRef=web-build-3 .*Ready=True/);
  seen.stop();
  expect(reasons(await ns.builds("web"))).toEqual([
    ["CONFIG", r1],
    ["COMMIT", r2],
    ["COMMIT", r4],
  ]);
  expect(lines.filter((line) => /Ready=True/.test(line))).toHaveLength(1);
  expect(
    lines.filter((line) => /latestBuildRef=web-build-2 .*latestImage=D\d .*ResolverNotReady/.test(line)),
  ).toHaveLength(1);
});

const release = { metadata: { annotations: { "sim.kpk/hold-step": null } } };
const isRunning = (step: string) => (pod: Pod) =>
  pod.status?.initContainerStatuses?.some(({ name, state }) => name === step && state.running) ?? false;

test.concurrent("does not recover a lost latestBuildRef before the Build ends", async () => {
  const ns = await built("race");
  environment.kpack.loseNextReference({ namespace: ns.namespace, name: "web" });
  const seen = await record(environment.client, ns.namespace);
  await ns.patch("web", { ...revised(r2), metadata: { annotations: eachStep } });
  const lines = await seen.until(/Image .*latestBuildRef=web-build-2 .*Ready=True/);
  seen.stop();
  const running = lines.filter((line) => / Image .*BuildRunning/.test(line));
  expect(running.length).toBeGreaterThan(5);
  for (const line of running)
    expect(line).toContain(
      "obs=2 latestBuildRef=web-build-1 buildCounter=1 latestBuildReason=CONFIG latestBuildImageGeneration=1 latestImage=D1",
    );
  expect(reasons(await ns.builds("web"))).toEqual([
    ["CONFIG", r1],
    ["COMMIT", r2],
  ]);
});

test.concurrent("creates a Build for each change of environment, resources, subpath, url, or several at once", async () => {
  const ns = await built("does");
  const changes = [
    ["environment", { build: { env: [{ name: "A", value: "b" }] } }, "CONFIG"],
    ["resources", { build: { resources: { limits: { cpu: "1" } } } }, "CONFIG"],
    ["subpath", { source: { subPath: "web" } }, "CONFIG"],
    ["url", { source: { git: { url: "https://git.example/acme/other" } } }, "CONFIG"],
    [
      "both",
      { source: { git: { revision: r2 } }, build: { env: [{ name: "A", value: "c" }] } },
      "COMMIT,CONFIG",
    ],
  ] as const;
  for (const [at, [name, spec, reason]] of changes.entries()) {
    const number = at + 2;
    await ns.patch("web", { spec });
    const build = await ns.untilBuilt("web", number);
    expect(build.metadata.annotations?.["image.kpack.io/reason"], name).toBe(reason);
    const { status } = await ns.untilReady("web", "True/UpToDate");
    expect(status?.latestBuildImageGeneration, name).toBe(number);
    expect(await ns.builds("web"), name).toHaveLength(number);
  }
});

test.concurrent("creates no Build for changes that do not affect its content", async () => {
  // Name, patch, and how often the source is resolved again.
  const changes = [
    ["labels", { metadata: { labels: { a: "b" } } }, 1],
    ["annotations", { metadata: { annotations: { a: "b" } } }, 0],
    ["tags", { spec: { additionalTags: [`${registry}/apps/web:x`] } }, 0],
    ["limits", { spec: { failedBuildHistoryLimit: 3, successBuildHistoryLimit: 5 } }, 0],
    ["account", { spec: { serviceAccountName: "default" } }, 1],
    ["strategy", { spec: { imageTaggingStrategy: "None" } }, 0],
    ["process", { spec: { defaultProcess: "worker" } }, 0],
    ["tolerations", { spec: { build: { tolerations: [{ operator: "Exists" }] } } }, 0],
    ["timeout", { spec: { build: { buildTimeout: 60 } } }, 0],
    ["time", { spec: { build: { creationTime: "now" } } }, 0],
  ] as const;
  const ns = await built("not");
  const seen = await record(environment.client, ns.namespace);
  const isFlipOf = (gen: number) => (line: string) =>
    line.includes(`gen=${gen} obs=${gen} `) && line.includes("ResolverNotReady");
  const expected = new Map<number, number>();
  for (const [name, patch, flips] of changes) {
    const gen = (await ns.patch("web", patch)).metadata.generation ?? 0;
    expected.set(gen, (expected.get(gen) ?? 0) + flips);
    // Labels do not change the generation, so only this shows that they were seen.
    if (flips > 0) await seen.until(new RegExp(`gen=${gen} obs=${gen} .*ResolverNotReady`));
    const { status } = await ns.untilReady("web", "True/UpToDate");
    expect(status?.latestBuildImageGeneration, name).toBe(1);
  }
  // After another revision, all effects of the earlier changes have occurred.
  await ns.patch("web", revised(r2));
  const lines = await seen.until(/Image .*latestBuildRef=web-build-2 .*Ready=True/);
  seen.stop();
  expect(reasons(await ns.builds("web"))).toEqual([
    ["CONFIG", r1],
    ["COMMIT", r2],
  ]);
  const found = [...expected.keys()].map((gen) => [gen, lines.filter(isFlipOf(gen)).length]);
  expect(found).toEqual([...expected]);
});

describe.concurrent("image.kpack.io/additionalBuildNeeded", () => {
  const needed = { metadata: { annotations: { "image.kpack.io/additionalBuildNeeded": "" } } };
  const annotate = (ns: TestNamespace, number: number) =>
    environment.client.mergePatch(
      Build,
      { namespace: ns.namespace, name: `web-build-${number}` },
      needed,
      manager,
    );

  test("on the latest Build creates one Build, and has no effect on an older one", async () => {
    const ns = await built("trigger");
    await annotate(ns, 1);
    const build = await ns.untilBuilt("web", 2);
    const [change] = JSON.parse(build.metadata.annotations?.["image.kpack.io/buildChanges"] ?? "[]");
    expect(change).toEqual({
      reason: "TRIGGER",
      old: "",
      new: expect.stringMatching(
        /^A new build was manually triggered on \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000$/,
      ),
    });
    await ns.untilReady("web", "True/UpToDate");
    const { namespace } = ns;
    const name = "web-build-1";
    await environment.client.mergePatch(
      Build,
      { namespace, name },
      { metadata: { annotations: { again: "1" } } },
      manager,
    );
    await ns.patch("web", revised(r2));
    await ns.untilBuilt("web", 3);
    expect(reasons(await ns.builds("web"))).toEqual([
      ["CONFIG", r1],
      ["TRIGGER", r1],
      ["COMMIT", r2],
    ]);
  });

  test("on a failed Build repeats it", async () => {
    const ns = await environment.createNamespace("trigger-failed");
    await ns.image("web", { annotations: { "sim.kpk/fail-step": "build" } });
    await ns.untilReady("web", "False/BuildFailed");
    await ns.patch("web", { metadata: { annotations: { "sim.kpk/fail-step": null } } });
    await environment.kpack.caughtUp();
    await annotate(ns, 1);
    expect(conditionOf(await ns.untilBuilt("web", 2), "Succeeded")?.status).toBe("True");
  });

  test("on a running Build takes effect when it ends", async () => {
    const ns = await environment.createNamespace("trigger-running");
    await ns.image("web", { annotations: { "sim.kpk/hold-step": "build" } });
    const pod = { namespace: ns.namespace, name: "web-build-1-build-pod" };
    await environment.until(Pod, pod, isRunning("build"));
    await annotate(ns, 1);
    await ns.patch("web", { metadata: { annotations: { "sim.kpk/hold-step": null } } });
    await environment.kpack.caughtUp();
    expect(await ns.builds("web")).toHaveLength(1);
    await environment.client.mergePatch(Pod, pod, release, manager);
    await ns.untilBuilt("web", 2);
  });

  test("on the Image creates Builds until it is removed", async () => {
    const ns = await built("trigger-endless");
    // The number of Builds until the annotation is removed is not known.
    await ns.patch("web", { spec: { successBuildHistoryLimit: 10_000 } });
    await ns.patch("web", { ...needed, ...revised(r2) });
    await ns.untilBuilt("web", 4);
    await ns.patch("web", { metadata: { annotations: { "image.kpack.io/additionalBuildNeeded": null } } });
    await ns.untilReady("web", "True/UpToDate");
    const [first, second, ...more] = reasons(await ns.builds("web"));
    expect([first, second]).toEqual([
      ["CONFIG", r1],
      ["COMMIT", r2],
    ]);
    expect(new Set(more.map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify(["TRIGGER", r2])]),
    );
  });
});
