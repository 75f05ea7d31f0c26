import { expect, test } from "vitest";
import { ConfigMap, externalKind, type Kind, Pod, Secret } from "./kind.ts";
import { mergedKinds } from "./mergedkinds.ts";

type Part = Partial<Pick<Kind, "publish" | "fields" | "reach" | "version">>;
const pods = (more: Part = {}): Kind => externalKind({ ...Pod, fields: undefined, ...more });

test("keeps kinds that are declared once, or equally", () => {
  const kinds = [pods({ fields: ["status", "spec.nodeName"] }), ConfigMap, Secret];
  expect(mergedKinds([...kinds, pods({ fields: ["status", "spec.nodeName"] }), ConfigMap])).toEqual(kinds);
});

test.each<[string, Part, Part, Part]>([
  [
    "the fields of both",
    { fields: ["status"] },
    { fields: ["spec", "status"] },
    { fields: ["spec", "status"] },
  ],
  ["all fields if one needs them", { fields: ["status"] }, {}, { fields: undefined }],
  [
    "objects if one needs more than metadata",
    { publish: "metadata" },
    { fields: ["spec"] },
    { fields: ["spec"] },
  ],
  ["all namespaces if one needs them", { reach: "opted-in" }, {}, { reach: "all" }],
  ["the version of the first", {}, { version: "v2" }, { version: "v1" }],
])("a kind in two declarations has %s", (_, one, other, merged) => {
  expect(mergedKinds([pods(one), ConfigMap, pods(other)])).toEqual([pods(merged), ConfigMap]);
});
