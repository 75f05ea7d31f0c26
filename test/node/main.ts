/** `npm run test:node [-- <vitest options>]`: runs the tests with real pods in namespaces for a node. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { render } from "../../deploy/helm/kustomize.ts";
import { enter } from "../../deploy/local/node/enter.ts";
import { makeProductImage, productImageVariable } from "./image.ts";
import { overlay } from "./overlay.ts";

// Inside, kustomize cannot be downloaded, and the folders belong to root, so the image's user cannot enter them.
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
