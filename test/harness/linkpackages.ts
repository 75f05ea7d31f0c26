/** The packages of a copy of the repository. */
import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Folders of the packages that a copy has itself. */
const own: Readonly<Record<string, string>> = {
  denrei: "bus",
  "@denrei/functions": "functions",
  "@denrei/dashboard": "dashboard",
  "@denrei/cli": "deploy",
  "@denrei/simulators": "deploy/simulators",
  "@denrei/test": "test/ket",
};

/** Links a copy's `node_modules`: the copy's own packages, and otherwise those that are installed in the repository. */
export function linkPackages(folder: string): void {
  const to = join(folder, "node_modules");
  mkdirSync(join(to, "@denrei"), { recursive: true });
  for (const name of readdirSync(join(root, "node_modules")))
    if (name !== "denrei" && name !== "@denrei")
      symlinkSync(join(root, "node_modules", name), join(to, name));
  // Relative, as npm does, so that a copy of the copy has its own packages too.
  for (const [name, path] of Object.entries(own))
    symlinkSync(relative(dirname(join(to, name)), join(folder, path)), join(to, name), "dir");
}
