/** Addresses in Secrets and Apps, which users write: workers send requests to allowed servers only. */
import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { parsePrivateKey } from "../../bus/github/key.ts";
import { rateLimits } from "../../bus/github/limits.ts";
import { githubRepository } from "../../bus/github/repository.ts";
import type { SecretObject } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import type { Context } from "../../bus/worker/function.ts";
import { type App, clientOf } from "../../functions/ghapp/connect.ts";
import { githubUrlOf, repositoryOf } from "../../functions/paas/github.ts";
import { parseConfig } from "../../functions/paas/site/config.ts";
import { base64 } from "../harness/secretvalues.ts";
import { serving } from "./testserver.ts";

const secretWith = (annotation: string): Stored<SecretObject> => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: {
    namespace: "team-a",
    name: "git",
    uid: "u",
    resourceVersion: "1",
    annotations: { "kpack.io/git": annotation },
  },
  spec: undefined,
  type: "kubernetes.io/basic-auth",
  data: { password: base64("ghs_of-the-team") },
});

const opened = (secret: Stored<SecretObject> | undefined, site = "") =>
  repositoryOf({ owner: "acme", repo: "web", secretName: "git" }, parseConfig(site).github, "read", {
    key: { namespace: "team-a", name: "web" },
    live: { get: async () => secret },
    read: { get: async () => undefined },
  } as unknown as Context);
const open = (annotation: string, site = "") => opened(secretWith(annotation), site);

test("sends no request to a server named in a Secret, and names the setting to change", async () => {
  const { url, seen } = await serving(() => ({ body: { secret: "of the server" } }));
  for (const annotation of [
    url,
    `${url}/x`,
    url.replace("127.0.0.1", "localhost"),
    url.slice("http://".length),
  ]) {
    const error = await open(annotation).catch((reason: unknown) => reason);
    expect(error, annotation).toMatchObject({ name: "BlockedError", reason: "UrlNotAllowed" });
    expect((error as Error).message).toContain("the annotation kpack.io/git of the Secret git: ");
    expect((error as Error).message).toContain("DENREI_GITHUB_ALLOWED_URLS");
    // kpack does not clone from there either.
    expect(() => githubUrlOf(secretWith(annotation), parseConfig("").github)).toThrow(
      "nothing is sent there",
    );
  }
  expect(seen).toEqual([]);
});

test("never sends a Secret that is not for git, and treats it as missing", async () => {
  const { url, seen } = await serving(() => ({ body: {} }));
  const git = secretWith(url);
  const without = (annotations?: Record<string, string>) => ({
    ...git,
    metadata: { ...git.metadata, annotations },
  });
  const problemOf = (secret?: object) =>
    opened(secret as typeof git, `github: { url: ${url} }`).then(
      (client) => client.repository(),
      ({ reason, message }) => ({ reason, message }),
    );
  const missing = await problemOf();
  expect(missing).toMatchObject({ reason: "SecretNotFound" });
  for (const secret of [
    { ...without(), type: "Opaque" },
    { ...git, type: "Opaque" },
    { ...git, type: undefined },
    { ...git, type: "kubernetes.io/dockerconfigjson" },
    without(),
    without({ "kpack.io/git": " " }),
    without({ "kpack.io/docker": url }),
  ])
    expect(await problemOf(secret)).toEqual(missing);
  expect(seen).toEqual([]);
});

test("sends no request to a server named in an App", async () => {
  const { url, seen } = await serving(() => ({ body: {} }));
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = parsePrivateKey(privateKey.export({ type: "pkcs1", format: "pem" }) as string);
  const app = { spec: { url, appID: 1, privateKeySecretRef: { name: "key", key: "pem" } } } as App;
  expect(() => clientOf(app, key)).toThrow(
    expect.objectContaining({ name: "BlockedError", reason: "UrlNotAllowed" }),
  );
  expect(seen).toEqual([]);
});

test("allows another GitHub in the site's settings, also without TLS", async () => {
  const { url, seen } = await serving(() => ({ body: { message: "No." }, status: 404 }));
  for (const site of [`github: { url: ${url} }`, `github: { allowed: [${url}] }`]) {
    const client = await open(url, site);
    await expect(client.repository()).rejects.toThrow("was answered 404: No");
  }
  expect(seen).toHaveLength(2);
});

test("sends no request when an allowed name resolves to this machine", async () => {
  const { url, seen } = await serving(() => ({ body: {} }));
  const named = url.replace("127.0.0.1", "localhost");
  const options = { url: named, allowed: [named], owner: "acme", name: "web", token: "ghs_one" };
  const client = githubRepository({ ...options, limits: rateLimits() });
  await expect(client.repository()).rejects.toThrow("localhost has no allowed address");
  expect(seen).toEqual([]);
});
