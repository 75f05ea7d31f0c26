/**
 * `npm run test:node [-- <file> <vitest options>]`: runs the tests with real pods, each file in namespaces of its own: a node leaves
 * devices and rules behind in its network.
 */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { render } from "../../deploy/helm/kustomize.ts";
import { obtainBinaries } from "../../deploy/local/index.ts";
import { enter } from "../../deploy/local/node/enter.ts";
import { makeProductImage, productImageVariable } from "./image.ts";
import { overlay } from "./overlay.ts";

// Inside, nothing can be downloaded, and the folders belong to root, so the image's user cannot enter them.
await render(overlay);
await obtainBinaries(["kubectl"]);
const folder = await mkdtemp(join(tmpdir(), "test-node-"));
try {
  const archive = join(folder, "denrei.tar");
  await makeProductImage(archive);
  process.env[productImageVariable] = archive;
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", "test/node/vitest.config.ts"];
  const [file, ...options] = process.argv.slice(2);
  for (const one of file === undefined ? await testFiles() : [file])
    process.exitCode = (await enter([process.execPath, ...vitest, one, ...options])) || process.exitCode;
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function testFiles(): Promise<string[]> {
  const names = await readdir(import.meta.dirname);
  return names.filter((name) => name.endsWith(".test.ts")).map((name) => `test/node/${name}`);
}
