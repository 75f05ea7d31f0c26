/** A RemoteSync with exactly the generated permissions: they suffice, and it reports where it may not read. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { allowedUrlsVariable } from "../../bus/github/allowed.ts";
import { Secret } from "../../bus/kube/kind.ts";
import { optInManifests, roleManifests, separateAccounts } from "../../deploy/generate/rbac.ts";
import type { LocalPlatform } from "../../deploy/local/index.ts";
import { functions } from "../../functions/index.ts";
import { type Paas, secrets, startPaas } from "../harness/paas.ts";
import { type RemoteSyncs, remoteSyncs, revisionOf } from "../harness/remotesyncs.ts";
import { accountUser, grant } from "../harness/rights.ts";

const fn = "modoki-remotesync";
const ours = functions.filter(({ name }) => name === fn);
const namespace = "denrei";

let paas: Paas;
let syncs: RemoteSyncs;
beforeAll(async () => {
  paas = await startPaas({ gateways: 1, workers: 0, rights: "none" });
  syncs = remoteSyncs(paas);
  await grant(paas.environment.client, roleManifests(separateAccounts(ours), namespace));
  const { kubeconfigFor } = paas.environment.platform as LocalPlatform;
  const env = {
    KUBECONFIG: await kubeconfigFor(accountUser(`denrei-${fn}`)),
    CONTROLLER_NAMESPACE: namespace,
    [allowedUrlsVariable]: paas.github.url,
  };
  await paas.environment.worker("worker-1", [fn], { env });
});
afterAll(() => paas?.stop());

test("outside opted-in namespaces the condition names the opt-in command, and the sync proceeds after it", async () => {
  await Promise.all([paas.application("web"), syncs.branch("web")]);
  syncs.asked();
  await paas.remoteSync("web", { branch: "web" });
  const { status } = await syncs.until("web", "SecretAccessDenied");
  expect(status?.message).toContain("denrei opt-in default");
  expect(syncs.asked()).toEqual([]);
  await grant(paas.environment.client, optInManifests(separateAccounts(ours), ["default"], namespace));
  // As a bridge does once it may watch them.
  await paas.touch(Secret, secrets.git);
  const ready = await syncs.ready("web");
  expect((await syncs.application("web")).spec.image).toBe(ready.status?.latestImage);
});

test("the permissions suffice to read the log of a failed build and to replace one that never started", async () => {
  await syncs.start("rights");
  await syncs.steer("rights", { "sim.kpk/fail-step": "export" });
  await syncs.push("rights");
  const { status } = await syncs.until("rights", "BuildFailed");
  expect(status?.lastFailure?.log?.trim().split("\n")).toHaveLength(50);
  expect(status?.lastFailure?.log).toMatch(/failed to export: exit status 1\s*$/);
  await syncs.steer("rights", { "sim.kpk/fail-step": null });

  const at = { namespace: "default", name: secrets.registry };
  const { data, type, metadata } = await paas.environment.client.get(Secret, at);
  const last = (await syncs.builds("rights")).at(-1);
  await paas.environment.client.delete(Secret, at, {});
  if (last) await syncs.rebuild(last);
  await syncs.until("rights", "SecretNotFound");
  await paas.create(Secret, { metadata: { ...at, annotations: metadata.annotations ?? {} }, data, type });
  await syncs.ready("rights");
  const builds = await syncs.builds("rights");
  expect(new Set(builds.slice(1).map(revisionOf)).size).toBe(1);
  expect(builds).toHaveLength(4);
});
