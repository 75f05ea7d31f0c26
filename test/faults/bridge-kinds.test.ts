/** What becomes of kinds whose CRDs come late, go, and come back, and of CRDs that are another version's. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { positionKey } from "../../bus/bridge/position.ts";
import { crdOf } from "../../bus/kube/crd.ts";
import { CustomResourceDefinition, installCrds } from "../../bus/kube/install.ts";
import { ConfigMap, type Kind, kindText } from "../../bus/kube/kind.ts";
import { Letter } from "../fixtures/functions/letters.ts";
import { Probe } from "../fixtures/functions/probe.ts";
import { type OwnBridged, startOwnBridged } from "../harness/bridged.ts";

const manager = { fieldManager: "test" };
const at = (name: string) => ({ namespace: "default", name });
let bridged: OwnBridged;
beforeAll(async () => {
  // The shared control plane has the CRDs that are missing here at first.
  bridged = await startOwnBridged();
});
afterAll(() => bridged?.stop());

test("a kind whose CRD is installed only later: no hot loop, the others are not kept waiting, no restart", async () => {
  const env = { DENREI_CLUSTER: "late" };
  const path = fileURLToPath(new URL("../fixtures/functions/letters.ts", import.meta.url));
  const begun = performance.now();
  const late = await bridged.bridge("late", { args: [path], env });
  const unknown = () => late.metric("rest_client_requests_total", { code: "404" });
  const state = async () =>
    (await bridged.kv.get(positionKey("late", Letter)))?.json<{ state: string }>().state;
  const ofLate = (kind: Kind, name: string) =>
    bridged.history.of(kind, name).filter(({ at }) => at.cluster === "late");
  await expect.poll(state, { timeout: 60_000 }).toBe("absent");
  const meanwhile = { apiVersion: "v1", kind: "ConfigMap", metadata: at("meanwhile"), spec: undefined };
  await bridged.kit.client.create(ConfigMap, meanwhile, manager);
  await bridged.history.until(() => ofLate(ConfigMap, "meanwhile").length === 1);
  await expect.poll(unknown, { timeout: 60_000 }).toBeGreaterThan(4);
  const seconds = (performance.now() - begun) / 1000;
  expect(await unknown()).toBeLessThan(8 + seconds / 2);
  expect(
    late.logged("the API server does not know this kind: is its CRD installed? Trying again"),
  ).toHaveLength(1);

  const { client } = bridged.kit;
  const letter = (name: string): Letter => ({
    apiVersion: "late.denrei.dev/v1",
    kind: "Letter",
    metadata: at(name),
    spec: { text: "late" },
  });
  const install = () =>
    installCrds(client, [crdOf(Letter)], { ...manager, signal: AbortSignal.timeout(60_000) });
  await install();
  for (const name of ["stays", "goes"]) await client.create(Letter, letter(name), manager);
  await bridged.history.until(
    () => ofLate(Letter, "stays").length === 1 && ofLate(Letter, "goes").length === 1,
  );
  await client.delete(Letter, at("goes"), {});
  await bridged.history.until(() => ofLate(Letter, "goes").at(-1)?.change === "deleted");
  await expect.poll(state, { timeout: 60_000 }).toBe("watching");

  // The CRD is taken away, its objects with it, and comes back.
  await client.delete(CustomResourceDefinition, { name: `${Letter.plural}.${Letter.group}` }, {});
  await bridged.history.until(() => ofLate(Letter, "stays").at(-1)?.change === "deleted");
  await install();
  await client.create(Letter, letter("again"), manager);
  await bridged.history.until(() => ofLate(Letter, "again").length === 1);
  expect(late.logged("listed").filter(({ kind }) => kind === kindText(ConfigMap))).toHaveLength(1);
  expect(bridged.history.disorder(bridged.history.of(Letter))).toEqual([]);
});

test("a CRD that is to be installed while it is being deleted is there when that is over", async () => {
  const { client } = bridged.kit;
  const definition = { name: `${Probe.plural}.${Probe.group}` };
  const install = (labels: object, deletionMillis?: number) => {
    const crd = { ...crdOf(Probe), metadata: { ...definition, labels } };
    const signal = AbortSignal.timeout(90_000);
    return installCrds(client, [crd], { ...manager, signal, ...(deletionMillis && { deletionMillis }) });
  };
  const found = () => client.get(CustomResourceDefinition, definition);
  await install({});
  const before = await found();
  const metadata = { ...at("kept"), finalizers: ["test.denrei.dev/kept"] };
  const probe: Probe = {
    apiVersion: "test.denrei.dev/v1",
    kind: "Probe",
    metadata,
    spec: { mode: "ok" },
  };
  await client.create(Probe, probe, manager);
  await client.delete(CustomResourceDefinition, definition, {});

  await expect(install({}, 200)).rejects.toThrow(`expected the CRD ${definition.name} to be gone`);

  const installed = install({ again: "yes" });
  await expect
    .poll(async () => (await found()).metadata.labels, { timeout: 60_000 })
    .toEqual({ again: "yes" });
  expect((await found()).metadata).toMatchObject({ uid: before.metadata.uid });
  await client.mergePatch(Probe, at("kept"), { metadata: { finalizers: null } }, manager);
  await installed;
  const after = await found();
  expect(after.metadata).toMatchObject({ labels: { again: "yes" } });
  expect(after.metadata.uid).not.toBe(before.metadata.uid);
  expect((await client.list(Probe)).items).toEqual([]);
});

test("a CRD with fields of a newer version is left as it is, unless they are to go", async () => {
  const { client } = bridged.kit;
  const install = (crd: object, options: { lostFields?: "drop" } = {}) =>
    installCrds(client, [{ ...crd }], { ...manager, ...options, signal: AbortSignal.timeout(60_000) });
  const newer = JSON.parse(
    JSON.stringify(crdOf(Probe)).replace('"mode":', '"verses":{"type":"string"},"mode":'),
  );
  await install(newer);
  await expect(install(crdOf(Probe))).rejects.toThrow("found v1 .spec.verses: a newer version");
  await install(newer);

  const spec = async () => {
    const definition = { name: `${Probe.plural}.${Probe.group}` };
    return JSON.stringify((await client.get(CustomResourceDefinition, definition)).spec);
  };
  expect(await spec()).toContain('"verses"');
  await install(crdOf(Probe), { lostFields: "drop" });
  expect(await spec()).not.toContain('"verses"');
});
