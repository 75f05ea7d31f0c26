/** Bundles packages into single files with the same exports. */
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The file of a package in a bundle. */
export const bundledFile = (name: string): string => `${name.replaceAll(/[@/]/g, "_")}.js`;

/** Bundles installed packages into a folder: a file for each, and files for what they share. Returns the folders of all packages in them. */
export async function bundlePackages(names: readonly string[], folder: string): Promise<readonly string[]> {
  const stubs = new Map<string, string>();
  for (const name of names) stubs.set(`stub:${name}`, await stubOf(name));
  const build = await rolldown({
    cwd: root,
    platform: "node",
    logLevel: "warn",
    preserveEntrySignatures: "strict",
    input: Object.fromEntries(names.map((name) => [bundledFile(name).replace(/\.js$/, ""), `stub:${name}`])),
    plugins: [
      {
        name: "stubs",
        resolveId: (id) => (stubs.has(id) ? id : null),
        load: (id) => stubs.get(id) ?? null,
      },
    ],
  });
  const { output } = await build.write({ dir: folder, format: "esm", chunkFileNames: "shared-[hash].js" });
  await build.close();
  const modules = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  return [...new Set(modules.flatMap((id) => packageFolder(id) ?? []))].sort();
}

/** A module with all exports of a package. A bundler cannot know the exports of a CommonJS module. */
async function stubOf(name: string): Promise<string> {
  const path = JSON.stringify(fileURLToPath(import.meta.resolve(name)));
  const exported = await import(name);
  const names = Object.keys(exported).filter((one) => !["default", "module.exports"].includes(one));
  if (!("module.exports" in exported))
    return `export * from ${path};\n${"default" in exported ? `export { default } from ${path};\n` : ""}`;
  const lines = names.map(
    (one, at) => `const e${at} = all[${JSON.stringify(one)}];\nexport { e${at} as ${one} };`,
  );
  return [`import all from ${path};`, "export default all;", ...lines].join("\n");
}

/** The folder of the package that contains a module. */
const packageFolder = (id: string): string | undefined =>
  /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1];
