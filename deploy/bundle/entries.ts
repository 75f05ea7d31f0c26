/** The entry points of a bundle: generated modules that load the command line and the configuration of a project. */
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { ExpectedError } from "denrei/runtime";

/** The modules of the package `denrei` that a bundle starts with. */
export interface Program {
  /** The launcher, whose place `denrei.js` takes in the bundle. */
  readonly launcher: string;
  /** The source of each entry point, by its name. */
  readonly entries: Readonly<Record<string, string>>;
}

/** The program of a project: of the package `denrei` that the project has installed, or of the one beside this package. */
export function programOf(project: string, config: string): Program {
  const program = resolvedFrom([join(project, "package.json"), import.meta.filename], "denrei/command");
  const module = (path: string): string =>
    JSON.stringify(join(dirname(program), `${path}${extname(program)}`));
  const setUp = `const { runFromBundle } = await import(${module("../project/bundle")});
runFromBundle(import.meta.dirname);`;
  return {
    launcher: join(dirname(program), "denrei.js"),
    entries: {
      denrei: `${nodeCheck}\n${setUp}\nawait import(${module("main")});`,
      "denrei.config": `export { default } from ${JSON.stringify(config)};`,
      // The program comes last: it runs a command line, and exits.
      compile: `${setUp}
const { loadProcesses } = await import(${module("compile")});
await loadProcesses();
process.argv.splice(2, Infinity, "--version");
await import(new URL("denrei.js", import.meta.url).href);`,
      needs: `${setUp}
const { recordNeeds } = await import(${module("needs")});
// Functions may keep timers.
process.exit(await recordNeeds());`,
    },
  };
}

/** Before any other module is loaded: an older Node cannot parse them. */
const nodeCheck = `if (Number(process.versions.node.split(".")[0]) < 24) {
  console.error(\`denrei needs Node 24 or later, found \${process.version}: use an image with a newer one, such as node:24-slim\`);
  process.exit(1);
}`;

function resolvedFrom(places: readonly string[], specifier: string): string {
  for (const from of places) {
    try {
      return createRequire(from).resolve(specifier);
    } catch {
      // Not installed there.
    }
  }
  throw new ExpectedError(`the package denrei is not installed, or too old: run npm install denrei@latest`);
}
