import { expect, test } from "vitest";
import { CrdRejectedError } from "./crdrejection.ts";
import { ApiError, type StatusCause } from "./errors.ts";

const crd = { name: "songs.example.com", kind: "Song" };

function messageFor(causes?: readonly StatusCause[]): string {
  const details = causes === undefined ? {} : { details: { causes } };
  const body = { reason: "Invalid", message: "it is invalid", ...details };
  return new CrdRejectedError(crd, new ApiError("PATCH /x", 422, body)).message;
}

const schema = "spec.validation.openAPIV3Schema";

test.each([
  [`${schema}.properties[spec].x-kubernetes-validations[0].rule`, "spec, x-kubernetes-validations[0].rule"],
  [`${schema}.properties[spec].properties[words].items.pattern`, "spec.words[], pattern"],
  [
    `${schema}.properties[spec].properties[labels].additionalProperties.maxLength`,
    "spec.labels[*], maxLength",
  ],
  ["spec.versions[1].schema.openAPIV3Schema.properties[spec]", "spec"],
  ["spec.names.plural", "spec.names.plural"],
])("names the field of the kind for %s", (field, place) => {
  expect(messageFor([{ field, message: "Invalid value: 1" }])).toBe(
    `the API server rejects the CRD songs.example.com. Change the schema of Song in defineKind:\n  ${place}: Invalid value: 1`,
  );
});

test("lists every problem, and keeps the lines of a message together", () => {
  const causes = [
    { field: "spec.names.plural", message: "a" },
    { field: "spec.names.kind", message: "b\nc" },
  ];
  expect(messageFor(causes).split("\n").slice(1)).toEqual([
    "  spec.names.plural: a",
    "  spec.names.kind: b",
    "    c",
  ]);
});

test("leaves out the fields of a CEL rule", () => {
  const rule = '{"Rule":"self.nope \\u003e 1","Message":"x","Reason":null}';
  const message = `Invalid value: ${rule}: compilation failed: undefined field 'nope'`;
  const field = `${schema}.properties[spec].x-kubernetes-validations[0].rule`;
  expect(messageFor([{ field, message }])).toMatch(
    /\n {2}spec, x-kubernetes-validations\[0\]\.rule: compilation failed: undefined field 'nope'$/,
  );
});

test("quotes the answer if it names no field", () => {
  expect(messageFor()).toContain("\n  PATCH /x was answered 422 Invalid: it is invalid");
});
