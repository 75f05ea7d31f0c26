/** The stand-in for kpack, when what Images say of the end of a Build is heard before the Build says it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Pod } from "./kinds.ts";
import { type Kpack, startKpack } from "./kpack.ts";
import { record } from "./recording.ts";
import { manager, type Scene, startScene } from "./scene.ts";

let scene: Scene;
let kpack: Kpack;
beforeAll(async () => {
  scene = await startScene();
  await scene.kpack.stop();
  kpack = await startKpack({ client: scene.client, order: "image-first" });
});
afterAll(async () => {
  await kpack?.stop();
  await scene?.stop();
});

const endOf = (build: string) => new RegExp(`${build} .*Succeeded=(True|False)`);
const where = (lines: readonly string[], pattern: RegExp): number => {
  const at = lines.findIndex((line) => pattern.test(line));
  if (at < 0) throw new Error(`expected ${pattern} among\n${lines.join("\n")}`);
  return at;
};

test.each([
  ["well", {}, / Image .*Ready=True\/UpToDate/],
  ["badly", { "sim.kpk/fail-step": "detect" }, / Image .*Ready=False\/BuildFailed/],
])("an Image says that a Build has ended %s before the Build does", async (how, annotations, ready) => {
  const place = await scene.place(`ends-${how}`);
  const seen = await record(scene.client, place.namespace);
  await place.image("web", { annotations });
  const lines = await seen.until(ready, endOf("Build-1"));
  seen.stop();
  expect(where(lines, ready)).toBe(where(lines, endOf("Build-1")) - 1);
  expect(lines.filter((line) => ready.test(line))).toHaveLength(1);
});

test("the next Build is never made before the last one says that it has ended", async () => {
  const place = await scene.place("next");
  const seen = await record(scene.client, place.namespace);
  await place.image("web", { annotations: { "sim.kpk/hold-step": "build" } });
  const pod = { namespace: place.namespace, name: "web-build-1-build-pod" };
  await scene.kit.until(Pod, pod, ({ status }) => Boolean(status?.initContainerStatuses?.[4]?.state.running));
  const free = { metadata: { annotations: { "sim.kpk/hold-step": null } } };
  // Something that needs no git: there is nothing else to wait for.
  await place.patch("web", { ...free, spec: { build: { env: [{ name: "A", value: "b" }] } } });
  await scene.client.mergePatch(Pod, pod, free, manager);
  const lines = await seen.until(/ Image .*latestBuildRef=web-build-2 .*Ready=True/, endOf("Build-2"));
  seen.stop();
  expect(where(lines, endOf("Build-1"))).toBeLessThan(where(lines, /^ADDED Build-2/));
  expect(await place.builds("web")).toHaveLength(2);
});
