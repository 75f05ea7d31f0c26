import fc from "fast-check";
import { expect, test } from "vitest";
import type { Stored } from "../../../bus/kube/object.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { accountNameOf, desiredImage, imageNameOf } from "./image.ts";

const sync = (name: string, spec: Partial<RemoteSync["spec"]> = {}): Stored<RemoteSync> => ({
  apiVersion: "modoki.tsuzu.dev/v1alpha1",
  kind: "RemoteSync",
  metadata: { namespace: "default", name, uid: "u", resourceVersion: "1" },
  spec: {
    applicationRef: { name: "web" },
    base: { github: { owner: "acme", repo: "web", secretName: "token" } },
    image: { name: "registry.example.com/acme/web" },
    ...spec,
  },
});

const builder = { kind: "ClusterBuilder", name: "default" };
const revision = "a".repeat(40);
const desired = (of: Stored<RemoteSync>, at = revision) =>
  desiredImage({ sync: of, revision: at, url: "https://github.com/acme/web", builder });

test("builds an Image of a minimal RemoteSync", () => {
  expect(desired(sync("web"))).toEqual({
    metadata: { name: "modoki-web", labels: { "modoki.tsuzu.dev/remote-sync": "web" } },
    spec: {
      tag: "registry.example.com/acme/web:web",
      additionalTags: [`registry.example.com/acme/web:${revision}`],
      builder,
      serviceAccountName: "modoki-web-builder",
      source: { git: { url: "https://github.com/acme/web", revision } },
      failedBuildHistoryLimit: 3,
      successBuildHistoryLimit: 5,
      build: { resources: { requests: { cpu: "100m", memory: "512Mi" }, limits: { memory: "2Gi" } } },
    },
  });
});

test("copies the settings of the spec to the Image", () => {
  const own = { kind: "Builder", name: "own" } as const;
  const env = [{ name: "BP_NODE_VERSION", value: "24" }];
  const resources = { limits: { memory: "4Gi" } };
  const { spec } = desired(
    sync("web", {
      base: { github: { owner: "acme", repo: "web", secretName: "token" }, subPath: "services/web" },
      builder: own,
      build: { env, resources, cacheSize: "3G", timeoutSeconds: 1800 },
    }),
  );
  expect(spec).toMatchObject({
    builder: own,
    source: { git: { revision }, subPath: "services/web" },
    cache: { volume: { size: "3G" } },
    build: { env, resources, buildTimeout: 1800 },
  });
});

/** Names that the API server accepts: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-subdomain-names */
const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,18}[a-z0-9])?$/);
const name = fc
  .array(label, { minLength: 1, maxLength: 5 })
  .map((labels) => labels.join("."))
  .filter((text) => text.length <= 63);

test("gives any RemoteSync an Image name for a label value, a valid tag, and an account", () => {
  fc.assert(
    fc.property(name, (text) => {
      const { metadata, spec } = desired(sync(text));
      expect(metadata.name).toMatch(/^[a-z0-9]([-a-z0-9_.]{0,61}[a-z0-9])?$/);
      expect(spec.tag.split(":")[1]).toMatch(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/);
      expect(accountNameOf(sync(text)).length).toBeLessThanOrEqual(253);
    }),
  );
});

test("gives two RemoteSyncs different Images, however long their names are", () => {
  const long = fc.stringMatching(/^[a-z0-9]{56,63}$/);
  fc.assert(
    fc.property(fc.uniqueArray(long, { minLength: 2, maxLength: 5 }), (names) => {
      expect(new Set(names.map((text) => imageNameOf(sync(text)))).size).toBe(names.length);
    }),
  );
  const [one, other] = ["1", "2"].map((end) => imageNameOf(sync("x".repeat(62) + end)));
  expect(one).not.toBe(other);
});

test("changes only the revision and its tag for another revision", () => {
  const { spec } = desired(sync("web"), "b".repeat(40));
  expect(JSON.parse(JSON.stringify(spec).replaceAll("b".repeat(40), revision))).toEqual(
    desired(sync("web")).spec,
  );
});
