import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { AdmissionOptions } from "../kube/admission.ts";
import { defineKind, type Kind } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import { MalformedReviewError } from "./malformed.ts";
import { answerAdmission, MissingHookError } from "./review.ts";

interface Spec extends Record<string, unknown> {
  city: string;
  items: string[];
  priority?: string | undefined;
}
type Parcel = KubeObject<Spec>;

const kindWith = (admission: AdmissionOptions<Parcel>): Kind =>
  defineKind({
    group: "g.example.com",
    version: "v1",
    kind: "Parcel",
    description: "",
    spec: z.object({
      city: z.string().min(1, "is empty"),
      items: z.array(z.string().min(1)),
      priority: z.string().optional(),
    }),
    admission: admission as AdmissionOptions<never>,
  });

const parcel = (spec: object, metadata: object = {}) => ({
  apiVersion: "g.example.com/v1",
  kind: "Parcel",
  metadata: { name: "one", ...metadata },
  spec: { city: "Nara", items: [], ...spec },
});
const review = (request: object = {}) => ({
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  request: {
    uid: "7",
    kind: { group: "g.example.com", version: "v1", kind: "Parcel" },
    operation: "CREATE",
    userInfo: { username: "mei", groups: ["editors"], extra: { team: ["post"] } },
    object: parcel({}),
    oldObject: null,
    dryRun: true,
    ...request,
  },
});
const update = (object: object, oldObject: object) => review({ operation: "UPDATE", object, oldObject });
const deletion = review({ operation: "DELETE", object: null, oldObject: parcel({}) });

function answerOf(
  type: "mutate" | "validate",
  admission: AdmissionOptions<Parcel>,
  body: unknown = review(),
) {
  const { review: answered, ...rest } = answerAdmission([kindWith(admission)], type, body);
  const { response } = answered as { response: Record<string, unknown> & { patch?: string } };
  const patch = response.patch && JSON.parse(Buffer.from(response.patch, "base64").toString());
  return { ...rest, response, patch };
}

describe("validate", () => {
  test("gets objects, operation, and user, and allows with warnings", () => {
    let got: unknown;
    const { response, outcome } = answerOf(
      "validate",
      {
        validate(request) {
          got = request;
          return { warnings: ["priority is deprecated"] };
        },
      },
      update(parcel({ priority: "high" }), parcel({})),
    );
    expect(got).toEqual({
      operation: "UPDATE",
      object: parcel({ priority: "high" }),
      oldObject: parcel({}),
      user: { username: "mei", groups: ["editors"], extra: { team: ["post"] } },
      dryRun: true,
    });
    expect({ response, outcome }).toEqual({
      response: { uid: "7", allowed: true, warnings: ["priority is deprecated"] },
      outcome: "allowed",
    });
  });

  test("denies with all errors and their fields", () => {
    const errors = [
      { field: "spec.city", message: "is immutable" },
      { field: "spec.items[0]", message: "is too heavy" },
    ];
    const { response, outcome, message } = answerOf("validate", { validate: () => ({ errors }) });
    expect(response).toEqual({
      uid: "7",
      allowed: false,
      status: {
        status: "Failure",
        code: 422,
        reason: "Invalid",
        message: "spec.city: is immutable; spec.items[0]: is too heavy",
        details: {
          ...{ group: "g.example.com", kind: "Parcel", name: "one" },
          causes: errors.map((error) => ({ reason: "FieldValueInvalid", ...error })),
        },
      },
    });
    // A denial is for the user, not for the log.
    expect({ outcome, message }).toEqual({ outcome: "denied", message: undefined });
  });

  test("denies what the schema rejects, without calling the hook", () => {
    const validate = () => {
      throw new Error("called");
    };
    const object = parcel({ city: "", items: ["tea", ""] });
    expect(answerOf("validate", { validate }, review({ object })).response.status).toMatchObject({
      message: expect.stringMatching(/^spec\.city: is empty; spec\.items\[1\]: /),
    });
  });

  test("validates deletions only with validateDelete", () => {
    const validateDelete: NonNullable<AdmissionOptions<Parcel>["validateDelete"]> = ({ object, user }) => ({
      errors: [{ field: "metadata", message: `${user.username} may not delete ${object.metadata.name}` }],
    });
    const { response } = answerOf("validate", { validateDelete }, deletion);
    expect(response.status).toMatchObject({ message: "metadata: mei may not delete one" });
    expect(() => answerOf("validate", { validate: () => undefined }, deletion)).toThrow(MissingHookError);
  });
});

describe("mutate", () => {
  const mutated = (mutate: NonNullable<AdmissionOptions<Parcel>["mutate"]>, object: object = parcel({})) =>
    answerOf("mutate", { mutate }, review({ object }));

  test("patches what the hook changes, also in its argument", () => {
    const { response, patch } = mutated(({ object }) => {
      object.spec.priority ??= "normal";
      object.metadata.labels = { ...object.metadata.labels, "g.example.com/city": object.spec.city };
      return object;
    });
    expect(response).toMatchObject({ allowed: true, patchType: "JSONPatch" });
    expect(patch).toEqual([
      { op: "add", path: "/metadata/labels", value: { "g.example.com/city": "Nara" } },
      { op: "add", path: "/spec/priority", value: "normal" },
    ]);
  });

  test("sends no patch without a change, and for objects that do not match their schema", () => {
    expect(mutated(() => undefined).response).toEqual({ uid: "7", allowed: true });
    expect(mutated(({ object }) => object).response).toEqual({ uid: "7", allowed: true });
    const wrong = parcel({ items: "none" });
    expect(
      mutated(({ object }) => ({ ...object, spec: { ...object.spec, city: "x" } }), wrong).response,
    ).toEqual({
      uid: "7",
      allowed: true,
    });
  });

  test.each<[string, NonNullable<AdmissionOptions<Parcel>["mutate"]>, string]>([
    [
      "is not idempotent",
      ({ object }) => ({ ...object, spec: { ...object.spec, items: [...object.spec.items, "tea"] } }),
      "mutate of Parcel.g.example.com is not idempotent: called with its own result, it changed /spec/items",
    ],
    [
      "changes what it may not",
      ({ object }) => ({ ...object, metadata: { ...object.metadata, name: "two" } }),
      "mutate of Parcel.g.example.com changed /metadata/name: it may change only /spec, /metadata/labels, ",
    ],
    [
      "returns an invalid object",
      ({ object }) => ({ ...object, spec: { ...object.spec, items: [""] } }),
      "mutate of Parcel.g.example.com returned an object that does not match its schema: spec.items[0]: ",
    ],
    [
      "throws",
      () => {
        throw new Error("no stamps");
      },
      "mutate of Parcel.g.example.com failed: no stamps",
    ],
    [
      "returns a promise",
      (() => Promise.reject(new Error("later"))) as never,
      "mutate of Parcel.g.example.com returned a promise: hooks are synchronous, as the API server waits",
    ],
  ])("denies with the reason if the hook %s", (_, mutate, reason) => {
    const { response, outcome, message } = mutated(mutate);
    expect(response).toMatchObject({
      allowed: false,
      status: { code: 500, reason: "InternalError", message: expect.stringContaining(reason) },
    });
    expect({ outcome, message }).toEqual({ outcome: "failed", message: expect.stringContaining(reason) });
  });
});

test.each<[string, unknown, RegExp]>([
  ["not an object", null, /expected an AdmissionReview/],
  ["of another version", { ...review(), apiVersion: "admission.k8s.io/v1beta1" }, /apiVersion/],
  ["without the object", review({ object: null }), /request\.object/],
  ["without the old object", review({ operation: "UPDATE" }), /request\.oldObject/],
  ["of another operation", review({ operation: "CONNECT" }), /request\.operation/],
])("rejects a review that is %s", (_, body, message) => {
  const answered = () => answerOf("validate", { validate: () => undefined }, body);
  expect(answered).toThrow(MalformedReviewError);
  expect(answered).toThrow(message);
});

test.each<[string, object, string]>([
  [
    "kind",
    { group: "g.example.com", version: "v1", kind: "Letter" },
    "this program has no validate for Letter.",
  ],
  [
    "version",
    { group: "g.example.com", version: "v2", kind: "Parcel" },
    "in the version v1, found v2: install",
  ],
])("rejects reviews of another %s, as its code has no hook for it", (_, kind, message) => {
  const answered = () => answerOf("validate", { validate: () => undefined }, review({ kind }));
  expect(answered).toThrow(MissingHookError);
  expect(answered).toThrow(message);
});

test("defineKind - rejects an incomplete declaration", () => {
  expect(() => kindWith({})).toThrow(
    /expected at least one of mutate, validate, validateDelete in the admission of Parcel/,
  );
  expect(() => kindWith({ validate: () => undefined, timeoutSeconds: 31 })).toThrow(
    /integer from 1 to 30, found 31/,
  );
});
