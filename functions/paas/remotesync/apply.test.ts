import { expect, test } from "vitest";
import type { SecretObject } from "../../../bus/kube/kind.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import type { Context } from "../../../bus/worker/function.ts";
import type { Image } from "../kinds/kpack.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { parseConfig } from "../site/config.ts";
import { accountFields, desiredAccount } from "./account.ts";
import { applyImage } from "./apply.ts";
import { desiredImage } from "./image.ts";
import { newProgress } from "./status.ts";

const metadata = { namespace: "team-a", name: "web", uid: "u", resourceVersion: "1" };
const sync = {
  apiVersion: "modoki.tsuzu.dev/v1alpha1",
  kind: "RemoteSync",
  metadata,
  spec: {
    applicationRef: { name: "web" },
    base: { github: { owner: "acme", repo: "web", secretName: "git" } },
    image: { name: "registry.example.com/acme/web" },
  },
} as Stored<RemoteSync>;
const revision = "a".repeat(40);
const github = "https://github.com/acme/web";
const { builder } = parseConfig("");

const secretFor = (host: string): Stored<SecretObject> => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { ...metadata, name: "git", annotations: { "kpack.io/git": host } },
  spec: undefined,
  type: "kubernetes.io/basic-auth",
  data: { username: "eA==", password: "eA==" },
});

/** The applied clone URL, or the error. The existing Image clones from `url`. */
async function appliedUrl(
  url: string,
  { secret, site = "", built = revision }: { secret?: Stored<SecretObject>; site?: string; built?: string },
): Promise<string> {
  const controller = {
    apiVersion: sync.apiVersion,
    kind: sync.kind,
    name: "web",
    uid: "u",
    controller: true,
  };
  const owned = { ...metadata, ownerReferences: [controller] };
  const image = { ...desiredImage({ sync, revision: built, url, builder }), apiVersion: "kpack.io/v1alpha2" };
  const account = accountFields(undefined, desiredAccount(sync));
  const found: Record<string, object> = {
    Image: { ...image, kind: "Image", metadata: { ...owned, ...image.metadata } },
    ServiceAccount: { ...account, metadata: { ...owned, ...account.metadata } },
  };
  let applied = "";
  const ctx = {
    key: { namespace: "team-a", name: "web" },
    read: { get: async ({ kind }: { kind: string }) => found[kind] },
    live: { get: async () => secret },
    patch: async () => undefined,
    apply: async (_: unknown, { spec }: Image) => {
      applied = spec.source.git.url;
    },
  } as unknown as Context;
  try {
    await applyImage(sync, revision, parseConfig(site), ctx, newProgress());
    return applied;
  } catch (error) {
    const { reason, message } = error as Error & { reason: string };
    return `${reason}: ${message}`;
  }
}

test("resets the clone URL of an Image that was edited by hand, also for the same revision", async () => {
  const secret = secretFor("github.com");
  for (const url of [github, "https://evil.example/acme/web", "https://big.ghe.com/acme/web"])
    expect(await appliedUrl(url, { secret })).toBe(github);
});

test("refuses the clone URL of the same revision once its server is no longer allowed", async () => {
  const own = "https://git.example.com";
  const site = `github: { allowed: ["${own}"] }`;
  expect(await appliedUrl(`${own}/acme/web`, { secret: secretFor(own), site })).toBe(`${own}/acme/web`);
  expect(await appliedUrl(`${own}/acme/web`, { secret: secretFor(own) })).toMatch(
    /^UrlNotAllowed: the annotation kpack.io\/git of the Secret git: /,
  );
});

test("keeps the same revision without the Secret, but only from an allowed server", async () => {
  expect(await appliedUrl(github, {})).toBe(github);
  expect(await appliedUrl(github, { built: "b".repeat(40) })).toMatch(/^SecretNotFound: /);
  expect(await appliedUrl("https://github.com/acme/other", {})).toMatch(/^SecretNotFound: /);
  expect(await appliedUrl("https://evil.example/acme/web", {})).toMatch(
    /^UrlNotAllowed: spec.source.git.url of the Image modoki-web: /,
  );
});
