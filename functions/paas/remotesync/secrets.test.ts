import { describe, expect, test } from "vitest";
import { ApiError } from "../../../bus/kube/errors.ts";
import type { SecretObject } from "../../../bus/kube/kind.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import type { Context } from "../../../bus/worker/function.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { checkSecrets } from "./secrets.ts";

type Given = Partial<SecretObject> & { readonly annotations?: Record<string, string> };

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const data = (values: Record<string, string>) =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, base64(value)]));

const basic = (annotations: Record<string, string>): Given => ({
  type: "kubernetes.io/basic-auth",
  data: data({ username: "user", password: "secret" }),
  annotations,
});
const git = basic({ "kpack.io/git": "https://github.com" });
const docker: Given = {
  type: "kubernetes.io/dockerconfigjson",
  data: data({ ".dockerconfigjson": "{}" }),
};

const secretOf = (name: string, { annotations, ...more }: Given): Stored<SecretObject> => ({
  apiVersion: "v1",
  kind: "Secret",
  spec: undefined,
  ...more,
  metadata: {
    namespace: "default",
    name,
    uid: "u",
    resourceVersion: "1",
    ...(annotations && { annotations }),
  },
});

/** What is said of the Secrets `git` and, if the RemoteSync names it, `registry`. */
async function said(secrets: Readonly<Record<string, Given | Error>>, secretName?: string): Promise<string> {
  const sync = {
    spec: {
      base: { github: { secretName: "git" } },
      image: { ...(secretName !== undefined && { secretName }) },
    },
  } as Stored<RemoteSync>;
  const live = {
    async get(_: unknown, name: string) {
      const found = secrets[name];
      if (found instanceof Error) throw found;
      return found && secretOf(name, found);
    },
  } as unknown as Context["live"];
  return checkSecrets(sync, { key: { namespace: "default", name: "web" }, live }).then(
    () => "fine",
    (error) => `${error.reason}: ${error.message}`,
  );
}

describe("credentials that kpack can use", () => {
  test.each<[string, Given]>([
    ["a Docker configuration", docker],
    ["an old Docker configuration", { type: "kubernetes.io/dockercfg", data: data({ ".dockercfg": "{}" }) }],
    ["user and password of a registry", basic({ "kpack.io/docker": "registry.example.com" })],
  ])("%s is fine", async (_, registry) => {
    expect(await said({ git, registry }, "registry")).toBe("fine");
  });

  test.each([undefined, ""])("a registry without a Secret (%j) needs none", async (name) => {
    expect(await said({ git }, name)).toBe("fine");
  });
});

describe("what is said of credentials that kpack would give a build up for", () => {
  test.each<[string, Given | undefined, RegExp]>([
    ["none", undefined, /^SecretNotFound: expected the Secret git in default, found none/],
    [
      "another type",
      { type: "Opaque", data: data({ password: "x" }) },
      /^SecretInvalid: .*its type is Opaque, and has to be kubernetes.io\/basic-auth/,
    ],
    ["no type", { data: data({ password: "x" }) }, /^SecretInvalid: .*its type is Opaque/],
    [
      "no user",
      { ...git, data: data({ password: "x" }) },
      /^SecretInvalid: expected the key username in the Secret git, found password/,
    ],
    [
      "an empty password",
      { ...git, data: data({ username: "x", password: " \n" }) },
      /^SecretInvalid: expected the key password/,
    ],
    ["no host", { ...git, annotations: {} }, /^SecretInvalid: .*without the annotation kpack.io\/git/],
  ])("of git: %s", async (_, found, message) => {
    expect(await said({ ...(found && { git: found }) })).toMatch(message);
  });

  test.each<[string, Given | undefined, RegExp]>([
    ["none", undefined, /^SecretNotFound: expected the Secret registry/],
    ["those of git", git, /^SecretInvalid: .*without the annotation kpack.io\/docker/],
    ["another type", { type: "Opaque" }, /^SecretInvalid: .*has to be kubernetes.io\/dockerconfigjson or/],
    [
      "an empty configuration",
      { type: "kubernetes.io/dockerconfigjson" },
      /expected the key .dockerconfigjson/,
    ],
  ])("of a registry: %s", async (_, found, message) => {
    expect(await said({ git, ...(found && { registry: found }) }, "registry")).toMatch(message);
  });

  test("of a namespace that is not opted in: the commands that do it", async () => {
    const denied = new ApiError("GET secrets/git", 403, { reason: "Forbidden" });
    const text = await said({ git: denied });
    expect(text).toMatch(/^SecretAccessDenied: .*denrei opt-in default/s);
  });

  test("what is no refusal is thrown as it is", async () => {
    const down = new ApiError("GET secrets/git", 500, { reason: "InternalError" });
    expect(await said({ git: down })).toMatch(/^InternalError: GET secrets\/git was answered 500/);
  });
});
