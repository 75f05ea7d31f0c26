/** Options of a kind cluster. Each mistake is reported before Docker, kind, or skaffold is used. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { versions } from "../../deploy/local/index.ts";
import { startKet } from "../harness/startket.ts";
import { KetOptionError, type KetOptions } from "./index.ts";
import { planOf } from "./kindoptions.ts";

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "ket-options-"));
  file = join(folder, "skaffold.yaml");
  await writeFile(file, "apiVersion: skaffold/v4beta13\nkind: Config\n");
});
afterAll(() => rm(folder, { recursive: true }));

async function errorOf(options: KetOptions): Promise<string> {
  const error = await startKet(options).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(KetOptionError);
  return (error as Error).message;
}
const kind = (options: KetOptions) => errorOf({ cluster: "kind", ...options });

describe.each(["local", "existing", undefined] as const)("the cluster %s", (cluster) => {
  test.each([
    { skaffold: {} },
    { kindVersion: versions.kind },
    { clusterName: "mine" },
    { kubernetesVersion: "1.36.1" },
  ])("rejects %o", async (options) => {
    expect(await errorOf({ cluster, ...options })).toBe(
      `${Object.keys(options)[0]}: only for the cluster "kind", and the cluster is "${cluster ?? "local"}". ` +
        'Set cluster: "kind", or leave these options out.',
    );
  });
});

test.each(["local", "kind"] as const)("the cluster %s rejects a kubeconfig", async (cluster) => {
  expect(await errorOf({ cluster, kubeconfig: "./kubeconfig" })).toBe(
    `kubeconfig: only for the cluster "existing", and the cluster is "${cluster}". ` +
      'Set cluster: "existing", or leave these options out.',
  );
});

describe("the cluster kind", () => {
  test.each(["", "Mine", "-mine", ".mine", "my_cluster", "mine\n", "a".repeat(51)])(
    "rejects the name %j",
    async (clusterName) => {
      expect(await kind({ clusterName })).toContain(
        `clusterName: ${JSON.stringify(clusterName)} is not a valid name of a cluster`,
      );
    },
  );

  test.each(["a", "mine.1-a", "a".repeat(50)])("accepts the name %j", async (clusterName) => {
    expect((await planOf({ clusterName })).name).toBe(clusterName);
  });

  test.each([
    [{ kindVersion: "latest" }, 'kindVersion: "latest" is not a version'],
    [{ kubernetesVersion: "1.36" }, 'kubernetesVersion: "1.36" is not a version'],
    [{ skaffold: { version: "2" } }, 'skaffold.version: "2" is not a version'],
    [
      { kindVersion: "0.11.0" },
      "kindVersion: no node images are recorded for kind 0.11.0. Recorded are those for kind ",
    ],
    [
      { kubernetesVersion: "1.20.2" },
      "kubernetesVersion: kind 0.32.0 has no node image of Kubernetes 1.20.2. It has 1.36.1, 1.35.5, 1.34.8, 1.33.12.",
    ],
    [
      { kindVersion: "0.31.0", kubernetesVersion: "1.36.1" },
      "kind 0.31.0 has no node image of Kubernetes 1.36.1",
    ],
  ])("rejects %o", async (options, message) => {
    const skaffold = "skaffold" in options ? { skaffold: { file, ...options.skaffold } } : {};
    expect(await kind({ ...options, ...skaffold })).toContain(message);
  });

  test("uses the image of deploy/kind.yaml by default", async () => {
    const { nodes } = parse(await readFile("deploy/kind.yaml", "utf8"));
    expect((await planOf({})).image).toBe(nodes[0].image);
    const { kindVersion, image } = await planOf({ kindVersion: "v0.33.0", kubernetesVersion: "v1.35.8" });
    expect(kindVersion).toBe("0.33.0");
    expect(image).toMatch(/^kindest\/node:v1\.35\.8@sha256:[0-9a-f]{64}$/);
  });

  test("generates a cluster name for each run by default", async () => {
    const plans = await Promise.all([planOf({}), planOf({})]);
    expect(new Set(plans.map(({ name }) => name)).size).toBe(2);
    for (const { name, id } of plans) expect(name).toBe(`ket-${id}`);
  });

  test.each([{ github: { apps: [] } }, { workers: 2 }, { env: {} }] as unknown as KetOptions[])(
    "rejects %o together with skaffold",
    async (options) => {
      expect(await kind({ ...options, skaffold: { file } })).toContain(
        `${Object.keys(options)[0]}: not with skaffold, which deploys`,
      );
    },
  );

  test.each([
    [
      "absent.yaml",
      undefined,
      /^skaffold\.before: expected a file with manifests at \S+absent\.yaml, but ENOENT/,
    ],
    [
      "nameless.yaml",
      "kind: Secret\napiVersion: v1\n",
      /^skaffold\.before: expected a manifest as \S+nameless/,
    ],
  ])("reads the manifests of skaffold.before first: %s", async (name, text, message) => {
    const path = join(folder, name);
    if (text !== undefined) await writeFile(path, text);
    expect(await kind({ skaffold: { file, before: [path] } })).toMatch(message);
    expect(await kind({ skaffold: { file, before: [pathToFileURL(path)] } })).toMatch(message);
  });

  test("reads the configuration of skaffold first, and reports its errors", async () => {
    const absent = join(folder, "absent.yaml");
    expect(await kind({ skaffold: { file: absent } })).toMatch(
      /^skaffold\.file: \S+absent\.yaml cannot be read: ENOENT/,
    );
    expect(await kind({ skaffold: { file: folder } })).toMatch(/cannot be read: EISDIR/);
    const broken = join(folder, "broken.yaml");
    await writeFile(broken, "kind: [");
    expect(await kind({ skaffold: { file: broken } })).toMatch(/broken\.yaml is not YAML: /);
    const other = join(folder, "other.yaml");
    await writeFile(other, "apiVersion: v1\nkind: Config\n");
    expect(await kind({ skaffold: { file: other } })).toContain("is not a configuration of skaffold");
    // Defaults to the file that skaffold would use.
    expect(await kind({ skaffold: {} })).toContain(`${join(process.cwd(), "skaffold.yaml")} cannot be read`);
  });
});
