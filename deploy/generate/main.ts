/** `npm run generate [-- --check]`: writes the generated files, or only reports whether they are up to date. */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openProject } from "denrei/runtime";
import { generatedFiles } from "./files.ts";
import { syncFiles } from "./sync.ts";

const sources = fileURLToPath(new URL("../..", import.meta.url));

const { values } = parseArgs({
  options: {
    check: { type: "boolean", default: false },
    /** The folder with `crds/` and `deploy/`. Tests set it to a copy of the repository. */
    root: { type: "string", default: sources },
  },
});

const desired = await generatedFiles(await (await openProject(sources)).all(), sources);
const { out, err, code } = await syncFiles(values.root, desired, values.check ? "check" : "write");
for (const line of out) console.log(line);
for (const line of err) console.error(line);
process.exitCode = code;
