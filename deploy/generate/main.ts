/** `npm run generate [-- --check]`: writes the generated files, or only tells whether they are up to date. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { functions } from "../../functions/index.ts";
import { generatedFiles, topologyPath } from "./files.ts";
import { changedUnderVersion, topologyIn } from "./topology.ts";
import { staleFiles, writeFiles } from "./tree.ts";

const sources = fileURLToPath(new URL("../..", import.meta.url));

const { values } = parseArgs({
  options: {
    check: { type: "boolean", default: false },
    /** The folder with `crds/` and `deploy/`: this repository, unless a test says otherwise. */
    root: { type: "string", default: sources },
  },
});

const wanted = await generatedFiles(functions, sources);
const declared = join(values.root, topologyPath);
const changed = existsSync(declared)
  ? changedUnderVersion(
      topologyIn(readFileSync(declared, "utf8")),
      topologyIn(wanted.get(topologyPath) ?? ""),
    )
  : [];
if (changed.length > 0) {
  console.error(
    `expected a new version of the topology, because these are not what they were: ${changed.join(", ")}. Add one to the version in bus/topology/version.ts; docs/upgrading.md says what else.`,
  );
  process.exit(1);
}
if (values.check) {
  const stale = await staleFiles(values.root, wanted);
  for (const { path, reason } of stale) console.error(`${path}: ${reason}`);
  if (stale.length > 0) {
    console.error("The generated files are not what the code says. Run `npm run generate` and commit them.");
    process.exitCode = 1;
  } else {
    console.log(`${wanted.size} generated files are up to date.`);
  }
} else {
  const written = await writeFiles(values.root, wanted);
  for (const { path, reason } of written) {
    console.log(reason === "no longer generated" ? `removed ${path}` : `wrote ${path}`);
  }
  console.log(`${wanted.size} generated files are up to date.`);
}
