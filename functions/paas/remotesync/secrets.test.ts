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

/** The error for the Secrets `git` and, if the RemoteSync names it, `registry`. */
async function reported(
  secrets: Readonly<Record<string, Given | Error>>,
  secretName?: string,
): Promise<string> {
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

describe("accepts credentials that kpack can use", () => {
  test.each<[string, Given]>([
    ["a Docker configuration", docker],
    ["an old Docker configuration", { type: "kubernetes.io/dockercfg", data: data({ ".dockercfg": "{}" }) }],
    ["user and password of a registry", basic({ "kpack.io/docker": "registry.example.com" })],
  ])("%s", async (_, registry) => {
    expect(await reported({ git, registry }, "registry")).toBe("fine");
  });

  test.each([undefined, ""])("accepts a registry without a Secret (%j)", async (name) => {
    expect(await reported({ git }, name)).toBe("fine");
  });
});

describe("reports credentials that make kpack give up", () => {
  test.each<[string, Given | undefined, RegExp]>([
    [
      "no user",
      { ...git, data: data({ password: "x" }) },
      /^SecretInvalid: the Secret git has no value .*username$/,
    ],
    [
      "an empty password",
      { ...git, data: data({ username: "x", password: " \n" }) },
      /^SecretInvalid: the Secret git has no value under the key password$/,
    ],
  ])("of git: %s", async (_, found, message) => {
    expect(await reported({ ...(found && { git: found }) })).toMatch(message);
  });

  test("of a registry: an empty configuration", async () => {
    const registry: Given = { type: "kubernetes.io/dockerconfigjson" };
    expect(await reported({ git, registry }, "registry")).toMatch(
      /has no value under the key .dockerconfigjson$/,
    );
  });

  test.each<[string, Given]>([
    ["another type", { type: "Opaque", data: data({ password: "x", "db-url": "y" }) }],
    ["no type", { data: data({ password: "x" }) }],
    ["no host", { ...git, annotations: {} }],
    ["a service account's", { type: "kubernetes.io/service-account-token", data: data({ token: "x" }) }],
  ])("does not reveal a Secret for another purpose: %s", async (_, found) => {
    const missing = await reported({});
    expect(missing).toMatch(/^SecretNotFound: found no Secret git in default for git: .* kpack.io\/git/);
    expect(await reported({ git: found })).toBe(missing);
    const missingRegistry = await reported({ git }, "registry");
    expect(missingRegistry).toMatch(/^SecretNotFound: found no Secret registry in default for registry/);
    expect(await reported({ git, registry: found }, "registry")).toBe(missingRegistry);
  });

  test("names the commands that opt a namespace in", async () => {
    const denied = new ApiError("GET secrets/git", 403, { reason: "Forbidden" });
    const text = await reported({ git: denied });
    expect(text).toMatch(/^SecretAccessDenied: .*denrei opt-in default/s);
  });

  test("throws errors other than refusals unchanged", async () => {
    const down = new ApiError("GET secrets/git", 500, { reason: "InternalError" });
    expect(await reported({ git: down })).toMatch(/^InternalError: GET secrets\/git was answered 500/);
  });
});
