import { expect, test } from "vitest";
import { namespaceOfPlatform } from "./namespace.ts";

test("reads the platform's namespace from CONTROLLER_NAMESPACE", () => {
  expect(namespaceOfPlatform({ CONTROLLER_NAMESPACE: "somewhere" })).toBe("somewhere");
  expect(namespaceOfPlatform({ CONTROLLER_NAMESPACE: "" })).toBe(namespaceOfPlatform({}));
  expect(namespaceOfPlatform({})).not.toBe("");
});
