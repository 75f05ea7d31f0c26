import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Stored } from "../../bus/kube/object.ts";
import { mergePatched } from "../../bus/worker/writes.ts";
import { canBecome, isOf, patchTo, tokenIn, tokensIn } from "../../functions/ghapp/foundsecret.ts";
import {
  annotations,
  requestDigest,
  type SecretObject,
  type WantedSecret,
  wantedSecret,
} from "../../functions/ghapp/secret.ts";
import {
  app,
  base64,
  frozen,
  issued,
  long,
  raw,
  type Spec,
  short,
  spec,
  stored,
  wanted,
} from "./tokensecret.ts";

describe("what is found in a Secret", () => {
  const digest = requestDigest(app, spec);
  const found = stored(wanted());

  test("its token, as it was written", () => {
    expect(tokenIn(found, digest)).toEqual({
      change: issued.change,
      expires: issued.expires,
      refresh: issued.refresh,
    });
  });

  test("also where the API server leaves out what is not set", () => {
    const opaque = raw({});
    const { immutable: _immutable, type: _type, ...secret } = stored(wanted(opaque));
    expect(tokenIn(secret as Stored<SecretObject>, requestDigest(app, opaque))).toBeDefined();
  });

  test("also where somebody else has labelled or annotated it", () => {
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
    ["one value more", { data: { ...found.data, more: "" } }],
    ["one value less", { data: less }],
    ["no value", { data: {} }],
    ["its type", { type: "Opaque" }],
    ["that it is immutable", { immutable: true }],
  ])("no token when somebody has changed %s", (_, change) => {
    expect(tokenIn({ ...found, ...change } as typeof found, digest)).toBeUndefined();
  });

  const { request, content, expires, refresh } = annotations;
  test.each([request, content, expires, refresh])("no token without its %s", (name) => {
    for (const value of [undefined, "", "never"]) {
      const noted = { ...found.metadata.annotations, [name]: value } as Record<string, string>;
      const metadata = { ...found.metadata, annotations: noted };
      expect(tokenIn({ ...found, metadata }, digest), String(value)).toBeUndefined();
    }
  });

  test("no token in one of ghapp-controller's, nor in anybody else's", () => {
    const { annotations: _, ...metadata } = found.metadata;
    expect(tokenIn({ ...found, metadata }, digest)).toBeUndefined();
    const originals = { "ghapp.tsuzu.dev/sha1": "x", "ghapp.tsuzu.dev/expired-at": "2026-11-20T19:30:00Z" };
    expect(tokenIn({ ...found, metadata: { ...metadata, annotations: originals } }, digest)).toBeUndefined();
  });

  test("all the tokens in it, to end them", () => {
    const tokensOf = (of: Spec, token: string) =>
      tokensIn(stored(wantedSecret(of, app, { ...issued, token })));
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

describe("what becomes of a Secret", () => {
  const found = stored(wanted());

  test.each<[string, Partial<SecretObject>, Partial<WantedSecret>, boolean]>([
    ["the same", {}, {}, true],
    ["other data", {}, { data: {} }, true],
    ["another type", {}, { type: "Opaque" }, false],
    ["no type, which is Opaque", { type: undefined } as never, { type: "Opaque" }, true],
    ["one that may be changed no more", {}, { immutable: true }, false],
    ["immutable as it is", { immutable: true }, {}, false],
    ["immutable, and so it stays", { immutable: true }, { immutable: true }, false],
  ])("%s", (_, before, after, can) => {
    expect(canBecome({ ...found, ...before } as typeof found, { ...wanted(), ...after })).toBe(can);
  });

  /** The Secret once the patch was applied. */
  const patched = (before: Stored<SecretObject>, to: WantedSecret): Stored<SecretObject> =>
    mergePatched(before, patchTo(before, to)) as Stored<SecretObject>;

  test("a patch leaves exactly the data that are wanted", () => {
    const to = wanted(raw({ stringData: { only: "this" } }));
    const before = {
      ...found,
      data: { ...found.data, theirs: "eA==", constructor: "eA==", toString: "eA==" },
    };
    expect(patched(before as never, to).data).toEqual(to.data);
    const { data: _, ...empty } = found;
    expect(patched(empty, to).data).toEqual(to.data);
  });

  test("labels and annotations of a template that has them no more go, those of others stay", () => {
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
    "whoever has written %j instead of the template's names, it is patched",
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

  test("whatever it was, it is what is wanted once it was patched, and a second patch changes nothing", () => {
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

test("a Secret is that of its owner, controller or not, and by the uid alone", () => {
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
