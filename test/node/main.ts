/** `npm run test:node [-- <vitest's options>]`: the tests with real pods, where a node can be started. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { render } from "../../deploy/helm/kustomize.ts";
import { enter } from "../../deploy/local/node/enter.ts";
import { makeProductImage, productImageVariable } from "./image.ts";
import { overlay } from "./overlay.ts";

// Inside there is no way to get a kustomize, and the folders there are root's alone, which the image's user may not enter.
await render(overlay);
const folder = await mkdtemp(join(tmpdir(), "test-node-"));
try {
  const archive = join(folder, "denrei.tar");
  await makeProductImage(archive);
  process.env[productImageVariable] = archive;
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", "test/node/vitest.config.ts"];
  process.exitCode = await enter([process.execPath, ...vitest, ...process.argv.slice(2)]);
} finally {
  await rm(folder, { recursive: true, force: true });
}
