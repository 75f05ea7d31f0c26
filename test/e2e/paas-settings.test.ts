/** Build settings that kpack does not apply to an existing Image: they do not keep commits from being built. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Secret } from "../../bus/kube/kind.ts";
import { Image } from "../../functions/paas/kinds/kpack.ts";
import { StorageClass } from "../../functions/paas/kinds/storage.ts";
import { RemoteSync } from "../../functions/paas/kinds.ts";
import { annotations } from "../../functions/paas/names.ts";
import { type Paas, registry, secrets, startPaas } from "../harness/paas.ts";
import { type RemoteSyncs, remoteSyncs } from "../harness/remotesyncs.ts";
import { conditionOf, has } from "../harness/testobjects.ts";

const storageClass = "standard";

let paas: Paas;
let syncs: RemoteSyncs;
beforeAll(async () => {
  paas = await startPaas({ gateways: 1 });
  syncs = remoteSyncs(paas);
  await paas.environment.client.create(
    StorageClass,
    {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: {
        name: storageClass,
        annotations: { "storageclass.kubernetes.io/is-default-class": "true" },
      },
      provisioner: "example.com/none",
    } as unknown as StorageClass,
    { fieldManager: "test" },
  );
  await paas.kpack.caughtUp();
});
afterAll(async () => {
  await paas?.environment.client.delete(StorageClass, { name: storageClass }, {});
  await paas?.stop();
});

const cacheOf = async (name: string) =>
  ((await syncs.image(name))?.spec.cache as { volume?: { size?: string } } | undefined)?.volume?.size;

/** Starts a RemoteSync with a cache. */
async function start(name: string, cacheSize = "3G"): Promise<void> {
  await syncs.branch(name);
  await syncs.start(name, { branch: name }, { build: { cacheSize } });
}

test.each([
  ["smaller", "2G", "SettingsRefused", "Field cannot be decreased: spec.cache.volume.size"],
  ["removed", null, "SettingsRefused", "current: 3G, requested: 2G"],
  ["larger", "5G", "CacheCannotGrow", "is not bound"],
])(
  "with a cache that is %s, builds and deploys commits, and a condition reports why the size is pending",
  async (name, cacheSize, reason, text) => {
    await start(name);
    await paas.patch(RemoteSync, name, { spec: { build: { cacheSize } } });
    const refused = await syncs.until(name, reason, "SettingsApplied");
    const message = conditionOf(refused, "SettingsApplied")?.message;
    expect(message).toContain(text);
    expect(message).toContain(
      `kubectl annotate remotesync ${name} -n ${paas.namespace} ${annotations.recreateImage}=`,
    );
    const revision = await syncs.push(name);
    const done = await syncs.ready(name, revision);
    expect(conditionOf(done)).toMatchObject({ status: "True", reason });
    expect(done.status?.warning).toContain(text);
    expect((await syncs.application(name)).spec.image).toBe(done.status?.latestImage);
    expect(await cacheOf(name)).toBe("3G");
    await syncs.allRolledOut();
    await paas.untilQuiet();
    // Events do not cause repeated requests to kpack.
    const writes = await paas.writes();
    await paas.touch(RemoteSync, name);
    await paas.untilQuiet();
    expect((await paas.writes()) - writes).toBe(0);
  },
);

test("accepts a size that kpack normalizes, and builds again need no requests for Secrets", async () => {
  const own = { namespace: paas.namespace, name: "own" };
  const { data, type } = await paas.environment.client.get(Secret, { ...own, name: secrets.registry });
  await paas.create(Secret, { metadata: own, type, data });
  const image = { name: `${registry}/acme/web`, secretName: own.name };
  await syncs.branch("form");
  await syncs.start("form", { branch: "form" }, { image, build: { cacheSize: "3000M" } });
  expect(await cacheOf("form")).toBe("3G");
  await paas.environment.client.delete(Secret, own, {});
  await syncs.allRolledOut();
  await paas.untilQuiet();
  const writes = await paas.writes();
  await paas.touch(RemoteSync, "form");
  await paas.untilQuiet();
  expect(has("Ready", "True")(await syncs.get("form"))).toBe(true);
  expect((await paas.writes()) - writes).toBe(0);
});

test("the annotation recreates the Image with the settings of the spec, and the deployed version stays meanwhile", async () => {
  await start("anew");
  await paas.patch(RemoteSync, "anew", { spec: { build: { cacheSize: "1G" } } });
  const { status } = await syncs.until("anew", "SettingsRefused", "SettingsApplied");
  const [before, deployed] = [await syncs.image("anew"), (await syncs.application("anew")).spec.image];
  // Nothing is built, and so nothing else deployed, until it is ready again.
  await paas.kpack.builder("default", "not-ready");
  await paas.patch(RemoteSync, "anew", { metadata: { annotations: { [annotations.recreateImage]: "1" } } });
  const image = await paas.environment.until(
    Image,
    { name: "modoki-anew" },
    ({ metadata }) => metadata.uid !== before?.metadata.uid,
  );
  expect(await cacheOf("anew")).toBe("1G");
  await syncs.until("anew", "BuilderNotReady", "Built", "Unknown");
  expect((await syncs.application("anew")).spec.image).toBe(deployed);
  await paas.kpack.builder("default", "ready");
  const done = await paas.environment.until(
    RemoteSync,
    { name: "anew" },
    (sync) => has("Ready", "True")(sync) && sync.status?.buildNumber === 1,
  );
  expect(conditionOf(done, "SettingsApplied")).toMatchObject({ status: "True" });
  expect(done.status).toMatchObject({ imageRecreated: "1", revision: status?.revision });
  expect(done.status).not.toHaveProperty("refusedSettings");
  await paas.untilQuiet();
  expect((await syncs.image("anew"))?.metadata.uid, "once for each value").toBe(image.metadata.uid);
  const healed = await syncs.ready("anew", await syncs.push("anew"));
  expect((await syncs.application("anew")).spec.image).toBe(healed.status?.latestImage);
});

test("an Image that kpack does not reconcile is reported, and recreated on request", async () => {
  await start("stuck", "1G");
  // Like a version that did not check the volume first.
  await paas.patch(Image, "modoki-stuck", { spec: { cache: { volume: { size: "9G" } } } });
  await syncs.push("stuck");
  // Checked with each event and sweep, and reported after 30 seconds.
  await expect
    .poll(
      async () => {
        await paas.touch(RemoteSync, "stuck");
        return has("Built", "Unknown", "ImageNotObserved")(await syncs.get("stuck"));
      },
      { timeout: 120_000, interval: 2000 },
    )
    .toBe(true);
  const stuck = await syncs.get("stuck");
  expect(stuck.status?.message).toMatch(
    /kpack has not acted on generation \d+ of the Image modoki-stuck since/,
  );
  await paas.patch(RemoteSync, "stuck", {
    metadata: { annotations: { [annotations.recreateImage]: "now" } },
  });
  await syncs.ready("stuck", stuck.status?.revision);
  expect(await cacheOf("stuck")).toBe("1G");
});
