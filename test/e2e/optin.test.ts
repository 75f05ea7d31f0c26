/** With exactly the generated rights, only Secrets of opted-in namespaces are accessible. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type KubeClient, kubeClient } from "../../bus/kube/client.ts";
import { loadKubeconfig, openConnection } from "../../bus/kube/connection.ts";
import { crdOf } from "../../bus/kube/crd.ts";
import { Secret } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import { objectStore } from "../../bus/objects/store.ts";
import { defineFunction } from "../../bus/worker/function.ts";
import { optInManifests, roleManifests, separateAccounts } from "../../deploy/generate/rbac.ts";
import notes, { Note } from "../fixtures/functions/notes.ts";
import { notesPath } from "../harness/bridged.ts";
import {
  type LocalTestEnvironment,
  type Replica,
  startLocalTestEnvironment,
} from "../harness/environment.ts";
import { metricSum } from "../harness/metrics.ts";
import { createNamespace, optIn } from "../harness/namespaces.ts";
import { accountUser, grant, rightKinds } from "../harness/rights.ts";

/** A function that writes Secrets; `notes` only watches them. */
const keeper = defineFunction({
  name: "keeper",
  for: Note,
  owns: [Secret],
  reconcile: async () => undefined,
});
const functions = [notes, keeper];
const manager = { fieldManager: "test" };
// Each poll opens /metrics or a stream of the bus.
const polling = { timeout: 60_000, interval: 500 };
let environment: LocalTestEnvironment;
let bus: Bus;
let bridge: Replica;

beforeAll(async () => {
  environment = await startLocalTestEnvironment({ crds: [crdOf(Note)] });
  bus = await connectBus({ url: environment.platform.natsUrl, name: "test" });
  for (const name of ["denrei", "opted-in", "labelled", "closed"])
    await createNamespace(environment.client, name);
  await optIn(environment.client, "denrei");
  await grant(environment.client, roleManifests(separateAccounts(functions), "denrei"));
  bridge = await environment.bridge("bridge-1", {
    args: [notesPath],
    env: {
      KUBECONFIG: await environment.platform.kubeconfigFor(accountUser("denrei-bridge")),
      DENREI_WATCH_SECONDS: "2",
    },
  });
});
afterAll(async () => {
  await bus?.nc.close();
  await environment?.stop();
});

/** The label, and the output of `denrei opt-in`. */
async function optInWholly(namespace: string): Promise<void> {
  await optIn(environment.client, namespace);
  await grant(environment.client, optInManifests(separateAccounts(functions), [namespace], "denrei"));
}

const secret = (namespace: string, name: string) =>
  ({ apiVersion: "v1", kind: "Secret", metadata: { namespace, name } }) as unknown as KubeObject;
const createSecret = (namespace: string, name: string) =>
  environment.client.create(Secret, secret(namespace, name), manager);

/** Names of a namespace's Secrets on the bus. */
async function onBus(namespace: string): Promise<string[]> {
  const entries = await objectStore(bus, "default").entries(Secret, namespace);
  return entries.map(({ object }) => object.metadata.name).sort();
}

/** The API server as seen by a service account, for one test. */
async function as(account: string): Promise<KubeClient> {
  const path = await environment.platform.kubeconfigFor(accountUser(account));
  const connection = await openConnection(loadKubeconfig({ path }));
  onTestFinished(() => connection.close());
  return kubeClient(connection);
}

describe("the bridge", () => {
  test("may list Secrets in opted-in namespaces only, and never cluster-wide", async () => {
    const itself = await as("denrei-bridge");
    await expect(itself.list(Secret)).rejects.toThrow("403");
    await expect(itself.list(Secret, "opted-in")).rejects.toThrow("403");
    expect((await itself.list(Secret, "denrei")).items).toEqual([]);
    for (const namespace of ["denrei", "opted-in", "closed"]) await createSecret(namespace, "made");
    await expect.poll(() => onBus("denrei"), polling).toEqual(["made"]);

    await optInWholly("opted-in");
    await expect.poll(() => onBus("opted-in"), polling).toEqual(["made"]);
    expect((await itself.list(Secret, "opted-in")).items).toHaveLength(1);
    await expect(itself.list(Secret)).rejects.toThrow("403");
    await expect(itself.list(Secret, "closed")).rejects.toThrow("403");
    await expect(itself.get(Secret, { namespace: "opted-in", name: "made" })).rejects.toThrow("403");
    expect(await onBus("closed")).toEqual([]);
  });

  test("reports missing rights where only the label is set, and serves the other namespaces", async () => {
    const refused = () =>
      metricSum([bridge], /^denrei_bridge_refused\{kind="Secret",namespace="labelled"\} 1/);
    const calls = () => metricSum([bridge], /^rest_client_requests_total\{code="403"/);
    const warnings = () =>
      bridge.log.records().filter(({ level, kind }) => level === "warn" && kind === "Secret in labelled");
    const readiness = () => bridge.probe("/readyz");
    const before = await calls();
    await createSecret("labelled", "made");
    const begun = performance.now();
    await optIn(environment.client, "labelled");
    await expect.poll(refused, polling).toBe(1);
    await expect.poll(async () => (await calls()) - before, polling).toBeGreaterThan(7);
    const seconds = (performance.now() - begun) / 1000;
    // Each pause is twice as long as the previous one, up to 30 seconds.
    expect((await calls()) - before).toBeLessThan(10 + seconds / 15);
    expect(warnings()).toMatchObject([
      {
        err: {
          message: expect.stringMatching(
            /^the bridge may not watch Secret in labelled: expected the RoleBinding denrei-bridge-opted-in there, which is made by `denrei opt-in labelled \|.*403/,
          ),
        },
      },
    ]);
    // The bridge reports its own problems after five seconds.
    expect(seconds).toBeGreaterThan(5);
    expect(await readiness()).toEqual({ status: 200, text: "ok" });
    await createSecret("opted-in", "meanwhile");
    await expect.poll(() => onBus("opted-in"), polling).toEqual(["made", "meanwhile"]);
    expect(await onBus("labelled")).toEqual([]);

    await grant(environment.client, optInManifests(separateAccounts(functions), ["labelled"], "denrei"));
    await expect.poll(() => onBus("labelled"), polling).toEqual(["made"]);
    await expect.poll(refused, polling).toBe(0);

    // Rights that were granted can be revoked.
    await environment.client.delete(
      rightKinds.RoleBinding,
      { namespace: "labelled", name: "denrei-bridge-opted-in" },
      {},
    );
    await expect.poll(refused, polling).toBe(1);
    await expect.poll(warnings, polling).toHaveLength(2);
    expect(await readiness()).toEqual({ status: 200, text: "ok" });
  });
});

describe("a function", () => {
  const at = (namespace: string) => ({ namespace, name: "mine" });

  test("that owns Secrets may write single ones in opted-in namespaces, and list none", async () => {
    const worker = await as("denrei-keeper");
    await optInWholly("default");
    for (const namespace of ["default", "denrei"]) {
      await worker.create(Secret, secret(namespace, "mine"), manager);
      await worker.mergePatch(Secret, at(namespace), { stringData: { key: "value" } }, manager);
      expect(await worker.get(Secret, at(namespace))).toMatchObject({ data: { key: btoa("value") } });
      await worker.delete(Secret, at(namespace), {});
      await expect(worker.list(Secret, namespace)).rejects.toThrow("403");
    }
    await expect(worker.create(Secret, secret("closed", "mine"), manager)).rejects.toThrow("403");
    await expect(worker.get(Secret, { namespace: "closed", name: "made" })).rejects.toThrow("403");
  });

  test("that watches Secrets may read single ones there", async () => {
    const worker = await as("denrei-notes");
    const made = { namespace: "denrei", name: "watched" };
    await createSecret(made.namespace, made.name);
    expect((await worker.get(Secret, made)).metadata.name).toBe("watched");
    await expect(worker.mergePatch(Secret, made, { data: null }, manager)).rejects.toThrow("403");
    await expect(worker.list(Secret, "denrei")).rejects.toThrow("403");
    await expect(worker.get(Secret, { namespace: "closed", name: "made" })).rejects.toThrow("403");
  });
});
