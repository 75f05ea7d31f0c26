/** Admission hooks of a kind on a real control plane. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { externalKind } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { Crate } from "../fixtures/functions/crates.ts";
import { startKet } from "../harness/startket.ts";
import type { Ket } from "../ket/index.ts";

const OldCrate = externalKind<KubeObject<{ size: number; shelf?: string }>>({
  group: "test.denrei.dev",
  version: "v1alpha1",
  kind: "Crate",
  plural: "crates",
});

let ket: Ket;
beforeAll(async () => {
  ket = await startKet({
    functions: [new URL("../fixtures/functions/crates.ts", import.meta.url)],
    controllerManager: "omit",
  });
});
afterAll(() => ket?.stop());

const editor = { fieldManager: "editor" };
const at = (name: string) => ({ namespace: ket.namespace, name });
const crate = (name: string, spec: object) => ({
  apiVersion: "test.denrei.dev/v1",
  kind: "Crate",
  metadata: at(name),
  spec: spec as Crate["spec"],
});
const stored = (name: string) => ket.waitFor({ kind: Crate, name }, { status: { stored: true } });
const edit = (name: string, spec: object) => ket.client.mergePatch(Crate, at(name), { spec }, editor);

test("fills in a field before the object is stored, for every version", async () => {
  const { spec } = await ket.client.create(Crate, crate("new", { volume: { liters: 10 } }), editor);
  expect(spec).toEqual({ volume: { liters: 10 }, shelf: "top" });
  const old = { apiVersion: "test.denrei.dev/v1alpha1", kind: "Crate", metadata: at("old") };
  const created = await ket.client.create(OldCrate, { ...old, spec: { size: 200 } }, editor);
  expect(created.spec).toEqual({ size: 200, shelf: "floor" });
  expect((await stored("old")).spec).toEqual({ volume: { liters: 200 }, shelf: "floor" });
});

test("rejects an update with the fields and messages of the hook, which sees the old object", async () => {
  await ket.client.create(Crate, crate("full", { volume: { liters: 20 } }), editor);
  await expect(edit("full", { volume: { liters: 19 } })).rejects.toMatchObject({
    status: 422,
    message: expect.stringContaining(
      'admission webhook "validate.crates.test.denrei.dev" denied the request: spec.volume.liters: cannot shrink from 20',
    ),
  });
  await expect(ket.client.mergePatch(OldCrate, at("full"), { spec: { size: 19 } }, editor)).rejects.toThrow(
    /spec\.volume\.liters: cannot shrink from 20/,
  );
  expect((await edit("full", { volume: { liters: 21 } })).spec.volume).toEqual({ liters: 21 });
});

test("an object that does not match its schema is rejected by the API server", async () => {
  await expect(ket.client.create(Crate, crate("wrong", { volume: {} }), editor)).rejects.toThrow(
    /spec\.volume\.liters: Required value/,
  );
});

test("a hook that throws rejects the request with its message", async () => {
  await expect(
    ket.client.create(Crate, crate("thrown", { volume: { liters: 1 }, shelf: "broken" }), editor),
  ).rejects.toThrow(/validate of Crate\.test\.denrei\.dev failed: no such shelf/);
});

test("rejects a deletion, and then lets the finalizer of a deleted object go", async () => {
  await ket.client.create(Crate, crate("locked", { volume: { liters: 1 }, shelf: "safe" }), editor);
  await stored("locked");
  await expect(ket.client.delete(Crate, at("locked"), {})).rejects.toThrow(/spec\.shelf: is locked/);
  await edit("locked", { shelf: "top" });
  await ket.client.delete(Crate, at("locked"), {});
  await ket.waitUntilGone({ kind: Crate, name: "locked" });
});
