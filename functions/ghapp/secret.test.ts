import { generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parsePrivateKey } from "../../bus/github/key.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { mergePatched } from "../../bus/worker/writes.ts";
import type { Installation } from "./kinds.ts";
import {
  type AppIdentity,
  annotations,
  canBecome,
  canonical,
  contentDigest,
  type IssuedToken,
  isOf,
  patchTo,
  requestDigest,
  type SecretObject,
  tokenIn,
  tokensIn,
  type WantedSecret,
  wantedSecret,
} from "./secret.ts";

type Spec = Installation["spec"];

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = privateKey.export({ type: "pkcs1", format: "pem" }) as string;
const app: AppIdentity = {
  url: "",
  appID: 12345,
  keyFingerprint: parsePrivateKey(pem).fingerprint,
  allowed: [{ namespaces: ["team-*"], permissions: { contents: "read" } }],
};
const spec: Spec = {
  appRef: { kind: "ClusterGitHubApp", name: "main" },
  installationID: 678,
  repositoryIDs: [4242],
  permissions: { contents: "read", pull_requests: "read" },
  key: "password",
  template: {
    type: "kubernetes.io/basic-auth",
    stringData: { username: "x-access-token" },
    metadata: { annotations: { "kpack.io/git": "https://github.com" }, labels: { team: "a" } },
  },
};
const raw = (template: Spec["template"], more: Partial<Spec> = {}): Spec => ({
  appRef: spec.appRef,
  installationID: 678,
  key: "token",
  template,
  ...more,
});

const short = `ghs_${"a1B2".repeat(9)}`;
/** Of the form that GitHub gives since 2026: a JWT of about 520 characters. */
const long = `ghs_12345_eyJ${"hbGc".repeat(40)}.eyJ${"pYX-Q".repeat(40)}.${"Sig_na".repeat(24)}`;
const issued: IssuedToken = {
  token: long,
  issued: Date.parse("2026-11-20T18:30:00Z"),
  refresh: Date.parse("2026-11-20T19:20:00Z"),
  expires: Date.parse("2026-11-20T19:30:00Z"),
};

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const decoded = ({ data }: Pick<WantedSecret, "data">): Record<string, string> =>
  Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, Buffer.from(value, "base64").toString()]),
  );

/** The Secret as the API server has it once it was created. */
const stored = ({ labels, annotations, ...content }: WantedSecret): Stored<SecretObject> => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "acme-web", namespace: "team-a", uid: "uid", resourceVersion: "7", labels, annotations },
  spec: undefined,
  ...content,
});
const wanted = (of: Spec = spec, by: AppIdentity = app, token = issued) => wantedSecret(of, by, token);

/** The same value, of which nothing can be changed. */
function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const part of Object.values(value)) frozen(part);
    Object.freeze(value);
  }
  return value;
}

describe("content", () => {
  test("raw: the token is under the key", () => {
    const secret = wanted(raw({}));
    expect(decoded(secret)).toEqual({ token: long });
    expect(secret).toMatchObject({ type: "Opaque", immutable: false, labels: {} });
    expect(wanted(raw({ type: "" })).type).toBe("Opaque");
  });

  test("as the seed's users write it: a password with a user, for git and kpack", () => {
    const secret = wanted();
    expect(decoded(secret)).toEqual({ username: "x-access-token", password: long });
    expect(secret.type).toBe("kubernetes.io/basic-auth");
    expect(secret.labels).toEqual({ team: "a" });
    expect(secret.annotations).toMatchObject({ "kpack.io/git": "https://github.com" });
  });

  test("basic-auth: a user and the token", () => {
    const secret = wanted(raw({}, { format: "basic-auth", key: undefined }));
    expect(secret.type).toBe("kubernetes.io/basic-auth");
    expect(decoded(secret)).toEqual({ username: "x-access-token", password: long });
  });

  test.each([
    [undefined, "ghcr.io"],
    ["registry.example.com:5000", "registry.example.com:5000"],
  ])("dockerconfigjson: what docker login writes, for the registry %s", (registry, host) => {
    const secret = wanted(raw({}, { format: "dockerconfigjson", key: undefined, registry }));
    expect(secret.type).toBe("kubernetes.io/dockerconfigjson");
    expect(Object.keys(secret.data)).toEqual([".dockerconfigjson"]);
    expect(JSON.parse(decoded(secret)[".dockerconfigjson"] ?? "")).toEqual({
      auths: {
        [host]: { username: "x-access-token", password: long, auth: base64(`x-access-token:${long}`) },
      },
    });
  });

  test("a format has its key beside the one that gets the token as it is", () => {
    expect(decoded(wanted(raw({}, { format: "basic-auth", key: "token" })))).toEqual({
      username: "x-access-token",
      password: long,
      token: long,
    });
  });

  test("{{token}} stands for the token, wherever it is in a value, and as often", () => {
    const stringData = {
      ".netrc": "machine github.com login x-access-token password {{token}}\n",
      twice: "{{token}}:{{token}}",
      none: "{token} {{ token }} {{TOKEN}}",
    };
    expect(decoded(wanted(raw({ stringData })))).toEqual({
      ".netrc": `machine github.com login x-access-token password ${long}\n`,
      twice: `${long}:${long}`,
      none: "{token} {{ token }} {{TOKEN}}",
      token: long,
    });
  });

  test("a token is put in as it is, whatever it is made of", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("$", "&", "`", "'", "$$", "$<a>", "$1", "{{token}}", '"', "\\", "é")),
        (parts) => {
          const token = `ghs_${parts.join("")}`;
          const template = { stringData: { url: "https://{{token}}@github.com" } };
          const secret = wantedSecret(raw(template), app, { ...issued, token });
          expect(decoded(secret)).toEqual({ url: `https://${token}@github.com`, token });
          const docker = raw({}, { format: "dockerconfigjson", key: undefined });
          const config = decoded(wantedSecret(docker, app, { ...issued, token }))[".dockerconfigjson"] ?? "";
          expect(JSON.parse(config).auths["ghcr.io"].password).toBe(token);
        },
      ),
    );
  });

  test("the template's data stay as they are", () => {
    const data = { "ca.crt": base64("a certificate"), empty: "", none: base64("{{token}}") };
    expect(wanted(raw({ data })).data).toEqual({ ...data, token: base64(long) });
  });

  test("the template's own values win over the format's, and the token over both", () => {
    const template = { data: { username: base64("of data") }, stringData: { password: "of stringData" } };
    const formatted = (more: Partial<Spec>) =>
      decoded(wanted(raw(template, { format: "basic-auth", key: undefined, ...more })));
    expect(formatted({})).toEqual({ username: "of data", password: "of stringData" });
    expect(formatted({ key: "username" })).toEqual({ username: long, password: "of stringData" });
    expect(formatted({ key: "password" })).toEqual({ username: "of data", password: long });
    const both = { data: { same: base64("of data") }, stringData: { same: "of stringData" } };
    // As Kubernetes has it.
    expect(decoded(wanted(raw(both))).same).toBe("of stringData");
    expect(decoded(wanted(raw(both, { key: "same" })))).toEqual({ same: long });
  });

  test("keys are any that a Secret can have", () => {
    for (const name of ["__proto__", "constructor", "toString"]) {
      const data = wanted(raw({ stringData: { other: "x" } }, { key: name })).data;
      expect(Object.keys(data).sort()).toEqual([name, "other"].sort());
      expect(Object.entries(data)).toContainEqual([name, base64(long)]);
    }
  });

  test("neither the spec nor the App is changed, and nothing of them is handed on to be changed", () => {
    const template: Spec["template"] = {
      type: "Opaque",
      immutable: true,
      data: { a: "YQ==" },
      stringData: { b: "{{token}}" },
      metadata: { labels: { l: "1" }, annotations: { n: "1" } },
    };
    const full = raw(template, { format: "dockerconfigjson", permissions: { contents: "read" } });
    const before = structuredClone(full);
    const secret = wantedSecret(frozen(full), frozen(structuredClone(app)), frozen({ ...issued }));
    expect(full).toEqual(before);
    expect(JSON.stringify(full)).not.toContain("ghs_");
    expect([secret.data, secret.annotations]).not.toContain(template.data);
    expect(secret.data).not.toBe(template.data);
    expect(secret.annotations).not.toBe(template.metadata?.annotations);
  });
});

describe("annotations", () => {
  test("they tell when the token was issued, ends and is to be refreshed", () => {
    expect(wanted().annotations).toMatchObject({
      "ghapp.tsuzu.dev/issued-at": "2026-11-20T18:30:00.000Z",
      "ghapp.tsuzu.dev/refresh-at": "2026-11-20T19:20:00.000Z",
      "ghapp.tsuzu.dev/expired-at": "2026-11-20T19:30:00.000Z",
    });
  });

  test("no template can override them", () => {
    const plain = wanted(raw({}));
    const lies = Object.fromEntries(
      [...Object.values(annotations), "ghapp.tsuzu.dev/sha1"].map((name) => [name, "a lie"]),
    );
    const template = { metadata: { annotations: { ...lies, "ghapp.tsuzu.dev": "not below it" } } };
    const secret = wanted(raw(template));
    expect(Object.values(secret.annotations)).not.toContain("a lie");
    expect(secret.annotations["ghapp.tsuzu.dev"]).toBe("not below it");
    expect(Object.keys(secret.annotations).sort()).toEqual(
      [...Object.keys(plain.annotations), "ghapp.tsuzu.dev"].sort(),
    );
    for (const name of [annotations.expires, annotations.refresh, annotations.issued, annotations.content])
      expect(secret.annotations[name], name).toBe(plain.annotations[name]);
    expect(JSON.parse(secret.annotations[annotations.fromTemplate] ?? "")).toEqual({
      labels: [],
      annotations: ["ghapp.tsuzu.dev"],
    });
  });

  test.each([
    ["short", short],
    ["long", long],
  ])("nothing secret is in them, nor in the labels: with a %s token", (_, token) => {
    const secrets = [token, base64(token), pem, base64(pem), Buffer.from(token).toString("hex")];
    const hidden = [token.slice(4, 24), token.slice(-20), ...pem.split("\n").slice(1, -2)];
    for (const format of ["raw", "basic-auth", "dockerconfigjson"] as const) {
      const template = { ...spec.template, stringData: { url: "https://{{token}}@github.com" } };
      const { annotations, labels } = wantedSecret({ ...spec, format, template }, app, { ...issued, token });
      const told = JSON.stringify({ annotations, labels });
      for (const secret of [...secrets, ...hidden]) expect(told).not.toContain(secret);
    }
  });

  test("a placeholder in them stands for nothing", () => {
    const metadata = { labels: { a: "{{token}}" }, annotations: { a: "{{token}}" } };
    const secret = wanted(raw({ metadata }));
    expect(secret.annotations.a).toBe("{{token}}");
    expect(secret.labels).toEqual(metadata.labels);
  });
});

describe("digests", () => {
  const digest = requestDigest(app, spec);
  const { template } = spec;
  const changes: [string, Partial<AppIdentity>, Partial<Spec>][] = [
    ["the GitHub", { url: "https://ghe.example.com" }, {}],
    ["the App", { appID: 12346 }, {}],
    ["the private key", { keyFingerprint: "SHA256:another" }, {}],
    ["what the App allows", { allowed: [{ namespaces: ["team-*"] }] }, {}],
    ["that it allows nothing", { allowed: [] }, {}],
    ["that it says nothing of it", { allowed: null }, {}],
    ["the installation", {}, { installationID: 679 }],
    ["the repositories", {}, { repositoryIDs: [4242, 1] }],
    ["no repositories", {}, { repositoryIDs: undefined }],
    ["repositories by name", {}, { repositories: ["acme/web"] }],
    ["a permission's level", {}, { permissions: { contents: "write", pull_requests: "read" } }],
    ["one permission less", {}, { permissions: { contents: "read" } }],
    ["the key (B16)", {}, { key: "token" }],
    ["the format", {}, { format: "basic-auth" }],
    ["the registry", {}, { registry: "ghcr.io" }],
    ["when it is refreshed", {}, { refreshBeforeSeconds: 700 }],
    ["the template's type", {}, { template: { ...template, type: "Opaque" } }],
    ["its data", {}, { template: { ...template, data: { a: "YQ==" } } }],
    ["its texts", {}, { template: { ...template, stringData: { username: "somebody" } } }],
    ["that it is immutable", {}, { template: { ...template, immutable: true } }],
    ["its labels", {}, { template: { ...template, metadata: { ...template.metadata, labels: {} } } }],
    ["its annotations", {}, { template: { ...template, metadata: { labels: { team: "a" } } } }],
  ];
  const digestWith = (otherApp: Partial<AppIdentity>, otherSpec: Partial<Spec>): string =>
    requestDigest({ ...app, ...otherApp }, { ...spec, ...otherSpec });

  test.each(changes)("another token is asked for when this changes: %s", (_, otherApp, otherSpec) => {
    const other = digestWith(otherApp, otherSpec);
    expect(other).not.toBe(digest);
    expect(tokenIn(stored(wanted()), other)).toBeUndefined();
  });

  test("no two of these are the same wish", () => {
    const digests = changes.map(([, otherApp, otherSpec]) => digestWith(otherApp, otherSpec));
    expect(new Set(digests).size).toBe(changes.length);
  });

  const json = fc.jsonValue({ maxDepth: 3 });
  /** The same JSON with the keys of its objects the other way round. */
  const reversed = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(reversed)
      : typeof value === "object" && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .reverse()
              .map(([key, part]) => [key, reversed(part)]),
          )
        : value;

  test("the order of keys says nothing, and that of lists does", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonical(reversed(value))).toBe(canonical(value));
      }),
    );
    expect(requestDigest(app, reversed(spec) as Spec)).toBe(digest);
    expect(canonical([1, 2])).not.toBe(canonical([2, 1]));
  });

  test("it is all of the value", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(canonical(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test("the digest of a Secret is that of its values, however their base64 is written", () => {
    const of = (data: Record<string, string>) => contentDigest({ type: "Opaque", immutable: false, data });
    const text = base64("a certificate of many lines");
    // As YAML's blocks have it; the API server takes it, and stores it without the line breaks.
    expect(of({ a: `${text.slice(0, 8)}\n${text.slice(8)}\n` })).toBe(of({ a: text }));
    expect(of({ a: "YR==" })).toBe(of({ a: "YQ==" }));
    expect(of({ a: base64("another") })).not.toBe(of({ a: text }));
    expect(of({ b: text })).not.toBe(of({ a: text }));
  });
});

describe("what is found in a Secret", () => {
  const digest = requestDigest(app, spec);
  const found = stored(wanted());

  test("its token, as it was written", () => {
    expect(tokenIn(found, digest)).toEqual({ expires: issued.expires, refresh: issued.refresh });
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

  test("no token in one of the seed's, nor in anybody else's", () => {
    const { annotations: _, ...metadata } = found.metadata;
    expect(tokenIn({ ...found, metadata }, digest)).toBeUndefined();
    const seeds = { "ghapp.tsuzu.dev/sha1": "x", "ghapp.tsuzu.dev/expired-at": "2026-11-20T19:30:00Z" };
    expect(tokenIn({ ...found, metadata: { ...metadata, annotations: seeds } }, digest)).toBeUndefined();
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
