import { expect, test } from "vitest";
import { ConfigMap, Namespace } from "../kube/kind.ts";
import { scopesOf } from "./scope.ts";

test("a namespaced kind has a scope in each watched namespace, and a cluster-scoped kind has one", () => {
  expect(scopesOf(ConfigMap, ["a", "b"])).toEqual(["a", "b"]);
  expect(scopesOf(ConfigMap, [])).toEqual([undefined]);
  expect(scopesOf(ConfigMap)).toEqual([undefined]);
  expect(scopesOf(Namespace, ["a", "b"])).toEqual([undefined]);
});
