import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { extract, list } from "tar";
import { expect, onTestFinished, test } from "vitest";
import { writeImage } from "./ociimage.ts";

const image = {
  name: "docker.io/library/denrei:1",
  entrypoint: ["node", "denrei.js"],
  environment: ["NODE_ENV=production"],
  workingDirectory: "/app",
  user: "65532:65532",
};

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "test-image-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The unpacked image of a folder with a file in a folder, and a link to that folder. */
async function unpacked(): Promise<string> {
  const folder = await temporaryFolder();
  const [root, out] = ["root", "out"].map((name) => join(folder, name)) as [string, string];
  await mkdir(join(root, "folder"), { recursive: true });
  await mkdir(out);
  await writeFile(join(root, "folder/file"), "text");
  await symlink("folder", join(root, "link"));
  const archive = join(folder, "image.tar");
  await writeImage(root, archive, image);
  expect(await readdir(folder), "nothing but the archive is left").toHaveLength(3);
  await extract({ file: archive, cwd: out });
  return out;
}

const jsonAt = async (path: string) => JSON.parse(await readFile(path, "utf8"));
const blob = (out: string, { digest }: { digest: string }) =>
  join(out, "blobs/sha256", digest.replace("sha256:", ""));

test("the index leads to the image, and each blob matches its digest", async () => {
  const out = await unpacked();
  expect(await jsonAt(join(out, "oci-layout"))).toEqual({ imageLayoutVersion: "1.0.0" });
  const [described] = (await jsonAt(join(out, "index.json"))).manifests;
  expect(described.annotations).toEqual({ "io.containerd.image.name": image.name });
  const manifest = await jsonAt(blob(out, described));
  for (const part of [described, manifest.config, ...manifest.layers]) {
    const content = await readFile(blob(out, part));
    expect(`sha256:${createHash("sha256").update(content).digest("hex")}`).toBe(part.digest);
    expect(content.length).toBe(part.size);
  }
  const config = await jsonAt(blob(out, manifest.config));
  expect(config.rootfs.diff_ids).toEqual(manifest.layers.map(({ digest }: { digest: string }) => digest));
  expect(config.config).toEqual({
    Entrypoint: image.entrypoint,
    Env: image.environment,
    WorkingDir: "/app",
    User: "65532:65532",
  });
});

// Node runs no TypeScript below node_modules, so links to workspaces must stay links.
test("the layer keeps links", async () => {
  const out = await unpacked();
  const [described] = (await jsonAt(join(out, "index.json"))).manifests;
  const [layer] = (await jsonAt(blob(out, described))).layers;
  const entries: unknown[][] = [];
  await list({
    file: blob(out, layer),
    onReadEntry: ({ path, type, linkpath }) => entries.push([path, type, linkpath]),
  });
  expect(entries.filter(([, type]) => type !== "Directory").toSorted()).toEqual([
    ["./folder/file", "File", undefined],
    ["./link", "SymbolicLink", "folder"],
  ]);
});
