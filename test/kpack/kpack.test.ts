/** A first Build in the kpack simulator against the recording, from the Image to the digest. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Kind } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { Build, Image, Pod, SourceResolver } from "../../deploy/simulators/kpack/kinds.ts";
import { account, type Environment, r1, registry, startEnvironment } from "./environment.ts";
import { record } from "./recording.ts";

let environment: Environment;
beforeAll(async () => {
  environment = await startEnvironment();
});
afterAll(() => environment?.stop());

const steps = ["prepare", "analyze", "detect", "restore", "build", "export", "completion"];
const done = (count: number): string =>
  count === 0 ? "" : ` stepsCompleted=[${steps.slice(0, count).join(" ")}]`;

/** All events of Image and Build, as recorded. */
function recordedEvents(): string[] {
  const counted =
    "obs=1 latestBuildRef=web-build-1 buildCounter=1 latestBuildReason=CONFIG latestBuildImageGeneration=1";
  const image = (ready: string) => `MODIFIED Image gen=1 ${counted} Ready=Unknown/BuildRunning${ready} BR BU`;
  const build = (rest: string) => `MODIFIED Build-1 obs=1 podName=web-build-1-build-pod${rest}`;
  const waitingFor = (step: string) => `Succeeded=Unknown/PodInitializing "Container ${step} waiting"`;
  return [
    "ADDED Image gen=1",
    `MODIFIED Image gen=1 obs=1 Ready=Unknown/ResolverNotReady "Error: SourceResolver 'web-source' is not ready" BR BU`,
    "ADDED Build-1",
    image(` "Build 'web-build-1' is executing"`),
    build(" Succeeded=Unknown/-"),
    image(""),
    build(` ${waitingFor("prepare")}`),
    image(` "Container prepare waiting"`),
    ...steps
      .slice(1, 6)
      .flatMap((next, at) => [
        build(`${done(at)} ${waitingFor(next)}`),
        image(` "Container ${next} waiting"`),
        build(`${done(at + 1)} ${waitingFor(next)}`),
      ]),
    build(`${done(5)} Succeeded=Unknown/-`),
    image(""),
    build(`${done(6)} Succeeded=Unknown/-`),
    build(`${done(6)} Succeeded=Unknown/-`),
    build(`${done(7)} latestImage=D1 stack=kpk.stack Succeeded=True/Completed`),
    `MODIFIED Image gen=1 ${counted} latestImage=D1 latestStack=kpk.stack Ready=True/UpToDate BR BU`,
  ];
}

describe("a first Build", () => {
  let image: Stored<Image>;
  let build: Stored<Build>;
  let events: string[];
  let objects: string[];
  beforeAll(async () => {
    const { image: create, namespace } = await environment.createNamespace("first");
    const seen = await record(environment.client, namespace);
    const made = await record(
      environment.client,
      namespace,
      [Image, SourceResolver, Build, Pod].map((kind) => kind as Kind),
    );
    await create("web", {
      labels: { "example.com/label": "web" },
      annotations: { "example.com/anno": "hello" },
      spec: { additionalTags: [`${registry}/apps/web:${r1}`] },
    });
    // Each kind has its own watch.
    events = await seen.until(/Image .*Ready=True/, /Build-1 .*Succeeded=True/);
    objects = await made.until(
      /Image .*Ready=True/,
      /^MODIFIED SourceResolver/,
      /^ADDED Pod/,
      /^MODIFIED Build-1/,
    );
    seen.stop();
    made.stop();
    image = await environment.client.get(Image, { namespace, name: "web" });
    build = await environment.client.get(Build, { namespace, name: "web-build-1" });
  });

  test("creates the objects in the recorded order", () => {
    const first = objects.slice(0, 8).map((line) => line.split(" ").slice(0, 2).join(" "));
    expect(first).toEqual([
      "ADDED Image",
      "ADDED SourceResolver",
      "MODIFIED Image",
      "MODIFIED SourceResolver",
      "ADDED Build-1",
      "MODIFIED Image",
      "ADDED Pod",
      "MODIFIED Build-1",
    ]);
  });

  test("causes the recorded events", () => {
    expect(events).toEqual(recordedEvents());
  });

  test("leaves the Image as recorded", () => {
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(image.spec).toEqual({
      additionalTags: [`${registry}/apps/web:${r1}`],
      builder: { kind: "ClusterBuilder", name: "default" },
      failedBuildHistoryLimit: 10,
      successBuildHistoryLimit: 10,
      imageTaggingStrategy: "BuildNumber",
      serviceAccountName: account,
      source: { git: { url: "https://git.example/acme/web", revision: r1 } },
      tag: `${registry}/apps/web`,
    });
    expect(image.status).toEqual({
      buildCounter: 1,
      conditions: [
        { type: "Ready", status: "True", reason: "UpToDate", lastTransitionTime: time },
        { type: "BuilderReady", status: "True", reason: "BuilderReady", lastTransitionTime: time },
        { type: "BuilderUpToDate", status: "True", reason: "BuilderUpToDate", lastTransitionTime: time },
      ],
      latestBuildImageGeneration: 1,
      latestBuildReason: "CONFIG",
      latestBuildRef: "web-build-1",
      latestImage: expect.stringMatching(/^127\.0\.0\.1:46500\/apps\/web@sha256:[0-9a-f]{64}$/),
      latestStack: "kpk.stack",
      observedGeneration: 1,
    });
  });

  test("leaves the Build as recorded", () => {
    const git = { url: "https://git.example/acme/web", revision: r1 };
    const { name, annotations, labels, ownerReferences } = build.metadata;
    expect({ name, annotations, labels, ownerReferences }).toEqual({
      name: "web-build-1",
      annotations: {
        "example.com/anno": "hello",
        "image.kpack.io/buildChanges": JSON.stringify([
          { reason: "CONFIG", old: { resources: {}, source: {} }, new: { resources: {}, source: { git } } },
        ]),
        "image.kpack.io/builderKind": "",
        "image.kpack.io/builderName": "default",
        "image.kpack.io/reason": "CONFIG",
      },
      labels: {
        "example.com/label": "web",
        "image.kpack.io/buildNumber": "1",
        "image.kpack.io/image": "web",
        "image.kpack.io/imageGeneration": "1",
      },
      ownerReferences: [
        {
          apiVersion: "kpack.io/v1alpha2",
          kind: "Image",
          name: "web",
          uid: image.metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    });
    expect(build.spec).toEqual({
      builder: { image: expect.stringMatching(/builder:clusterbuilder-default@sha256:/) },
      cache: {},
      resources: {},
      runImage: { image: expect.stringMatching(/clusterbuilder-default-run-image@sha256:/) },
      serviceAccountName: account,
      source: { git },
      tags: [
        `${registry}/apps/web`,
        expect.stringMatching(/^127\.0\.0\.1:46500\/apps\/web:b1\.\d{8}\.\d{6}$/),
        `${registry}/apps/web:${r1}`,
      ],
    });
    expect(build.status).toMatchObject({
      conditions: [{ type: "Succeeded", status: "True", reason: "Completed" }],
      latestImage: image.status?.latestImage,
      lifecycleVersion: "0.20.12",
      podName: "web-build-1-build-pod",
      stack: { id: "kpk.stack", runImage: build.spec.runImage.image },
      buildMetadata: [{ id: "kpk/bp", version: "1.0.0" }],
      stepsCompleted: steps,
    });
    expect(build.status?.stepStates?.map(({ terminated }) => terminated?.exitCode)).toEqual(
      steps.map(() => 0),
    );
    expect(build.status?.stepStates?.[0]?.terminated?.message).toBe(
      "Container prepare terminated successfully",
    );
  });

  test("has a SourceResolver of type Commit whose conditions have no time", async () => {
    const found = await environment.client.get(SourceResolver, { namespace: "first", name: "web-source" });
    expect(found.metadata.labels).toEqual({ "example.com/label": "web" });
    expect(found.spec).toEqual({ serviceAccount: account, source: image.spec.source });
    expect(found.status).toEqual({
      conditions: [
        { type: "Ready", status: "True", lastTransitionTime: null },
        { type: "ActivePolling", status: "False", lastTransitionTime: null },
      ],
      source: { git: { ...image.spec.source.git, type: "Commit" } },
      observedGeneration: 1,
    });
  });

  test("has a pod on the simulated node with the recorded containers", async () => {
    const pod = await environment.client.get(Pod, { namespace: "first", name: "web-build-1-build-pod" });
    expect(pod.metadata.ownerReferences).toMatchObject([{ kind: "Build", uid: build.metadata.uid }]);
    expect(pod.metadata.labels).toEqual({ ...build.metadata.labels, "kpack.io/build": "web-build-1" });
    expect(pod.metadata.annotations).toEqual({
      ...build.metadata.annotations,
      "sidecar.istio.io/inject": "false",
    });
    expect(pod.spec.nodeName).toBe("kpack-builds");
    expect(pod.spec.initContainers?.map(({ name }) => name)).toEqual(steps.slice(0, 6));
    expect(pod.spec.containers.map(({ name }) => name)).toEqual(["completion"]);
    expect(pod.status?.phase).toBe("Succeeded");
  });
});

test.concurrent("tags are numbered, and the digest is of their repository, in full", async () => {
  const ns = await environment.createNamespace("tags");
  await ns.image("web", { spec: { tag: "repo:633263b" } });
  await ns.untilReady("web", "True/UpToDate");
  const [build] = await ns.builds("web");
  const numbered = /^index\.docker\.io\/library\/repo:633263b-b1\.\d{8}\.\d{6}$/;
  expect(build?.spec.tags).toEqual(["repo:633263b", expect.stringMatching(numbered)]);
  expect(build?.status?.latestImage).toMatch(/^index\.docker\.io\/library\/repo@sha256:/);
});

test.concurrent("what is no full SHA is resolved to Unknown, and built verbatim", async () => {
  const revision = "pull/7/merge";
  const ns = await environment.createNamespace("revision");
  await ns.image("web", { revision });
  await ns.untilReady("web", "True/UpToDate");
  const { namespace } = ns;
  const { status } = await environment.client.get(SourceResolver, { namespace, name: "web-source" });
  expect(status?.source?.git).toMatchObject({ revision, type: "Unknown" });
  expect((await ns.builds("web")).map(({ spec }) => spec.source.git?.revision)).toEqual([revision]);
});
