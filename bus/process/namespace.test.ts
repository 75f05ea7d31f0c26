import { expect, test } from "vitest";
import { namespaceOfPlatform } from "./namespace.ts";

test("the platform is where it was told to be", () => {
  expect(namespaceOfPlatform({ CONTROLLER_NAMESPACE: "somewhere" })).toBe("somewhere");
  expect(namespaceOfPlatform({ CONTROLLER_NAMESPACE: "" })).toBe(namespaceOfPlatform({}));
  expect(namespaceOfPlatform({})).not.toBe("");
});
