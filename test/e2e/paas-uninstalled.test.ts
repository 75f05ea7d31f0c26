/** kpack's CRDs are removed and installed again: running versions stay, and commits pushed meanwhile are built. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { isNotFound } from "../../bus/kube/errors.ts";
import { CustomResourceDefinition, installCrds } from "../../bus/kube/install.ts";
import { kpackCrds } from "../../deploy/simulators/kpack/crds.ts";
import { Image } from "../../functions/paas/kinds/kpack.ts";
import { RemoteSync } from "../../functions/paas/kinds.ts";
import { type Paas, startPaas } from "../harness/paas.ts";
import { type RemoteSyncs, remoteSyncs, revisionOf } from "../harness/remotesyncs.ts";
import { conditionOf, has } from "../harness/testobjects.ts";
import { changeBeforeTimer, hastenTimer } from "../harness/timers.ts";

const names = ["images.kpack.io", "builds.kpack.io"];

let paas: Paas;
let syncs: RemoteSyncs;
beforeAll(async () => {
  paas = await startPaas({ gateways: 1 });
  syncs = remoteSyncs(paas);
});
afterAll(() => paas?.stop());

/** Creates an Image with a finalizer, which keeps its CRD terminating until the finalizer is removed. */
async function holdImages(): Promise<void> {
  const image = await syncs.image("pushed");
  if (image === undefined) throw new Error("pushed has no Image");
  const { apiVersion, kind, spec } = image;
  const metadata = { namespace: paas.namespace, name: "held", finalizers: ["example.com/held"] };
  await paas.environment.client.create(Image, { apiVersion, kind, metadata, spec }, { fieldManager: "test" });
}

/** Removes the finalizer, if the Image still exists. */
const releaseImages = () =>
  paas.patch(Image, "held", { metadata: { finalizers: null } }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });

const install = () =>
  installCrds(paas.environment.client, kpackCrds, {
    fieldManager: "test",
    signal: AbortSignal.timeout(60_000),
  });

test("a running commit stays ready with a warning, and other commits wait until kpack is back", async () => {
  const { status } = await syncs.start("kept");
  await syncs.start("pushed");
  try {
    await holdImages();
    for (const name of names) await paas.environment.client.delete(CustomResourceDefinition, { name }, {});
    const meanwhile = await syncs.until("kept", "KpackNotInstalled", "Ready", "True");
    expect(meanwhile.status?.warning).toMatch(
      /kpack's CRDs are missing, install kpack: .*while custom resource definition is terminating$/,
    );
    await releaseImages();
    await paas.environment.untilGone(CustomResourceDefinition, { name: "images.kpack.io" });
    await hastenTimer(paas, "modoki-remotesync", { namespace: paas.namespace, name: "kept" });
    const missing = /kpack's CRDs are missing, install kpack: .*404 page not found$/;
    const kept = await paas.environment.until(RemoteSync, { name: "kept" }, ({ status: now }) =>
      missing.test(now?.warning ?? ""),
    );
    expect(has("Ready", "True", "KpackNotInstalled")(kept)).toBe(true);
    expect(conditionOf(kept, "Deployed")?.status).toBe("True");
    expect((await syncs.application("kept")).spec.image).toBe(status?.latestImage);
    const revision = await syncs.push("pushed");
    await paas.environment.until(
      RemoteSync,
      { name: "pushed" },
      (sync) => sync.status?.revision === revision,
    );
    await syncs.until("pushed", "KpackNotInstalled");
    for (const name of ["kept", "pushed"]) {
      const at = { namespace: paas.namespace, name };
      const delay = await changeBeforeTimer(paas, "modoki-remotesync", at, install);
      expect(delay, "no event reports that kpack is back").toBeLessThanOrEqual(30_000);
    }
    await syncs.ready("pushed", revision);
    expect((await syncs.builds("pushed")).map(revisionOf)).toEqual([revision]);
    const back = await paas.environment.until(RemoteSync, { name: "kept" }, has("Ready", "True", "Deployed"));
    expect((await syncs.application("kept")).spec.image).toBe(back.status?.latestImage);
  } finally {
    await releaseImages();
    await install();
  }
});
