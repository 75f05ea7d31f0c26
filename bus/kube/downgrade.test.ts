import { expect, test } from "vitest";
import { type CrdVersions, lostBy } from "./downgrade.ts";

const crd = (fields: object): CrdVersions => ({
  versions: [
    { name: "v1", schema: { openAPIV3Schema: { properties: { spec: { properties: { ...fields } } } } } },
  ],
});
const now = crd({ words: { additionalProperties: { properties: { say: {} } } } });
const more = crd({
  words: { additionalProperties: { properties: { say: {}, loud: {} } } },
  verses: { items: { properties: { key: {} } } },
});

test("the same CRD, or one with more fields or versions, loses nothing", () => {
  expect(lostBy(now, now)).toEqual([]);
  expect(lostBy(now, more)).toEqual([]);
  expect(lostBy(now, { versions: [...now.versions, { name: "v9" }] })).toEqual([]);
});

test("an older CRD loses the fields and versions that a newer one added", () => {
  expect(lostBy(more, now)).toEqual(["v1 .spec.words{}.loud", "v1 .spec.verses", "v1 .spec.verses[].key"]);
  expect(lostBy({ versions: [...now.versions, { name: "v9" }] }, now)).toEqual(["v9"]);
});
