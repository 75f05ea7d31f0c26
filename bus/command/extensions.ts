/** Commands of the packages that a project installs for development and operation. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Command } from "commander";
import { bundleFolder } from "../project/bundle.ts";

/** Packages whose module `commands` adds commands. An image that only runs functions has none of them. */
const packages = ["@denrei/cli"];

/** The processes of the platform, which start without looking for further commands. */
const processes = ["bridge", "worker", "gateway", "admission", "run", "init"];

const isProcess = (args: readonly string[]): boolean => processes.includes(args[0] ?? "");

/** A command line, given without the program name. Resolves with the exit code after an error or a request for help. */
export type CommandLine = (args: readonly string[]) => Promise<number | undefined>;

/**
 * The command line of the installed package `denrei`, for the command of another package in a process that runs from a bundle. A
 * bundle has only the processes of the platform. Undefined if no package with commands is installed.
 */
export async function installedCommandLine(args: readonly string[]): Promise<CommandLine | undefined> {
  if (bundleFolder() === undefined || isProcess(args)) return undefined;
  if (!packages.some((name) => installed(`${name}/commands`))) return undefined;
  const path = installed("denrei/command");
  if (path === undefined) return undefined;
  return ((await import(path)) as { readonly runCommandLine: CommandLine }).runCommandLine;
}

let added: Promise<void> | undefined;

/** Adds the commands of installed packages, once, unless the command line names a process of the platform. */
export async function addInstalledCommands(program: Command, args: readonly string[]): Promise<void> {
  if (isProcess(args)) return;
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
