/** The life of the stand-in for kpack itself: it ends, begins again, and does not run in circles. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { kubeClient } from "../../bus/kube/client.ts";
import { Image, Pod } from "./kinds.ts";
import { startKpack } from "./kpack.ts";
import { record } from "./recording.ts";
import { manager, type OwnScene, r1, r2, r3, revised, startOwnScene } from "./scene.ts";

let scene: OwnScene;
beforeAll(async () => {
  scene = await startOwnScene();
});
afterAll(() => scene?.stop());

const isRunning = (step: string) => (pod: Pod) =>
  pod.status?.initContainerStatuses?.some(({ name, state }) => name === step && state.running) ?? false;

test("what it is in the middle of is gone on with by the next one, and changes meanwhile are not lost", async () => {
  const place = await scene.place("restart");
  await place.image("web", { annotations: { "sim.kpk/hold-step": "restore" } });
  const pod = { namespace: place.namespace, name: "web-build-1-build-pod" };
  await scene.kit.until(Pod, pod, isRunning("restore"));
  await scene.kpack.stop();
  // Nobody refuses this now, and nobody needs to.
  await place.patch("web", { metadata: { annotations: { "sim.kpk/hold-step": null } }, ...revised(r2) });
  await scene.client.mergePatch(
    Pod,
    pod,
    { metadata: { annotations: { "sim.kpk/hold-step": null } } },
    manager,
  );
  const seen = await record(scene.client, place.namespace);
  const again = await startKpack({ client: scene.client });
  try {
    const lines = await seen.until(/Image .*latestBuildRef=web-build-2 .*Ready=True/);
    seen.stop();
    expect(lines.filter((line) => line.startsWith("ADDED"))).toEqual(["ADDED Build-2"]);
    expect((await place.builds("web")).map(({ spec }) => spec.source.git?.revision)).toEqual([r1, r2]);
  } finally {
    await again.stop();
  }
});

test("once all is built it asks the API server nothing more", async () => {
  const place = await scene.place("idle");
  const calls: string[] = [];
  const counted = kubeClient(scene.client.connection, ({ method, path }) => calls.push(`${method} ${path}`));
  const kpack = await startKpack({ client: counted });
  try {
    await place.image("web", { revision: r3 });
    await place.untilReady("web", "True/UpToDate");
    const seen = await record(scene.client, place.namespace);
    await place.patch("web", { metadata: { annotations: { poked: "yes" } } });
    // By now the answer to the last write of the Build has been counted, too.
    const before = calls.length;
    await place.patch("web", { spec: { defaultProcess: "web" } });
    await seen.until(/Image gen=2 obs=2 /);
    seen.stop();
    // The event of a write can be quicker than its answer.
    const one = [`PUT /apis/kpack.io/v1alpha2/namespaces/idle/images/web/status`];
    await expect.poll(() => calls.slice(before), { timeout: 60_000 }).toEqual(one);
  } finally {
    await kpack.stop();
  }
  await place.patch("web", revised(r1));
  expect((await scene.client.get(Image, { namespace: "idle", name: "web" })).status?.observedGeneration).toBe(
    2,
  );
});

test("an API server that is killed and comes back is gone on with", async () => {
  const place = await scene.place("outage");
  const failures: string[] = [];
  const kpack = await startKpack({ client: scene.client, log: (line) => failures.push(line) });
  try {
    await place.image("web", { annotations: { "sim.kpk/hold-step": "restore" } });
    const pod = { namespace: place.namespace, name: "web-build-1-build-pod" };
    await scene.kit.until(Pod, pod, isRunning("restore"));
    const { apiserver } = scene.kit.platform;
    await apiserver.stop("SIGKILL");
    await apiserver.start();
    const free = { metadata: { annotations: { "sim.kpk/hold-step": null } } };
    await scene.client.mergePatch(Pod, pod, free, manager);
    await place.untilReady("web", "True/UpToDate");
    expect(await place.builds("web")).toHaveLength(1);
  } finally {
    await kpack.stop();
  }
});

test("others who write to its objects all the time are put up with", async () => {
  const place = await scene.place("crowd");
  const failures: string[] = [];
  const kpack = await startKpack({ client: scene.client, log: (line) => failures.push(line) });
  try {
    await place.image("web");
    let writes = 0;
    let ready = false;
    const writing = (async () => {
      for (; !ready; writes++)
        await place.patch("web", { metadata: { annotations: { write: String(writes) } } });
    })();
    await place.untilReady("web", "True/UpToDate");
    ready = true;
    await writing;
    expect(failures.filter((line) => !line.includes("409 Conflict"))).toEqual([]);
    expect(await place.builds("web")).toHaveLength(1);
  } finally {
    await kpack.stop();
  }
});
