import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { crdOf, listMap } from "../crd.ts";
import { defineKind, type Kind } from "../kind.ts";
import type { KubeObject } from "../object.ts";
import { convertObject } from "./convert.ts";
import { keptAnnotation } from "./kept.ts";

const item = z.object({ name: z.string(), count: z.int().default(1), gift: z.boolean().optional() });
const Parcel = defineKind({
  group: "g.example.com",
  kind: "Parcel",
  description: "A parcel.",
  storage: "v1",
  versions: {
    v1alpha1: {
      deprecated: true,
      spec: z.object({
        to: z.string(),
        items: z.array(z.string()).optional(),
        fragile: z.boolean().optional(),
      }),
      status: z.object({ sent: z.boolean().optional() }),
      upgrade({ spec, status }) {
        if (spec.to === "nowhere") throw new Error("spec.to: nowhere is not a place");
        return {
          spec: { city: spec.to, items: spec.items?.map((name) => ({ name, count: 1 })) },
          status: status && { phase: status.sent ? "Sent" : "Waiting" },
        };
      },
      downgrade: ({ spec, status }) => ({
        spec: { to: spec.city, items: spec.items?.map(({ name }) => name) },
        status: status && { sent: status.phase === "Sent" },
      }),
    },
    v1beta1: {
      spec: z.object({ city: z.string(), count: z.int().default(7) }),
      upgrade: ({ spec }) => ({ spec: { city: spec.city } }),
      downgrade: ({ spec }) => ({ spec: { city: spec.city, count: 7 } }),
    },
    v1: {
      spec: z.object({
        city: z.string(),
        street: z.string().optional(),
        items: z.array(item).optional().meta(listMap("name")),
        extra: z.record(z.string(), z.int()).optional(),
      }),
      status: z.object({ phase: z.enum(["Waiting", "Lost", "Sent"]).optional() }),
    },
  },
});

const object = (version: string, spec: unknown, status?: unknown, annotations?: Record<string, string>) =>
  ({
    apiVersion: `g.example.com/${version}`,
    kind: "Parcel",
    metadata: { name: "one", namespace: "here", uid: "u", ...(annotations && { annotations }) },
    spec,
    ...(status !== undefined && { status }),
  }) as KubeObject<Record<string, unknown>, Record<string, unknown>>;
type Given = ReturnType<typeof object>;

const to = (version: string, given: KubeObject, kind: Kind = Parcel as Kind): Given =>
  convertObject(kind, given, version) as Given;

const names = fc.constantFrom("a", "b", "c", "d");
const optional = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
const fields = <T extends object>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  arbitrary.map((value) => JSON.parse(JSON.stringify(value)) as T);
const v1 = fields(
  fc.record({
    city: names,
    street: optional(names),
    items: optional(
      fc.uniqueArray(
        fc.record({ name: names, count: fc.integer({ min: 1, max: 3 }), gift: optional(fc.boolean()) }),
        {
          selector: ({ name }) => name,
        },
      ),
    ),
    extra: optional(fc.dictionary(names, fc.integer({ min: 0, max: 2 }))),
  }),
);
const v1Status = optional(fields(fc.record({ phase: optional(fc.constantFrom("Waiting", "Lost", "Sent")) })));
const v1alpha1 = fields(
  fc.record({ to: names, items: optional(fc.uniqueArray(names)), fragile: optional(fc.boolean()) }),
);
const v1alpha1Status = optional(fields(fc.record({ sent: optional(fc.boolean()) })));
const v1beta1 = fc.record({ city: names, count: fc.integer() });

describe("there and back", () => {
  const versions = ["v1alpha1", "v1beta1", "v1"];
  const anyObject = fc.oneof(
    fc.tuple(v1, v1Status).map(([spec, status]) => object("v1", spec, status)),
    fc.tuple(v1alpha1, v1alpha1Status).map(([spec, status]) => object("v1alpha1", spec, status)),
    v1beta1.map((spec) => object("v1beta1", spec)),
  );

  test("loses nothing, whatever the versions can express", () => {
    fc.assert(
      fc.property(anyObject, fc.constantFrom(...versions), (given, version) => {
        const there = to(version, given);
        expect(there.apiVersion).toBe(`g.example.com/${version}`);
        expect(to(given.apiVersion.slice("g.example.com/".length), there)).toEqual(given);
      }),
    );
  });

  test("loses nothing on a way through several versions", () => {
    fc.assert(
      fc.property(anyObject, fc.array(fc.constantFrom(...versions), { maxLength: 5 }), (given, way) => {
        const there = way.reduce((current, version) => to(version, current), given);
        expect(to(given.apiVersion.slice("g.example.com/".length), there)).toMatchObject({
          spec: given.spec,
          ...(given.status && { status: given.status }),
        });
      }),
    );
  });

  test("an edit of the old version changes its fields, and nothing that it cannot express", () => {
    fc.assert(
      fc.property(v1, v1alpha1, (spec, { to: city, items }) => {
        const old = to("v1alpha1", object("v1", spec));
        const edited = { ...old, spec: { ...old.spec, to: city, ...(items && { items }) } };
        const found = to("v1", edited).spec as typeof spec;
        expect(found).toMatchObject({
          city,
          ...(spec.street && { street: spec.street }),
          ...(spec.extra && { extra: spec.extra }),
        });
        expect(to("v1alpha1", to("v1", edited)).spec).toEqual(edited.spec);
        const kept = (name: string) => spec.items?.find((one) => one.name === name);
        if (items) expect(found.items).toEqual(items.map((name) => kept(name) ?? { name, count: 1 }));
      }),
    );
  });
});

test("an edit of the new version survives a field that it lacks", () => {
  const stored = to("v1", object("v1alpha1", { to: "Kyoto", fragile: true }));
  expect(stored.metadata.annotations).toHaveProperty([keptAnnotation("v1alpha1")]);
  const edited = { ...stored, spec: { ...stored.spec, city: "Nara" } };
  expect(to("v1alpha1", edited).spec).toEqual({ to: "Nara", fragile: true });
});

test("an object that both versions express gets no annotation", () => {
  expect(to("v1", object("v1alpha1", { to: "Kyoto" })).metadata).not.toHaveProperty("annotations");
});

test("names the object and the reason when a conversion throws", () => {
  expect(() => to("v1", object("v1alpha1", { to: "nowhere" }))).toThrow(
    "cannot convert Parcel here/one from v1alpha1 to v1: spec.to: nowhere is not a place",
  );
  expect(() => to("v1", object("v1alpha1", { to: "x", items: 3 }))).toThrow(
    /^cannot convert Parcel here\/one from v1alpha1 to v1: .*; the object does not match the schema of v1alpha1: spec\.items: /,
  );
  expect(() => to("v2", object("v1", { city: "x" }))).toThrow(
    "Parcel has no version v2, only v1alpha1, v1beta1, v1",
  );
});

test("converts an object without content, with which the API server computes managed fields", () => {
  const { spec: _, ...empty } = object("v1alpha1", {});
  expect(to("v1", empty as KubeObject)).toEqual({ ...empty, apiVersion: "g.example.com/v1" });
});

test.each(["no JSON", '"text"', '{"spec":{"city":7}}', "{}", "null"])(
  "ignores the annotation %s, which a user has written",
  (text) => {
    const given = object("v1alpha1", { to: "Kyoto" }, undefined, {
      [keptAnnotation("v1")]: text,
      other: "stays",
    });
    const { spec, metadata } = to("v1", given);
    expect(spec).toEqual({ city: "Kyoto" });
    expect(metadata.annotations).toEqual({ other: "stays" });
  },
);

test("fills in the defaults of the new version", () => {
  expect(to("v1beta1", object("v1alpha1", { to: "Kyoto" })).spec).toEqual({ city: "Kyoto", count: 7 });
});

const options = { group: "g.example.com", kind: "Wrong", description: "" } as const;
const spec = z.object({ a: z.string() });

test("defineKind - requires the conversions of versions that are not stored, and checks their types", () => {
  expect(() =>
    // @ts-expect-error: v1alpha1 has no conversions.
    defineKind({ ...options, storage: "v1", versions: { v1alpha1: { spec }, v1: { spec } } }),
  ).toThrow("expected the functions upgrade and downgrade in the version v1alpha1 of Wrong.g.example.com");
  expect(() =>
    // @ts-expect-error: no version v2.
    defineKind({ ...options, storage: "v2", versions: { v1: { spec } } }),
  ).toThrow('expected the stored version of Wrong.g.example.com among its versions (v1), found "v2"');
  const number = z.object({ a: z.int() });
  const Wrong = defineKind({
    ...options,
    storage: "v1",
    versions: {
      v1alpha1: {
        spec: number,
        // @ts-expect-error: a must be a text.
        upgrade: ({ spec }) => ({ spec: { a: spec.a } }),
        downgrade: ({ spec }) => ({ spec: { a: spec.a.length } }),
      },
      v1: { spec },
    },
  });
  expect(Wrong.version).toBe("v1");
});

test("crd - has all versions, and the webhook that converts between them", () => {
  expect(() => crdOf(Parcel as Kind)).toThrow(
    /^Parcel has several versions: its CRD needs the address of a webhook/,
  );
  const crd = crdOf(Parcel as Kind, { address: { url: "https://127.0.0.1:1" }, ca: "pem" });
  expect(crd).toMatchObject({
    spec: {
      versions: [
        { name: "v1alpha1", served: true, storage: false, deprecated: true, subresources: { status: {} } },
        { name: "v1beta1", served: true, storage: false },
        { name: "v1", served: true, storage: true },
      ],
      conversion: {
        strategy: "Webhook",
        webhook: {
          conversionReviewVersions: ["v1"],
          clientConfig: { url: "https://127.0.0.1:1/convert", caBundle: "cGVt" },
        },
      },
    },
  });
});
