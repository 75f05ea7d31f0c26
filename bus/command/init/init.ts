/** `denrei init`: creates a project. */
import { glob, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import manifest from "../../package.json" with { type: "json" };
import { UsageError } from "../errors.ts";
import { say } from "../output.ts";

const template = fileURLToPath(new URL("./template", import.meta.url));

/** npm does not publish files with these names unchanged. */
const renamed: Readonly<Record<string, string>> = { gitignore: ".gitignore", dockerignore: ".dockerignore" };

/** Creates a project in a new or empty folder. Throws a {@link UsageError}, and then writes nothing. */
export async function init(folder: string): Promise<void> {
  const target = resolve(folder);
  const name = basename(target);
  if (!/^[a-z0-9][a-z0-9._-]{0,100}$/.test(name))
    throw new UsageError(
      `"${name}" is not the name of a package: expected lower-case letters, digits, dashes, dots, and underscores`,
    );
  await expectEmpty(target);
  const values: Readonly<Record<string, string>> = { name, version: manifest.version };
  for await (const path of glob("**/*.template", { cwd: template })) {
    const text = await readFile(join(template, path), "utf8");
    const file = path.slice(0, -".template".length);
    const to = join(target, renamed[file] ?? file);
    await mkdir(dirname(to), { recursive: true });
    await writeFile(
      to,
      text.replaceAll(/\{\{(\w+)\}\}/g, (_, key: string) => values[key] ?? ""),
    );
  }
  const enter = target === process.cwd() ? [] : [`  cd ${folder}`];
  say(
    [
      `Created ${target}. Next:`,
      "",
      ...enter,
      "  npm install",
      "  npm run dev     # run the example on a local control plane",
      "  npm test        # run its cases",
    ].join("\n"),
  );
}

/** A new repository may have been made in the folder before. */
async function expectEmpty(target: string): Promise<void> {
  try {
    const entries = await readdir(target);
    if (entries.every((entry) => entry === ".git")) return;
    throw new UsageError(`the folder ${target} is not empty: choose the name of a new one`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return;
    if (code === "ENOTDIR") throw new UsageError(`${target} is a file: choose the name of a new folder`);
    throw error;
  }
}
