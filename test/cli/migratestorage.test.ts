/** `denrei migrate-storage` on a real API server. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { crdOf } from "../../bus/kube/crd.ts";
import { CustomResourceDefinition, installCrds } from "../../bus/kube/install.ts";
import { defineKind, type Kind } from "../../bus/kube/kind.ts";
import { migrateKind } from "../../deploy/cli/migratestorage.ts";
import { startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";

const common = {
  group: "migrated.denrei.dev",
  kind: "Relic",
  description: "",
  spec: z.object({ age: z.int() }),
};
const Old = defineKind({ ...common, version: "v1alpha1" });
const Relic = defineKind({ ...common, version: "v1" });
const crd = { name: "relics.migrated.denrei.dev" };

/** A CRD whose versions have the same schema, and so need no webhook. */
function crdWith(stored: Kind, ...served: readonly Kind[]): Record<string, unknown> {
  const of = (kind: Kind) => crdOf(kind) as { spec: { versions: object[] } };
  const versions = [
    ...of(stored).spec.versions,
    ...served.flatMap((kind) => of(kind).spec.versions.map((one) => ({ ...one, storage: false }))),
  ];
  return { ...of(stored), spec: { ...of(stored).spec, versions } };
}

let environment: TestEnvironment;
const install = (manifest: Record<string, unknown>) =>
  installCrds(environment.client, [manifest], {
    fieldManager: "test",
    lostFields: "drop",
    signal: AbortSignal.timeout(60_000),
  });
beforeAll(async () => {
  environment = await startTestEnvironment({ crds: [] });
});
afterAll(() => environment?.stop());

async function migrate(mode: "dry run" | "write"): Promise<string> {
  const lines: unknown[] = [];
  const spy = vi.spyOn(process.stdout, "write").mockImplementation((line) => lines.push(line) > 0);
  await migrateKind(environment.client, Relic, mode === "dry run").finally(() => spy.mockRestore());
  return lines.join("");
}
const storedVersions = async () =>
  (await environment.client.get(CustomResourceDefinition, crd)).status as { storedVersions: string[] };

test("rewrites all objects in the stored version, so that the older version can be removed", async () => {
  const { client } = environment;
  await install(crdWith(Old, Relic));
  for (const name of ["one", "two"]) {
    const metadata = { namespace: "default", name };
    const object = { apiVersion: "migrated.denrei.dev/v1alpha1", kind: "Relic", metadata, spec: { age: 7 } };
    await client.create(Old, object, { fieldManager: "test" });
  }
  await expect(migrate("write")).rejects.toThrow(
    /stores v1alpha1, and this program stores v1: install the CRD/,
  );

  await install(crdWith(Relic, Old));
  expect(await migrate("dry run")).toContain("would rewrite 2 objects");
  expect(await storedVersions()).toMatchObject({ storedVersions: ["v1alpha1", "v1"] });

  expect(await migrate("write")).toContain("rewrote 2 objects, status.storedVersions is v1");
  expect(await storedVersions()).toMatchObject({ storedVersions: ["v1"] });
  expect(await migrate("write")).toBe(`${crd.name}: all objects are stored as v1\n`);

  // An object that is still stored in the removed version could not be read.
  await install(crdWith(Relic));
  const { items } = await client.list(Relic, "default");
  expect(items.map(({ spec }) => spec)).toEqual([{ age: 7 }, { age: 7 }]);
});
