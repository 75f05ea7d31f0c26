/** The kpack simulator during an API server outage. This file has its own control plane, because the test kills it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Pod } from "../../deploy/simulators/kpack/kinds.ts";
import { manager, type OwnScene, startOwnScene } from "./scene.ts";

let scene: OwnScene;
beforeAll(async () => {
  scene = await startOwnScene();
});
afterAll(() => scene?.stop());

const isRunning = (step: string) => (pod: Pod) =>
  pod.status?.initContainerStatuses?.some(({ name, state }) => name === step && state.running) ?? false;

test("a Build continues after the API server was killed and restarted", async () => {
  const place = await scene.place("outage");
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
});
