/** Commands of the packages that a project installs for development and operation. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Command } from "commander";

/** Packages whose module `commands` adds commands. An image that only runs functions has none of them. */
const packages = ["@denrei/cli"];

/** The processes of the platform, which start without looking for further commands. */
const processes = ["bridge", "worker", "gateway", "admission", "run", "init"];

let added: Promise<void> | undefined;

/** Adds the commands of installed packages, once, unless the command line names a process of the platform. */
export async function addInstalledCommands(program: Command, args: readonly string[]): Promise<void> {
  if (processes.includes(args[0] ?? "")) return;
  added ??= addCommandsOf(program);
  await added;
}

async function addCommandsOf(program: Command): Promise<void> {
  for (const name of packages) {
    const path = installed(`${name}/commands`);
    if (path === undefined) {
      program.addHelpText(
        "after",
        `\nInstall ${name} for commands to develop and operate: npm install --save-dev ${name}`,
      );
      continue;
    }
    const { addCommands } = (await import(path)) as { readonly addCommands: (program: Command) => void };
    addCommands(program);
  }
}

/** The URL of a package's module: the project's own package, or the one that is installed beside `denrei`. */
function installed(specifier: string): string | undefined {
  for (const from of [join(process.cwd(), "package.json"), import.meta.filename]) {
    try {
      return pathToFileURL(createRequire(from).resolve(specifier)).href;
    } catch {
      // Not installed there.
    }
  }
  return undefined;
}
