/**
 * Bundles each package that most processes load into one file, before the first test. Our own modules are still loaded from their
 * sources. This makes a worker's start a third cheaper. The nightly tests, the image, and the replicas of the command line use the
 * packages themselves.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundledFile, bundlePackages } from "../../../deploy/packages/bundle.ts";
import { packagesVariable } from "./quick.ts";

/** Not hono: its other modules would load a second copy. */
const packages = [
  "@bufbuild/protobuf",
  "@bufbuild/protobuf/codegenv2",
  "@bufbuild/protobuf/wkt",
  "@connectrpc/connect",
  "@connectrpc/connect-node",
  "@nats-io/jetstream",
  "@nats-io/kv",
  "@nats-io/transport-node",
  "@octokit/request",
  "@opentelemetry/api",
  "cloudevents",
  "commander",
  "jose",
  "openid-client",
  "pino",
  "prom-client",
  "undici",
  "universal-github-app-jwt",
  "yaml",
  "zod",
];

const root = fileURLToPath(new URL("../../..", import.meta.url));

export default async function setup(): Promise<void> {
  const versions = await readFile(join(root, "package-lock.json"));
  const ours = await readFile(fileURLToPath(import.meta.url));
  const digest = createHash("sha256").update(versions).update(ours).digest("hex").slice(0, 16);
  const parent = join(root, "node_modules/.cache/denrei");
  const folder = join(parent, `packages-${digest}`);
  if (!existsSync(folder)) {
    await mkdir(parent, { recursive: true });
    // Bundles of other versions are no longer needed.
    for (const name of await readdir(parent))
      if (name.startsWith("packages-")) await rm(join(parent, name), { recursive: true, force: true });
    const scratch = await mkdtemp(join(parent, "scratch-"));
    try {
      await bundle(scratch);
      // Atomically, for a run in parallel. The second of two finds the same content there.
      await rename(scratch, folder).catch((error) => {
        if (!existsSync(folder)) throw error;
      });
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }
  process.env[packagesVariable] = join(folder, "hook.js");
}

async function bundle(folder: string): Promise<void> {
  await bundlePackages(packages, folder);
  await writeFile(join(folder, "package.json"), '{ "type": "module" }\n');
  await writeFile(join(folder, "hook.js"), hook);
}

/** Runs first in a process and in each of its threads. */
const hook = `import { registerHooks } from "node:module";

const files = new Map(${JSON.stringify(packages.map((name) => [name, bundledFile(name)]))});
registerHooks({
  resolve(specifier, context, next) {
    const file = files.get(specifier);
    if (file === undefined) return next(specifier, context);
    return { url: new URL(file, import.meta.url).href, format: "module", shortCircuit: true };
  },
});
`;
