import { expect, test } from "vitest";
import { z } from "zod";
import { defineKind, externalKind } from "./kind.ts";

const core = { group: "", version: "v1" };

test.each(["Secret", "ConfigMap"])(
  "externalKind - publishes only the metadata of a core %s, whatever is declared",
  (kind) => {
    const plural = `${kind.toLowerCase()}s`;
    expect(externalKind({ ...core, kind, plural }).publish).toBe("metadata");
    expect(externalKind({ ...core, kind, plural, publish: "object" }).publish).toBe("metadata");
  },
);

test("externalKind - publishes whole objects of other kinds by default", () => {
  expect(externalKind({ ...core, kind: "Pod", plural: "pods" }).publish).toBe("object");
  expect(externalKind({ ...core, kind: "Pod", plural: "pods", publish: "metadata" }).publish).toBe(
    "metadata",
  );
  expect(
    externalKind({ group: "external-secrets.io", version: "v1", kind: "Secret", plural: "secrets" }).publish,
  ).toBe("object");
});

test("externalKind - watches core Secrets only in opted-in namespaces, whatever is declared", () => {
  const secret = { ...core, kind: "Secret", plural: "secrets" };
  expect(externalKind(secret).reach).toBe("opted-in");
  expect(externalKind({ ...secret, reach: "all" }).reach).toBe("opted-in");
  // The plural identifies the resource; the kind is only a name for it.
  expect(externalKind({ ...secret, kind: "Secrets", reach: "all", publish: "object" })).toMatchObject({
    reach: "opted-in",
    publish: "metadata",
  });
});

test("externalKind - watches other kinds everywhere by default", () => {
  const pod = { ...core, kind: "Pod", plural: "pods" };
  expect(externalKind(pod).reach).toBe("all");
  expect(externalKind({ ...pod, reach: "opted-in" }).reach).toBe("opted-in");
  expect(externalKind({ ...pod, group: "external-secrets.io", plural: "secrets" }).reach).toBe("all");
  const ours = { ...pod, group: "example.com", description: "", spec: z.object({}) };
  expect(defineKind(ours).reach).toBe("all");
});

test("externalKind - rejects opted-in reach for a cluster-scoped kind", () => {
  const node = { ...core, kind: "Node", plural: "nodes", scope: "Cluster" } as const;
  expect(() => externalKind({ ...node, reach: "opted-in" })).toThrow(/expected Node.* to be namespaced/);
});

test("defineKind - hooks have the types of the stored version, and defaults for their options", () => {
  const { definition } = defineKind({
    ...{ group: "example.com", kind: "Parcel", description: "", storage: "v1" },
    versions: {
      v1alpha1: {
        spec: z.object({ to: z.string() }),
        upgrade: ({ spec }) => ({ spec: { city: spec.to } }),
        downgrade: ({ spec }) => ({ spec: { to: spec.city } }),
      },
      v1: { spec: z.object({ city: z.string() }) },
    },
    admission: {
      mutate({ object }) {
        object.spec.city = object.spec.city.trim();
        // @ts-expect-error v1 has no such field.
        object.spec.to = "";
        return object;
      },
      // @ts-expect-error A hook cannot be asynchronous.
      validate: async () => ({ warnings: [] }),
    },
  });
  expect(definition?.admission).toMatchObject({ updates: "spec", failurePolicy: "Fail", timeoutSeconds: 5 });
});
