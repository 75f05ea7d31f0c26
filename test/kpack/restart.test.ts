/** Stop, restart, and idle behavior of the kpack simulator. Only one instance runs at a time. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kubeClient } from "../../bus/kube/client.ts";
import { Image, Pod } from "../../deploy/simulators/kpack/kinds.ts";
import { type Kpack, startKpack } from "../../deploy/simulators/kpack/kpack.ts";
import {
  type Environment,
  manager,
  r1,
  r2,
  r3,
  revised,
  startEnvironment,
  stepMillis,
} from "./environment.ts";
import { record } from "./recording.ts";

let environment: Environment;
beforeAll(async () => {
  environment = await startEnvironment();
});
afterAll(() => environment?.stop());

const isRunning = (step: string) => (pod: Pod) =>
  pod.status?.initContainerStatuses?.some(({ name, state }) => name === step && state.running) ?? false;

test("a new instance continues a running Build and handles changes made in between", async () => {
  const ns = await environment.createNamespace("restart");
  await ns.image("web", { annotations: { "sim.kpk/hold-step": "restore" } });
  const pod = { namespace: ns.namespace, name: "web-build-1-build-pod" };
  await environment.until(Pod, pod, isRunning("restore"));
  await environment.kpack.stop();
  // No webhook validates this write.
  await ns.patch("web", { metadata: { annotations: { "sim.kpk/hold-step": null } }, ...revised(r2) });
  await environment.client.mergePatch(
    Pod,
    pod,
    { metadata: { annotations: { "sim.kpk/hold-step": null } } },
    manager,
  );
  const seen = await record(environment.client, ns.namespace);
  const again = await startKpack({ client: environment.client, stepMillis });
  try {
    // Each kind has its own watch.
    const lines = await seen.until(/Image .*latestBuildRef=web-build-2 .*Ready=True/, /^ADDED Build-2/);
    seen.stop();
    expect(lines.filter((line) => line.startsWith("ADDED"))).toEqual(["ADDED Build-2"]);
    expect((await ns.builds("web")).map(({ spec }) => spec.source.git?.revision)).toEqual([r1, r2]);
  } finally {
    await again.stop();
  }
});

test("sends no requests when all Images are built", async () => {
  const ns = await environment.createNamespace("idle");
  const calls: string[] = [];
  const counted = kubeClient(environment.client.connection, {
    begun: () => undefined,
    ended: ({ method, path }) => calls.push(`${method} ${path}`),
  });
  const kpack = await startKpack({ client: counted, stepMillis });
  try {
    await ns.image("web", { revision: r3 });
    await ns.untilReady("web", "True/UpToDate");
    const seen = await record(environment.client, ns.namespace);
    await ns.patch("web", { metadata: { annotations: { poked: "yes" } } });
    // By now the response to the last write of the Build has been counted.
    const before = calls.length;
    await ns.patch("web", { spec: { defaultProcess: "web" } });
    await seen.until(/Image gen=2 obs=2 /);
    seen.stop();
    // The event of a write can arrive before its response.
    const one = [`PUT /apis/kpack.io/v1alpha2/namespaces/idle/images/web/status`];
    await expect.poll(() => calls.slice(before), { timeout: 60_000 }).toEqual(one);
  } finally {
    await kpack.stop();
  }
  await ns.patch("web", revised(r1));
  expect(
    (await environment.client.get(Image, { namespace: "idle", name: "web" })).status?.observedGeneration,
  ).toBe(2);
});

/** The writer stops after this many conflicts, because on a slow machine it could win every time. */
const conflicts = 5;

test("tolerates constant writes by other clients", async () => {
  const ns = await environment.createNamespace("crowd");
  const failures: string[] = [];
  const kpack = await startKpack({
    client: environment.client,
    stepMillis,
    log: (line) => failures.push(line),
  });
  try {
    await ns.image("web");
    let writes = 0;
    let ready = false;
    const writing = (async () => {
      for (; !ready && failures.length < conflicts; writes++)
        await ns.patch("web", { metadata: { annotations: { write: String(writes) } } });
    })();
    const reading = ns.untilReady("web", "True/UpToDate").finally(() => {
      ready = true;
    });
    await Promise.all([reading, writing]);
    expect(failures.filter((line) => !line.includes("409 Conflict"))).toEqual([]);
    expect(await ns.builds("web")).toHaveLength(1);
  } finally {
    await kpack.stop();
  }
});

describe("with the order image-first", () => {
  let kpack: Kpack;
  beforeAll(async () => {
    kpack = await startKpack({ client: environment.client, stepMillis, order: "image-first" });
  });
  afterAll(() => kpack?.stop());

  const endOf = (build: string) => new RegExp(`${build} .*Succeeded=(True|False)`);
  const where = (lines: readonly string[], pattern: RegExp): number => {
    const at = lines.findIndex((line) => pattern.test(line));
    if (at < 0) throw new Error(`no line matches ${pattern}:\n${lines.join("\n")}`);
    return at;
  };

  test.each([
    ["well", {}, / Image .*Ready=True\/UpToDate/],
    ["badly", { "sim.kpk/fail-step": "detect" }, / Image .*Ready=False\/BuildFailed/],
  ])("an Image reports that a Build has ended %s before the Build does", async (how, annotations, ready) => {
    const ns = await environment.createNamespace(`ends-${how}`);
    const seen = await record(environment.client, ns.namespace);
    await ns.image("web", { annotations });
    const lines = await seen.until(ready, endOf("Build-1"));
    seen.stop();
    expect(where(lines, ready)).toBe(where(lines, endOf("Build-1")) - 1);
    expect(lines.filter((line) => ready.test(line))).toHaveLength(1);
  });

  test("the next Build is never created before the last one reports its end", async () => {
    const ns = await environment.createNamespace("next");
    const seen = await record(environment.client, ns.namespace);
    await ns.image("web", { annotations: { "sim.kpk/hold-step": "build" } });
    const pod = { namespace: ns.namespace, name: "web-build-1-build-pod" };
    await environment.until(Pod, pod, ({ status }) =>
      Boolean(status?.initContainerStatuses?.[4]?.state.running),
    );
    const free = { metadata: { annotations: { "sim.kpk/hold-step": null } } };
    // A change without a new revision, because it needs no git lookup.
    await ns.patch("web", { ...free, spec: { build: { env: [{ name: "A", value: "b" }] } } });
    await environment.client.mergePatch(Pod, pod, free, manager);
    const lines = await seen.until(/ Image .*latestBuildRef=web-build-2 .*Ready=True/, endOf("Build-2"));
    seen.stop();
    expect(where(lines, endOf("Build-1"))).toBeLessThan(where(lines, /^ADDED Build-2/));
    expect(await ns.builds("web")).toHaveLength(2);
  });
});
