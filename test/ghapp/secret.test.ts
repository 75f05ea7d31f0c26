import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../bus/values/canonicaljson.ts";
import { tokenIn } from "../../functions/ghapp/existingsecret.ts";
import {
  type AppIdentity,
  annotations,
  contentDigest,
  desiredSecret,
  requestDigest,
} from "../../functions/ghapp/secret.ts";
import { base64, texts } from "../harness/secretvalues.ts";
import {
  app,
  frozen,
  issued,
  long,
  pem,
  raw,
  type Spec,
  short,
  spec,
  stored,
  wanted,
} from "./tokensecret.ts";

describe("content", () => {
  test("raw: stores the token under the key", () => {
    const secret = wanted(raw({}));
    expect(texts(secret)).toEqual({ token: long });
    expect(secret).toMatchObject({ type: "Opaque", immutable: false, labels: {} });
    expect(wanted(raw({ type: "" })).type).toBe("Opaque");
  });

  test("stores a password with a user for git and kpack, as users of ghapp-controller write it", () => {
    const secret = wanted();
    expect(texts(secret)).toEqual({ username: "x-access-token", password: long });
    expect(secret.type).toBe("kubernetes.io/basic-auth");
    expect(secret.labels).toEqual({ team: "a" });
    expect(secret.annotations).toMatchObject({ "kpack.io/git": "https://github.com" });
  });

  test("basic-auth: stores a user and the token", () => {
    const secret = wanted(raw({}, { format: "basic-auth", key: undefined }));
    expect(secret.type).toBe("kubernetes.io/basic-auth");
    expect(texts(secret)).toEqual({ username: "x-access-token", password: long });
  });

  test.each([
    [undefined, "ghcr.io"],
    ["registry.example.com:5000", "registry.example.com:5000"],
  ])("dockerconfigjson: stores what docker login writes, for the registry %s", (registry, host) => {
    const secret = wanted(raw({}, { format: "dockerconfigjson", key: undefined, registry }));
    expect(secret.type).toBe("kubernetes.io/dockerconfigjson");
    expect(Object.keys(secret.data)).toEqual([".dockerconfigjson"]);
    expect(JSON.parse(texts(secret)[".dockerconfigjson"] ?? "")).toEqual({
      auths: {
        [host]: { username: "x-access-token", password: long, auth: base64(`x-access-token:${long}`) },
      },
    });
  });

  test("stores a format's key in addition to the plain token", () => {
    expect(texts(wanted(raw({}, { format: "basic-auth", key: "token" })))).toEqual({
      username: "x-access-token",
      password: long,
      token: long,
    });
  });

  test("replaces {{token}} everywhere in a value", () => {
    const stringData = {
      ".netrc": "machine github.com login x-access-token password {{token}}\n",
      twice: "{{token}}:{{token}}",
      none: "{token} {{ token }} {{TOKEN}}",
    };
    expect(texts(wanted(raw({ stringData })))).toEqual({
      ".netrc": `machine github.com login x-access-token password ${long}\n`,
      twice: `${long}:${long}`,
      none: "{token} {{ token }} {{TOKEN}}",
      token: long,
    });
  });

  test("inserts a token unchanged, whatever its characters", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("$", "&", "`", "'", "$$", "$<a>", "$1", "{{token}}", '"', "\\", "é")),
        (parts) => {
          const token = `ghs_${parts.join("")}`;
          const template = { stringData: { url: "https://{{token}}@github.com" } };
          const secret = desiredSecret(raw(template), app, { ...issued, token });
          expect(texts(secret)).toEqual({ url: `https://${token}@github.com`, token });
          const docker = raw({}, { format: "dockerconfigjson", key: undefined });
          const config = texts(desiredSecret(docker, app, { ...issued, token }))[".dockerconfigjson"] ?? "";
          expect(JSON.parse(config).auths["ghcr.io"].password).toBe(token);
        },
      ),
    );
  });

  test("keeps the template's data", () => {
    const data = { "ca.crt": base64("a certificate"), empty: "", none: base64("{{token}}") };
    expect(wanted(raw({ data })).data).toEqual({ ...data, token: base64(long) });
  });

  test("lets the template override the format, and the token override both", () => {
    const template = { data: { username: base64("of data") }, stringData: { password: "of stringData" } };
    const formatted = (more: Partial<Spec>) =>
      texts(wanted(raw(template, { format: "basic-auth", key: undefined, ...more })));
    expect(formatted({})).toEqual({ username: "of data", password: "of stringData" });
    expect(formatted({ key: "username" })).toEqual({ username: long, password: "of stringData" });
    expect(formatted({ key: "password" })).toEqual({ username: "of data", password: long });
    const both = { data: { same: base64("of data") }, stringData: { same: "of stringData" } };
    // As in Kubernetes.
    expect(texts(wanted(raw(both))).same).toBe("of stringData");
    expect(texts(wanted(raw(both, { key: "same" })))).toEqual({ same: long });
  });

  test("accepts any valid key of a Secret", () => {
    for (const name of ["__proto__", "constructor", "toString"]) {
      const data = wanted(raw({ stringData: { other: "x" } }, { key: name })).data;
      expect(Object.keys(data).sort()).toEqual([name, "other"].sort());
      expect(Object.entries(data)).toContainEqual([name, base64(long)]);
    }
  });

  test("neither changes nor exposes the spec and the App", () => {
    const template: Spec["template"] = {
      type: "Opaque",
      immutable: true,
      data: { a: "YQ==" },
      stringData: { b: "{{token}}" },
      metadata: { labels: { l: "1" }, annotations: { n: "1" } },
    };
    const full = raw(template, { format: "dockerconfigjson", permissions: { contents: "read" } });
    const before = structuredClone(full);
    const secret = desiredSecret(frozen(full), frozen(structuredClone(app)), frozen({ ...issued }));
    expect(full).toEqual(before);
    expect(JSON.stringify(full)).not.toContain("ghs_");
    expect([secret.data, secret.annotations]).not.toContain(template.data);
    expect(secret.data).not.toBe(template.data);
    expect(secret.annotations).not.toBe(template.metadata?.annotations);
  });
});

describe("annotations", () => {
  test("record when the token was issued, expires, and is to be refreshed", () => {
    expect(wanted().annotations).toMatchObject({
      "ghapp.tsuzu.dev/issued-at": "2026-11-20T18:30:00.000Z",
      "ghapp.tsuzu.dev/refresh-at": "2026-11-20T19:20:00.000Z",
      "ghapp.tsuzu.dev/expired-at": "2026-11-20T19:30:00.000Z",
    });
  });

  test("cannot be overridden by a template", () => {
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
  ])("contain no secrets, and neither do labels: with a %s token", (_, token) => {
    const secrets = [token, base64(token), pem, base64(pem), Buffer.from(token).toString("hex")];
    const hidden = [token.slice(4, 24), token.slice(-20), ...pem.split("\n").slice(1, -2)];
    for (const format of ["raw", "basic-auth", "dockerconfigjson"] as const) {
      const template = { ...spec.template, stringData: { url: "https://{{token}}@github.com" } };
      const { annotations, labels } = desiredSecret({ ...spec, format, template }, app, { ...issued, token });
      const text = JSON.stringify({ annotations, labels });
      for (const secret of [...secrets, ...hidden]) expect(text).not.toContain(secret);
    }
  });

  test("do not replace placeholders", () => {
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
    ["the GitHub server", { url: "https://ghe.example.com" }, {}],
    ["the App", { appID: 12346 }, {}],
    ["the private key", { keyFingerprint: "SHA256:another" }, {}],
    ["what the App allows", { allowed: [{ namespaces: ["team-*"] }] }, {}],
    ["an App that allows nothing", { allowed: [] }, {}],
    ["an App without rules", { allowed: null }, {}],
    ["the installation", {}, { installationID: 679 }],
    ["the repositories", {}, { repositoryIDs: [4242, 1] }],
    ["removed repositories", {}, { repositoryIDs: undefined }],
    ["repositories by name", {}, { repositories: ["acme/web"] }],
    ["a permission's level", {}, { permissions: { contents: "write", pull_requests: "read" } }],
    ["a removed permission", {}, { permissions: { contents: "read" } }],
    ["the key", {}, { key: "token" }],
    ["the format", {}, { format: "basic-auth" }],
    ["the registry", {}, { registry: "ghcr.io" }],
    ["the refresh", {}, { refreshBeforeSeconds: 700 }],
    ["the template's type", {}, { template: { ...template, type: "Opaque" } }],
    ["its data", {}, { template: { ...template, data: { a: "YQ==" } } }],
    ["its texts", {}, { template: { ...template, stringData: { username: "somebody" } } }],
    ["immutability", {}, { template: { ...template, immutable: true } }],
    ["its labels", {}, { template: { ...template, metadata: { ...template.metadata, labels: {} } } }],
    ["its annotations", {}, { template: { ...template, metadata: { labels: { team: "a" } } } }],
  ];
  const digestWith = (otherApp: Partial<AppIdentity>, otherSpec: Partial<Spec>): string =>
    requestDigest({ ...app, ...otherApp }, { ...spec, ...otherSpec });

  test.each(changes)("change with %s", (_, otherApp, otherSpec) => {
    const other = digestWith(otherApp, otherSpec);
    expect(other).not.toBe(digest);
    expect(tokenIn(stored(wanted()), other)).toBeUndefined();
  });

  test("are different for all of these", () => {
    const digests = changes.map(([, otherApp, otherSpec]) => digestWith(otherApp, otherSpec));
    expect(new Set(digests).size).toBe(changes.length);
  });

  const json = fc.jsonValue({ maxDepth: 3 });
  /** The same JSON with the keys of its objects in reverse order. */
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

  test("ignore the order of keys, but not of lists", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
      }),
    );
    expect(requestDigest(app, reversed(spec) as Spec)).toBe(digest);
    expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
  });

  test("cover the whole value", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test("of a Secret cover decoded values, however their base64 is written", () => {
    const of = (data: Record<string, string>) => contentDigest({ type: "Opaque", immutable: false, data });
    const text = base64("a certificate of many lines");
    // As YAML's blocks have it. The API server accepts it, and stores it without the line breaks.
    expect(of({ a: `${text.slice(0, 8)}\n${text.slice(8)}\n` })).toBe(of({ a: text }));
    expect(of({ a: "YR==" })).toBe(of({ a: "YQ==" }));
    expect(of({ a: base64("another") })).not.toBe(of({ a: text }));
    expect(of({ b: text })).not.toBe(of({ a: text }));
  });
});
