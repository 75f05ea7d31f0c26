/** A kind with several versions on a real control plane. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { keptAnnotation } from "../../bus/kube/conversion/kept.ts";
import { externalKind, type Kind } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { Parcel } from "../fixtures/functions/parcels.ts";
import { startKet } from "../harness/startket.ts";
import type { Ket } from "../ket/index.ts";

type Old = KubeObject<{ to: string; items: string[]; fragile?: boolean }, { sent?: boolean }>;
const OldParcel = externalKind<Old>({
  group: "test.denrei.dev",
  version: "v1alpha1",
  kind: "Parcel",
  plural: "parcels",
});

const manifest = (version: string, name: string, spec: object) => ({
  apiVersion: `test.denrei.dev/${version}`,
  kind: "Parcel",
  metadata: { name },
  spec,
});

let ket: Ket;
beforeAll(async () => {
  ket = await startKet({
    functions: [new URL("../fixtures/functions/parcels.ts", import.meta.url)],
    controllerManager: "omit",
  });
});
afterAll(() => ket?.stop());

const at = (name: string) => ({ namespace: ket.namespace, name });

test("reconciles an object that was created in the old version, and both versions show its status", async () => {
  await ket.kubectl.apply(manifest("v1alpha1", "first", { to: "Kyoto", items: ["tea"], fragile: true }));
  const sent = await ket.waitFor({ kind: Parcel, name: "first" }, { status: { phase: "Sent" } });
  expect(sent.spec).toEqual({ to: { city: "Kyoto" }, items: [{ name: "tea", count: 1 }] });
  const old = await ket.client.get(OldParcel, at("first"));
  expect(old.spec).toEqual({ to: "Kyoto", items: ["tea"], fragile: true });
  expect(old.status).toEqual({ sent: true });
});

test("an edit through the old version keeps fields that only the new version has", async () => {
  const spec = {
    to: { city: "Kyoto", street: "Sanjo" },
    items: [
      { name: "tea", count: 3, gift: true },
      { name: "rice", count: 2 },
    ],
  };
  await ket.kubectl.apply(manifest("v1", "edited", spec));
  await ket.waitFor({ kind: Parcel, name: "edited" }, { status: { phase: "Sent" } });
  const old = await ket.client.get(OldParcel, at("edited"));
  expect(old.spec).toEqual({ to: "Kyoto", items: ["tea", "rice"] });
  expect(old.metadata.annotations).toHaveProperty([keptAnnotation("v1")]);
  await ket.client.mergePatch(
    OldParcel,
    at("edited"),
    { spec: { to: "Atlantis", items: ["salt", "tea"] } },
    { fieldManager: "editor" },
  );
  const lost = await ket.waitFor({ kind: Parcel, name: "edited" }, { status: { phase: "Lost" } });
  expect(lost.spec).toEqual({
    to: { city: "Atlantis", street: "Sanjo" },
    items: [
      { name: "salt", count: 1 },
      { name: "tea", count: 3, gift: true },
    ],
  });
  expect(lost.metadata.annotations ?? {}).not.toHaveProperty([keptAnnotation("v1")]);
  // The old version cannot express "Lost".
  expect((await ket.client.get(OldParcel, at("edited"))).status).toEqual({ sent: false });
});

test("server-side apply through each version keeps the fields of the other one", async () => {
  const apply = (version: string, spec: object) =>
    ket.client.apply(
      { ...OldParcel, version } as Kind,
      { ...manifest(version, "applied", spec), metadata: at("applied") },
      { fieldManager: `by-${version}`, force: "conflict" },
    );
  await apply("v1alpha1", { to: "Nara", items: ["tea"] });
  await apply("v1", { to: { street: "Sanjo" } });
  await apply("v1alpha1", { to: "Osaka", items: ["rice"] });
  const { spec } = await ket.client.get(Parcel, at("applied"));
  expect(spec).toEqual({ to: { city: "Osaka", street: "Sanjo" }, items: [{ name: "rice", count: 1 }] });
});

test("lists in each version", async () => {
  expect((await ket.list(OldParcel)).map(({ spec }) => spec.to).toSorted()).toEqual([
    "Atlantis",
    "Kyoto",
    "Osaka",
  ]);
  expect((await ket.list(Parcel)).map(({ spec }) => spec.to.city).toSorted()).toEqual([
    "Atlantis",
    "Kyoto",
    "Osaka",
  ]);
});

test("rejects an object that cannot be converted, with the reason", async () => {
  await expect(ket.kubectl.apply(manifest("v1alpha1", "wrong", { to: "nowhere" }))).rejects.toThrow(
    /cannot convert Parcel .*wrong from v1alpha1 to v1: spec\.to: nowhere is not a place/,
  );
});
