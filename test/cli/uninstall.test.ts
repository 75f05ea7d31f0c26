/** `denrei uninstall` in a project whose functions finalize objects. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { crdOf } from "../../bus/kube/crd.ts";
import { ConfigMap } from "../../bus/kube/kind.ts";
import { ClusterRole } from "../../bus/kube/rbac.ts";
import signposts, { Signpost } from "../fixtures/functions/signposts.ts";
import { startOwnTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { has, openTestObjects, type TestObjects } from "../harness/testobjects.ts";
import { root, run, testFolder } from "./program.ts";

const path = join(root, "test/fixtures/functions/signposts.ts");
const signpost = { namespace: "default", name: "one" };
const deed = { namespace: "default", name: "deed" };

let environment: TestEnvironment;
let objects: TestObjects;
beforeAll(async () => {
  // Its own control plane: the test deletes the CRD.
  environment = await startOwnTestEnvironment({ crds: [crdOf(Signpost)] });
  objects = await openTestObjects(environment, [signposts], []);
  await environment.bridge("bridge-1", { args: [path] });
});
afterAll(async () => {
  await objects?.close();
  await environment?.stop();
});

/** A project with the function, and one more, which finalizes objects of a kind that is not its own. */
function project(): string {
  const { folder } = testFolder();
  const url = (file: string) => JSON.stringify(pathToFileURL(join(root, file)).href);
  writeFileSync(
    join(folder, "notary.ts"),
    `import { ConfigMap, defineFunction } from ${url("bus/index.ts")};
export default defineFunction({ name: "notary", for: ConfigMap, async reconcile() {}, async finalize() {} });
`,
  );
  writeFileSync(
    join(folder, "denrei.config.ts"),
    `export default { functions: { signposts: () => import(${url("test/fixtures/functions/signposts.ts")}),
  notary: () => import("./notary.ts") } };
`,
  );
  return folder;
}

const uninstall = (cwd: string, ...args: string[]) =>
  run(["uninstall", ...args], { cwd, env: { KUBECONFIG: environment.platform.kubeconfigPath } });

test("says why a function cannot finalize an object, and asks for a worker if the reason is older than the deletion", async () => {
  const cwd = project();
  const create = (name: string, fails: string) =>
    objects.create(Signpost, { metadata: { ...signpost, name }, spec: { role: name, verb: "get", fails } });
  const [stuck, rotten] = await Promise.all([create("stuck", "finalize"), create("rotten", "reconcile")]);
  const worker = await environment.worker("worker-0", [path]);
  await environment.until(Signpost, stuck.metadata, has("Ready", "True"));
  await environment.until(Signpost, rotten.metadata, has("Stalled", "True"));
  await environment.client.delete(Signpost, stuck.metadata, {});
  await environment.until(Signpost, stuck.metadata, has("Stalled", "True"));
  await worker.stop();

  const { code, stderr } = await uninstall(cwd, "--yes", "--timeout", "1");
  expect(code).toBe(1);
  expect(stderr).toContain("2 objects still exist after 1 s:");
  expect(stderr).toContain("default/stuck: the function signposts cannot finalize it: the post is stuck");
  expect(stderr).toContain(
    "default/rotten: the function signposts has not finalized it. Does a worker of signposts run?",
  );
  for (const { metadata } of [stuck, rotten]) {
    await objects.patch(Signpost, metadata, { metadata: { finalizers: null } });
    await environment.untilGone(Signpost, metadata);
  }
});

test("removes finalizers or objects, waits for the workers, and names what stays and why", async () => {
  const cwd = project();
  const finalizersOf = async () => (await environment.client.get(Signpost, signpost)).metadata.finalizers;
  await objects.create(Signpost, { metadata: signpost, spec: { role: "role", verb: "get" } });
  await objects.create(ConfigMap, { metadata: { ...deed, finalizers: ["denrei.dev/notary"] } });
  const worker = await environment.worker("worker-1", [path]);
  await environment.until(Signpost, signpost, has("Ready", "True"));

  const plan = await uninstall(cwd);
  expect(plan).toMatchObject({ code: 0, stderr: "" });
  expect(plan.stdout).toMatch(/Signpost\.test\.denrei\.dev +1 +denrei\.dev\/signposts +delete\n/);
  expect(plan.stdout).toMatch(/ConfigMap +1 +denrei\.dev\/notary +later: remove the finalizers\n/);
  expect(plan.stdout).toContain("Nothing is changed. Add --yes to do this.");
  expect((await environment.client.get(Signpost, signpost)).metadata.deletionTimestamp).toBeUndefined();

  const early = await uninstall(cwd, "--keep-objects", "--yes");
  expect(early).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("workers of signposts still run. Stop them"),
  });
  await worker.stop();
  expect(await uninstall(cwd, "--keep-objects", "--yes")).toMatchObject({ code: 0, stderr: "" });
  expect(await finalizersOf()).toBeUndefined();
  expect((await environment.client.get(ConfigMap, deed)).metadata.finalizers).toBeUndefined();

  await objects.patch(Signpost, signpost, { metadata: { finalizers: ["denrei.dev/signposts"] } });
  const late = await uninstall(cwd, "--yes", "--timeout", "1");
  expect(late.code).toBe(1);
  expect(late.stderr).toContain(
    "Signpost.test.denrei.dev default/one: the function signposts has not finalized it. Does a worker of signposts run?",
  );
  await environment.worker("worker-2", [path]);
  const done = await uninstall(cwd, "--yes", "--crds");
  expect(done).toMatchObject({ code: 0, stderr: "" });
  expect(done.stdout).toContain("The CRD signposts.test.denrei.dev is deleted.");
  expect(done.stdout).toContain("npx denrei prune signposts");
  await expect(environment.client.get(ClusterRole, { name: "role" })).rejects.toThrow("not found");
});
