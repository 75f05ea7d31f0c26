import { expect, test } from "vitest";
import { externalKind } from "../kube/kind.ts";
import { defineFunction, kindsOf, type PolicyRule } from "./function.ts";

const kind = (name: string, version = "v1") =>
  externalKind({ group: "test.denrei.dev", version, kind: name, plural: `${name.toLowerCase()}s` });
const declare = (name: string) =>
  defineFunction({ name, for: kind("Thing"), reconcile: async () => undefined });

test.each([
  ["Upper", /lower-case letters, digits and dashes.*"Upper"/],
  ["1st", /a letter first.*"1st"/],
  ["a".repeat(41), /at most 40/],
  ["bridge", /other than "bridge"/],
  ["bridge-opted-in", /other than "bridge-opted-in"/],
])("the name %s is refused, with what was expected", (name, message) => {
  expect(() => declare(name)).toThrow(message);
});

test.each([
  { apiGroups: [""], resources: ["pods", "secrets"], verbs: ["get"] },
  { apiGroups: ["apps", "*"], resources: ["*"], verbs: ["*"] },
])("permissions for $resources of $apiGroups are refused: they would hold for all Secrets", (rule) => {
  const permitted = (permissions: PolicyRule[]) =>
    defineFunction({ name: "thing", for: kind("Thing"), permissions, reconcile: async () => undefined });
  expect(() => permitted([rule])).toThrow(/do not cover Secrets.*owns or watches/);
  expect(permitted([{ ...rule, apiGroups: ["apps"] }]).permissions).toHaveLength(1);
});

test("a kind that is both owned and watched is watched once, whatever its version", () => {
  const fn = defineFunction({
    name: "thing",
    for: kind("Thing"),
    owns: [kind("Part"), kind("Part", "v2")],
    watches: [{ kind: kind("Part"), keys: () => [] }],
    reconcile: async () => undefined,
  });
  expect(kindsOf(fn).map(({ kind }) => kind)).toEqual(["Thing", "Part"]);
});
