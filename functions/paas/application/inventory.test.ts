import fc from "fast-check";
import { expect, test } from "vitest";
import { childKinds } from "../charts/kinds.ts";
import { kindOf, knownUid, obsolete, type Resource, resourceOf, withPlanned, withUids } from "./inventory.ts";

const resource = fc.record({
  apiVersion: fc.constantFrom("v1", "networking.k8s.io/v1", "networking.k8s.io/v1beta1", "apps/v1"),
  kind: fc.constantFrom("Service", "Ingress", "Deployment"),
  name: fc.constantFrom("a", "b", "c"),
  namespace: fc.constant("default"),
  uid: fc.option(fc.uuid(), { nil: undefined }),
});
/** The objects as `group/kind/name`, without duplicates. */
const keyOf = ({ apiVersion, kind, name }: Pick<Resource, "apiVersion" | "kind" | "name">) =>
  [apiVersion.includes("/") ? apiVersion.split("/")[0] : "", kind, name].join("/");
const resources = fc.uniqueArray(resource, { selector: keyOf });
const plannedOf = (list: readonly Resource[]) =>
  list.map(({ apiVersion, kind, name, namespace }) => ({
    apiVersion,
    kind,
    metadata: { name, namespace: namespace ?? "" },
  }));
const keys = (list: readonly Resource[]) => list.map(keyOf).sort();

test("announces existing and desired objects, each once", () => {
  fc.assert(
    fc.property(resources, resources, (before, desired) => {
      const list = withPlanned(before, plannedOf(desired));
      expect(keys(list)).toEqual([...new Set([...keys(before), ...keys(desired)])].sort());
      expect(list.slice(0, before.length), "existing entries stay unchanged").toEqual(before);
      expect(withPlanned(list, plannedOf(desired)), "it is announced once").toBe(list);
    }),
  );
});

test("splits announced objects into obsolete and desired ones, regardless of versions", () => {
  fc.assert(
    fc.property(resources, resources, (before, desired) => {
      const gone = keys(obsolete(withPlanned(before, plannedOf(desired)), plannedOf(desired)));
      expect(gone).toEqual(keys(before).filter((key) => !keys(desired).includes(key)));
    }),
  );
});

test("adds uids after applying, and loses nothing", () => {
  fc.assert(
    fc.property(resources, fc.array(fc.nat(), { maxLength: 5 }), (list, picks) => {
      const made = list.filter((_, index) => picks.includes(index));
      const children = made.map(({ apiVersion, kind, name }, index) => ({
        apiVersion,
        kind,
        metadata: { name, uid: `made-${index}` },
      }));
      const after = withUids(list, children);
      expect(keys(after)).toEqual(keys(list));
      for (const child of children) expect(knownUid(after, child)).toBe(child.metadata.uid);
    }),
  );
});

const ingress = { apiVersion: "networking.k8s.io/v1", kind: "Ingress", metadata: { name: "web" } };

test("treats an object in another version as the same one", () => {
  const before = [{ apiVersion: "networking.k8s.io/v1beta1", kind: "Ingress", name: "web", uid: "u-1" }];
  expect(obsolete(before, [ingress])).toEqual([]);
  expect(withPlanned(before, [ingress])).toBe(before);
  expect(knownUid(before, ingress)).toBe("u-1");
});

test("distinguishes objects of the same kind and name in different groups", () => {
  const before = [{ apiVersion: "extensions/v1beta1", kind: "Ingress", name: "web" }];
  expect(obsolete(before, [ingress])).toEqual(before);
});

test("records only known fields", () => {
  expect(resourceOf(ingress)).toStrictEqual({
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    name: "web",
  });
  expect(resourceOf({ ...ingress, metadata: { name: "web", namespace: "a", uid: "u" } })).toStrictEqual({
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    name: "web",
    namespace: "a",
    uid: "u",
  });
});

test("finds the kind of an entry in any version, and only kinds that charts may make", () => {
  expect(kindOf({ apiVersion: "autoscaling/v1", kind: "HorizontalPodAutoscaler" }, childKinds)).toMatchObject(
    {
      group: "autoscaling",
      version: "v2",
    },
  );
  expect(kindOf({ apiVersion: "v1", kind: "Secret" }, childKinds)).toBeUndefined();
});
