import { expect, test } from "vitest";
import { externalKind } from "./kind.ts";

const core = { group: "", version: "v1" };

test.each(["Secret", "ConfigMap"])(
  "externalKind - publishes only the metadata of a core %s, whatever is declared",
  (kind) => {
    const plural = `${kind.toLowerCase()}s`;
    expect(externalKind({ ...core, kind, plural }).publish).toBe("metadata");
    expect(externalKind({ ...core, kind, plural, publish: "object" }).publish).toBe("metadata");
  },
);

test("externalKind - publishes whole objects of other kinds, unless told otherwise", () => {
  expect(externalKind({ ...core, kind: "Pod", plural: "pods" }).publish).toBe("object");
  expect(externalKind({ ...core, kind: "Pod", plural: "pods", publish: "metadata" }).publish).toBe(
    "metadata",
  );
  expect(
    externalKind({ group: "external-secrets.io", version: "v1", kind: "Secret", plural: "secrets" }).publish,
  ).toBe("object");
});
