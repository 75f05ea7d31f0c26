/** The kpack simulator during an API server outage. This file has its own control plane, because the test kills it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Pod } from "../../deploy/simulators/kpack/kinds.ts";
import { manager, type OwnEnvironment, startOwnEnvironment } from "./environment.ts";

let environment: OwnEnvironment;
beforeAll(async () => {
  environment = await startOwnEnvironment();
});
afterAll(() => environment?.stop());

const isRunning = (step: string) => (pod: Pod) =>
  pod.status?.initContainerStatuses?.some(({ name, state }) => name === step && state.running) ?? false;

test("a Build continues after the API server was killed and restarted", async () => {
  const ns = await environment.createNamespace("outage");
  await ns.image("web", { annotations: { "sim.kpk/hold-step": "restore" } });
  const pod = { namespace: ns.namespace, name: "web-build-1-build-pod" };
  await environment.until(Pod, pod, isRunning("restore"));
  const { apiserver } = environment.platform;
  await apiserver.stop("SIGKILL");
  await apiserver.start();
  const free = { metadata: { annotations: { "sim.kpk/hold-step": null } } };
  await environment.client.mergePatch(Pod, pod, free, manager);
  await ns.untilReady("web", "True/UpToDate");
  expect(await ns.builds("web")).toHaveLength(1);
});
