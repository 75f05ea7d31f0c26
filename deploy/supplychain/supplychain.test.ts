/** Third-party images are pinned by digest, and our own image has an SBOM and a provenance. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { siteSchema } from "../../functions/paas/charts/site.ts";
import { defaultVersions } from "../../functions/pipecd/defaultversions.ts";
import { cacheImage, gatewayImage, storeImage } from "../../functions/pipecd/profile.ts";
import { missingAttestations } from "./attestations.ts";
import { imageProblems, imageUses, recordDigests } from "./images.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const digest = (letter: string) => `sha256:${letter.repeat(64)}`;

async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "test-supplychain-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return folder;
}

const nats = "deploy/kubernetes/base/nats.yaml";
const digests = "deploy/supplychain/digests.json";
const repository = {
  [nats]: `spec:\n  containers:\n    - image: denrei\n    - image: nats:2-alpine\n    - image: proxy\n`,
  [digests]: `{\n  "app": null,\n  "cache:1": "${digest("a")}"\n}\n`,
  "deploy/kubernetes/a.yaml": `image: "example.com:5000/x/exporter:1@${digest("a")}"\n`,
  "deploy/Dockerfile": `FROM node:24@${digest("b")} AS node\nFROM node AS app\nFROM scratch\n`,
};

test("finds every image in the repository, and those of the Dockerfile and kind.yaml have digests", async () => {
  const uses = (await imageUses(root)).filter(({ path }) => path !== digests);
  const names = uses.map(({ name }) => name.split(":")[0]);
  expect(names.sort()).toEqual(["kindest/node", "natsio/prometheus-nats-exporter", "nats", "node"].sort());
  for (const name of ["kindest/node", "node"])
    expect(uses.find((use) => use.name.startsWith(`${name}:`))?.digest).toMatch(/^sha256:/);
  for (const { name } of uses) expect(name).toMatch(/:v?\d+\.\d+\.\d+(-\w+)?$/);
});

test("also checks the images that functions deploy by default", async () => {
  const { envoy } = defaultVersions;
  const deployed = [
    siteSchema.parse({}).noAppImage,
    cacheImage(undefined, {}),
    ...(["minio", "mongo", "mysql"] as const).map((store) => storeImage(store, undefined, {})),
    ...Object.values(envoy).map((version) => gatewayImage(version, {})),
  ];
  const checked = (await imageUses(root)).filter(({ path }) => path === digests).map(({ name }) => name);
  expect(checked.sort()).toEqual(deployed.sort());
});

test("reports images without a digest and moved tags, with the digest to write", async () => {
  const uses = await imageUses(await folderOf(repository));
  const now: Record<string, string> = {
    "nats:2-alpine": digest("1"),
    "example.com:5000/x/exporter:1": digest("2"),
    "node:24": digest("b"),
    proxy: digest("3"),
    "cache:1": digest("4"),
    app: digest("5"),
  };
  expect(await imageProblems(uses, async (name) => now[name] ?? expect.fail(name))).toEqual({
    moved: [
      `deploy/kubernetes/a.yaml:1: the tag example.com:5000/x/exporter:1 moved from ${digest("a")}. See what changed. Write example.com:5000/x/exporter:1@${digest("2")}`,
      `${digests}:3: the tag cache:1 moved from ${digest("a")}. See what changed. Write cache:1@${digest("4")}`,
    ],
    unrecorded: [
      `${nats}:4: nats:2-alpine has no digest. Write nats:2-alpine@${digest("1")}`,
      `${nats}:5: proxy has no digest. Write proxy@${digest("3")}`,
      `${digests}:2: app has no digest. Write app@${digest("5")}`,
    ],
  });
});

test("records digests in place and then reports nothing", async () => {
  const folder = await folderOf(repository);
  const inspect = async () => digest("c");
  expect(await recordDigests(folder, await imageUses(folder), inspect)).toHaveLength(6);
  expect(await readFile(join(folder, nats), "utf8")).toBe(
    repository[nats]
      .replace("nats:2-alpine", `nats:2-alpine@${digest("c")}`)
      .replace("proxy", `proxy@${digest("c")}`),
  );
  expect(JSON.parse(await readFile(join(folder, digests), "utf8"))).toEqual({
    app: digest("c"),
    "cache:1": digest("c"),
  });
  expect(await imageProblems(await imageUses(folder), inspect)).toEqual({ moved: [], unrecorded: [] });
});

/** Runs the program with this script as `docker`. */
async function run(args: readonly string[], docker: string) {
  const bin = await folderOf({ docker: `#!/bin/sh\n${docker}\n` });
  await chmod(join(bin, "docker"), 0o755);
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  return new Promise<{ code: unknown; stderr: string }>((resolve) => {
    const program = join(root, "deploy/supplychain/main.ts");
    execFile(process.execPath, [program, ...args], { env }, (error, _stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stderr }),
    );
  });
}

/** A `docker` that returns this digest for the tag. */
const says = (letter: string) =>
  `[ "$*" = "buildx imagetools inspect nats:2 --format {{.Manifest.Digest}}" ] && echo ${digest(letter)}`;

test("the program succeeds and lists images without a recorded digest", async () => {
  const folder = await folderOf({ [nats]: `image: nats:2@${digest("a")}\n` });
  const list = join(folder, "unrecorded.md");
  const listing = (root: string) => run(["images", "--root", root, "--unrecorded", list], says("a"));
  expect(await listing(await folderOf({ [nats]: "image: nats:2\n" }))).toEqual({ code: 0, stderr: "" });
  expect(await readFile(list, "utf8")).toContain(`Write nats:2@${digest("a")}`);
  expect((await listing(folder)).code).toBe(0);
  expect(await readFile(list, "utf8")).toBe("");
});

test("the program fails when a tag has moved or Docker cannot resolve it", async () => {
  const folder = await folderOf({ [nats]: `image: nats:2@${digest("a")}\n` });
  const images = ["images", "--root", folder];
  expect(await run(images, says("a"))).toEqual({ code: 0, stderr: "" });
  expect(await run(images, says("b"))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("moved from"),
  });
  expect(await run(images, "echo no route >&2; exit 1")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("no route"),
  });
  expect(await run(["image"], "")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^expected "images"/),
  });
});

/** A folder in the OCI layout, with an image and attestations of these predicate types. */
async function layout(predicates: readonly string[]): Promise<string> {
  const files: Record<string, string> = {};
  const blob = (value: unknown): { digest: string } => {
    const text = JSON.stringify(value);
    const hex = createHash("sha256").update(text).digest("hex");
    files[`blobs/sha256/${hex}`] = text;
    return { digest: `sha256:${hex}` };
  };
  const image = blob({ layers: [] });
  const layers = predicates.map((type) => ({
    ...blob({ type }),
    annotations: { "in-toto.io/predicate-type": type },
  }));
  const annotations = {
    "vnd.docker.reference.type": "attestation-manifest",
    "vnd.docker.reference.digest": image.digest,
  };
  const about = predicates.length === 0 ? [] : [{ ...blob({ layers }), annotations }];
  files["index.json"] = JSON.stringify({ manifests: [blob({ manifests: [image, ...about] })] });
  return folderOf(files);
}

test("reports an image without an SBOM or without a provenance", async () => {
  const [sbom, provenance] = ["https://spdx.dev/Document", "https://slsa.dev/provenance/v1"];
  expect(await missingAttestations(await layout([sbom, provenance]))).toEqual([]);
  expect(await missingAttestations(await layout([sbom]))).toEqual([
    expect.stringMatching(/expected a provenance/),
  ]);
  expect(await missingAttestations(await layout([provenance]))).toEqual([
    expect.stringMatching(/expected an SBOM/),
  ]);
  expect(await missingAttestations(await layout([]))).toHaveLength(2);
  await expect(missingAttestations(await folderOf({}))).rejects.toThrow("index.json");
});
