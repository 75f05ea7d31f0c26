import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Stored } from "../../bus/kube/object.ts";
import { mergePatched } from "../../bus/worker/writes.ts";
import { canBecome, isOf, patchTo, tokenIn, tokensIn } from "../../functions/ghapp/existingsecret.ts";
import {
  annotations,
  type DesiredSecret,
  desiredSecret,
  requestDigest,
  type SecretObject,
} from "../../functions/ghapp/secret.ts";
import { base64 } from "../harness/secretvalues.ts";
import { app, frozen, issued, long, raw, type Spec, short, spec, stored, wanted } from "./tokensecret.ts";

describe("an existing Secret", () => {
  const digest = requestDigest(app, spec);
  const found = stored(wanted());

  test("has its token as written", () => {
    expect(tokenIn(found, digest)).toEqual({
      change: issued.change,
      expires: issued.expires,
      refresh: issued.refresh,
    });
  });

  test("has its token when the API server omits unset fields", () => {
    const opaque = raw({});
    const { immutable: _immutable, type: _type, ...secret } = stored(wanted(opaque));
    expect(tokenIn(secret as Stored<SecretObject>, requestDigest(app, opaque))).toBeDefined();
  });

  test("has its token when others have added labels and annotations", () => {
    const { metadata } = found;
    const more = {
      labels: { ...metadata.labels, theirs: "1" },
      annotations: { ...metadata.annotations, theirs: "1" },
    };
    expect(tokenIn({ ...found, metadata: { ...metadata, ...more } }, digest)).toBeDefined();
  });

  const { password: _password, ...less } = found.data ?? {};
  test.each<[string, Partial<SecretObject>]>([
    ["a value", { data: { ...found.data, password: base64("another") } }],
    ["another value", { data: { ...found.data, username: base64("another") } }],
    ["an added value", { data: { ...found.data, more: "" } }],
    ["a removed value", { data: less }],
    ["all values", { data: {} }],
    ["its type", { type: "Opaque" }],
    ["its immutability", { immutable: true }],
  ])("has no token after a change of %s", (_, change) => {
    expect(tokenIn({ ...found, ...change } as typeof found, digest)).toBeUndefined();
  });

  const { request, content, expires, refresh } = annotations;
  test.each([request, content, expires, refresh])("has no token without its %s", (name) => {
    for (const value of [undefined, "", "never"]) {
      const noted = { ...found.metadata.annotations, [name]: value } as Record<string, string>;
      const metadata = { ...found.metadata, annotations: noted };
      expect(tokenIn({ ...found, metadata }, digest), String(value)).toBeUndefined();
    }
  });

  test("has no token if ghapp-controller or another owner wrote it", () => {
    const { annotations: _, ...metadata } = found.metadata;
    expect(tokenIn({ ...found, metadata }, digest)).toBeUndefined();
    const originals = { "ghapp.tsuzu.dev/sha1": "x", "ghapp.tsuzu.dev/expired-at": "2026-11-20T19:30:00Z" };
    expect(tokenIn({ ...found, metadata: { ...metadata, annotations: originals } }, digest)).toBeUndefined();
  });

  test("lists all tokens to revoke", () => {
    const tokensOf = (of: Spec, token: string) =>
      tokensIn(stored(desiredSecret(of, app, { ...issued, token })));
    for (const token of [short, long]) {
      expect(tokensOf(spec, token)).toEqual([token]);
      expect(tokensOf(raw({}, { format: "dockerconfigjson", key: undefined }), token)).toEqual([token]);
      const template = { stringData: { url: "https://x-access-token:{{token}}@github.com/acme/web" } };
      expect(tokensOf(raw(template, { key: "other" }), token)).toEqual([token]);
    }
    const two = { a: base64(`${short}\n`), b: base64(`token ${long} of ${short}`) };
    expect(tokensIn({ ...found, data: two }).sort()).toEqual([short, long].sort());
    expect(tokensIn({ ...found, data: { a: base64("highs_and_lows") } })).toEqual([]);
    const { data: _, ...empty } = found;
    expect(tokensIn(empty)).toEqual([]);
  });
});

describe("a change of the Secret to", () => {
  const found = stored(wanted());

  test.each<[string, Partial<SecretObject>, Partial<DesiredSecret>, boolean]>([
    ["the same", {}, {}, true],
    ["other data", {}, { data: {} }, true],
    ["another type", {}, { type: "Opaque" }, false],
    ["no type, which is Opaque", { type: undefined } as never, { type: "Opaque" }, true],
    ["an immutable Secret", {}, { immutable: true }, false],
    ["an immutable Secret from an immutable one with other data", { immutable: true }, {}, false],
    ["an immutable Secret from an immutable one", { immutable: true }, { immutable: true }, false],
  ])("%s", (_, before, after, can) => {
    expect(canBecome({ ...found, ...before } as typeof found, { ...wanted(), ...after })).toBe(can);
  });

  /** The Secret once the patch was applied. */
  const patched = (before: Stored<SecretObject>, to: DesiredSecret): Stored<SecretObject> =>
    mergePatched(before, patchTo(before, to)) as Stored<SecretObject>;

  test("keeps exactly the desired data", () => {
    const to = wanted(raw({ stringData: { only: "this" } }));
    const before = {
      ...found,
      data: { ...found.data, theirs: "eA==", constructor: "eA==", toString: "eA==" },
    };
    expect(patched(before as never, to).data).toEqual(to.data);
    const { data: _, ...empty } = found;
    expect(patched(empty, to).data).toEqual(to.data);
  });

  test("removes labels and annotations that the template no longer has, and keeps those of others", () => {
    const metadata = (labels: object, annotations: object) =>
      ({ metadata: { labels, annotations } }) as never;
    const before = stored(
      wanted(raw(metadata({ a: "1", b: "1", constructor: "1" }, { a: "1", b: "1", valueOf: "1" }))),
    );
    Object.assign(before.metadata.labels ?? {}, { theirs: "1", b: "changed" });
    Object.assign(before.metadata.annotations ?? {}, { theirs: "1", b: "changed" });
    const to = wanted(raw(metadata({ b: "2", c: "2" }, { b: "2", c: "2" })));
    const after = patched(before, to);
    expect(after.metadata.labels).toEqual({ b: "2", c: "2", theirs: "1" });
    expect(after.metadata.annotations).toEqual({ ...to.annotations, theirs: "1" });
    expect(after.metadata).toMatchObject({ name: "acme-web", uid: "uid", resourceVersion: "7" });
  });

  test.each(["", "no JSON", "null", "[]", "{}", '{"labels":7}', '{"labels":null,"annotations":[null,{}]}'])(
    "can patch a Secret with %j instead of the template's names",
    (noted) => {
      const metadata = {
        ...found.metadata,
        labels: { theirs: "1" },
        annotations: { ...found.metadata.annotations, theirs: "1", [annotations.fromTemplate]: noted },
      };
      const to = wanted(raw({}));
      const after = patched({ ...found, metadata }, to);
      expect(after.data).toEqual(to.data);
      expect(after.metadata.labels).toMatchObject({ theirs: "1" });
      expect(after.metadata.annotations).toMatchObject({ ...to.annotations, theirs: "1" });
    },
  );

  const names = fc.constantFrom("a", "b", "c", "constructor", "toString", "hasOwnProperty");
  const texts = fc.dictionary(names, fc.string({ maxLength: 4 }), { maxKeys: 4 });
  const template: fc.Arbitrary<Spec["template"]> = fc.record({
    stringData: texts,
    metadata: fc.record({ labels: texts, annotations: texts }),
  });

  test("results in the desired Secret from any state, and changes nothing when repeated", () => {
    fc.assert(
      fc.property(template, template, texts, texts, (before, after, data, theirs) => {
        const was = stored(wanted(raw(before)));
        const tampered = {
          ...was,
          data: { ...was.data, ...data },
          metadata: { ...was.metadata, labels: { ...was.metadata.labels, ...prefixed(theirs) } },
        };
        const to = wanted(raw(after));
        const now = patched(frozen(tampered), frozen(to));
        expect(Object.entries(now.data ?? {}).sort()).toEqual(Object.entries(to.data).sort());
        expect(now.metadata.labels).toEqual({ ...to.labels, ...prefixed(theirs) });
        expect(now.metadata.annotations).toEqual(to.annotations);
        expect(tokenIn(now, requestDigest(app, raw(after)))).toBeDefined();
        expect(patched(now, to)).toEqual(now);
      }),
    );
  });
  const prefixed = (labels: Record<string, string>) =>
    Object.fromEntries(Object.entries(labels).map(([name, value]) => [`theirs/${name}`, value]));
});

test("identifies the owner by uid, whether it is the controller or not", () => {
  const owner = stored(wanted()) as Stored;
  const reference = { apiVersion: "ghapp.tsuzu.dev/v1alpha1", kind: "Installation", name: "acme-web" };
  const owned = (...uids: string[]): Stored => ({
    ...owner,
    metadata: { ...owner.metadata, ownerReferences: uids.map((uid) => ({ ...reference, uid })) },
  });
  expect(isOf(owned("uid"), owner)).toBe(true);
  expect(isOf(owned("other", "uid"), owner)).toBe(true);
  expect(isOf(owned("other"), owner)).toBe(false);
  expect(isOf(owned(), owner)).toBe(false);
  expect(isOf(owner, owner)).toBe(false);
});
