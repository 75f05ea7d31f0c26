/** Builds the packages of a release: compiled modules with declarations and source maps, and what else each contains. */
import { execFile } from "node:child_process";
import { cp, glob, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { builtPage } from "../environment/page.ts";
import { bundledFile, bundlePackages } from "./bundle.ts";
import { contentProblems, type Packed } from "./contents.ts";
import { publishedManifest } from "./manifest.ts";
import { type Package, packages } from "./packages.ts";
import { manifestOf, root, workspaces } from "./workspaces.ts";

const run = promisify(execFile);

/** A built package. */
export interface BuiltPackage {
  readonly name: string;
  readonly folder: string;
  readonly rules: Package;
}

/**
 * Builds all packages below `out`, which it empties first. `repository` is the URL of the sources, which a registry compares
 * with the provenance of a release.
 */
export async function buildPackages(out: string, repository?: string): Promise<readonly BuiltPackage[]> {
  for (const { folder } of await workspaces())
    if (!packages.some((one) => one.folder === folder))
      throw new Error(`the workspace ${folder} is not in deploy/packages/packages.ts: add what it publishes`);
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  await builtPage();
  const compiled = await mkdtemp(join(tmpdir(), "denrei-packages-"));
  try {
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    const config = fileURLToPath(new URL("./tsconfig.json", import.meta.url));
    await run(process.execPath, [compiler, "-p", config, "--outDir", compiled]).catch(
      ({ stdout, message }) => {
        throw new Error(`the packages do not compile:\n${stdout || message}`);
      },
    );
    const { version } = await manifestOf("");
    const built: BuiltPackage[] = [];
    for (const one of packages) built.push(await buildPackage(one, { compiled, out, version, repository }));
    return built;
  } finally {
    await rm(compiled, { recursive: true, force: true });
  }
}

/** Packs built packages into tarballs. Returns their paths, in the same order. Rejects when the files of a package break the rules. */
export async function packPackages(built: readonly BuiltPackage[], out: string): Promise<readonly string[]> {
  await mkdir(out, { recursive: true });
  const tarballs: string[] = [];
  const problems: string[] = [];
  for (const { folder, rules } of built) {
    const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", out], {
      cwd: folder,
      maxBuffer: 64 * 1024 * 1024,
    });
    const [packed] = JSON.parse(stdout) as readonly [Packed];
    problems.push(...(await contentProblems(folder, packed, rules)));
    tarballs.push(join(out, packed.filename));
  }
  if (problems.length > 0) throw new Error(`the packages are not as they should be:\n${problems.join("\n")}`);
  return tarballs;
}

interface BuildContext {
  readonly compiled: string;
  readonly out: string;
  readonly version: string;
  readonly repository: string | undefined;
}

async function buildPackage(
  rules: Package,
  { compiled, out, version, repository }: BuildContext,
): Promise<BuiltPackage> {
  const { folder, files, without, bundled } = rules;
  const manifest = await manifestOf(folder);
  const target = join(out, manifest.name);
  const isOther = (path: string) => without.some((one) => path === one || path.startsWith(`${one}/`));
  for await (const path of glob("**/*.{js,d.ts,map}", { cwd: join(compiled, folder) }))
    if (!isOther(path)) await copyCompiled(join(compiled, folder, path), join(target, path));
  for (const pattern of files)
    for await (const path of glob(pattern, { cwd: join(root, folder), exclude: ["**/node_modules/**"] }))
      await copyFile(join(root, folder, path), join(target, path));
  if (bundled.length > 0) await bundleInto(target, bundled);
  const published = publishedManifest(manifest, { folder, version, bundled, repository });
  await writeFile(join(target, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
  await cp(join(root, folder, "README.md"), join(target, "README.md"));
  for (const name of ["LICENSE", "NOTICE"]) await cp(join(root, name), join(target, name));
  return { name: manifest.name, folder: target, rules };
}

/** The compiler changes neither the names of files in URLs nor the imports of declarations. */
const sourceUrl = /(new URL\("\.[^"]*)\.ts(", import\.meta\.url\))/g;
const declarationImport = /((?:from|import) ?\(?"\.[^"]*)\.ts"/g;

async function copyCompiled(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  if (from.endsWith(".map")) return cp(from, to);
  const text = await readFile(from, "utf8");
  const changed = from.endsWith(".js")
    ? text.replaceAll(sourceUrl, "$1.js$2")
    : text.replaceAll(declarationImport, '$1.js"');
  await writeFile(to, changed);
}

async function copyFile(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  if (!from.endsWith(".js")) return cp(from, to, { recursive: true });
  await copyCompiled(from, to);
}

/** Bundles dependencies into the folder `vendor` of a package, and makes its modules import them from there. */
async function bundleInto(target: string, names: readonly string[]): Promise<void> {
  const vendor = join(target, "vendor");
  const folders = await bundlePackages(names, vendor);
  await writeFile(join(vendor, "LICENSES.txt"), await licenses(folders));
  const imported = new RegExp(`(from "|import\\(")(${names.join("|")})"`, "g");
  for await (const path of glob("**/*.js", { cwd: target })) {
    if (path.startsWith("vendor/")) continue;
    const text = await readFile(join(target, path), "utf8");
    const to = posix.relative(posix.dirname(path), "vendor");
    const changed = text.replaceAll(
      imported,
      (_, before: string, name: string) =>
        `${before}${to.startsWith(".") ? to : `./${to}`}/${bundledFile(name)}"`,
    );
    if (changed !== text) await writeFile(join(target, path), changed);
  }
}

async function licenses(folders: readonly string[]): Promise<string> {
  const texts = await Promise.all(
    folders.map(async (folder) => {
      const { name, version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
      const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
      const text = file === undefined ? `License: ${license}` : await readFile(join(folder, file), "utf8");
      return `${name} ${version}\n\n${text.trim()}\n`;
    }),
  );
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { repository: { type: "string" } } });
  const out = join(root, "dist");
  const built = await buildPackages(join(out, "packages"), values.repository);
  for (const tarball of await packPackages(built, join(out, "tarballs"))) console.log(tarball);
}
