import { expect, test } from "vitest";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { crdOf } from "./crd.ts";
import { type CrdVersions, lostBy } from "./downgrade.ts";

const now = (crdOf(Hikawa) as { spec: CrdVersions }).spec;
/** The CRD with one field more or less. */
function changed(edit: (spec: Record<string, unknown>) => void): CrdVersions {
  const copy = structuredClone(now) as CrdVersions;
  const schema = copy.versions[0]?.schema?.openAPIV3Schema as {
    properties: { spec: { properties: Record<string, unknown> } };
  };
  edit(schema.properties.spec.properties);
  return copy;
}
const more = changed((fields) => {
  fields.verses = { type: "array", items: { type: "object", properties: { key: { type: "string" } } } };
});

test("the same CRD, and one with more fields or versions, takes nothing away", () => {
  expect(lostBy(now, now)).toEqual([]);
  expect(lostBy(now, more)).toEqual([]);
  expect(lostBy(now, { versions: [...now.versions, { name: "v9" }] })).toEqual([]);
});

test("an older CRD takes away the fields and versions that a newer one has brought", () => {
  expect(lostBy(more, now)).toEqual(["v1beta1 .spec.verses", "v1beta1 .spec.verses[].key"]);
  expect(lostBy({ versions: [...now.versions, { name: "v9" }] }, now)).toEqual(["v9"]);
});
