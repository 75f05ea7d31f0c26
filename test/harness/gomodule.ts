/** CRDs from Go modules, for projects that publish them only in their source. */
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";

/** CRDs in a Go module. */
export interface CrdModule {
  /** The folder whose go.mod and go.sum pin the version and its checksum. */
  readonly folder: string;
  readonly module: string;
  /** The path of the CRDs in the module. */
  readonly path: string;
  /** The project's name for errors: `the Gateway API`. */
  readonly project: string;
}

/** Output of `go mod download -json`: the module's folder, or the error. */
interface Downloaded {
  readonly Dir?: string;
  readonly Error?: string;
}

/** Reads the CRDs and skips other files. Throws, with the remedy, when Go is missing or the module cannot be downloaded. */
export async function crdsIn(source: CrdModule): Promise<Record<string, unknown>[]> {
  const folder = join(await moduleFolder(source), source.path);
  const files = (await readdir(folder)).filter((file) => file.endsWith(".yaml")).sort();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
  const crds = texts
    .flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Record<string, unknown>))
    .filter((object) => object?.kind === "CustomResourceDefinition");
  if (crds.length === 0) throw new Error(`no CRDs of ${source.project} in ${folder}`);
  return crds;
}

/** Downloads the module if it is not in Go's cache. */
async function moduleFolder({ folder, module, project }: CrdModule): Promise<string> {
  const options = { cwd: folder, env: { ...process.env, GOWORK: "off" } };
  try {
    const { stdout } = await promisify(execFile)("go", ["mod", "download", "-json", module], options);
    return (JSON.parse(stdout) as Required<Downloaded>).Dir;
  } catch (error) {
    const { code, stdout, stderr, message } = error as Error & Record<"code" | "stdout" | "stderr", string>;
    if (code === "ENOENT") {
      throw new Error(
        `expected Go in PATH to get the CRDs of ${project} (the version is in go.mod of ${folder}), found none. ` +
          "Install it from https://go.dev/dl.",
        { cause: error },
      );
    }
    throw new Error(
      `expected to download ${module} with go mod download, but ${reason(stdout) ?? (stderr?.trim() || message)}. ` +
        "Allow access to a Go module proxy (GOPROXY).",
      { cause: error },
    );
  }
}

/** A failed download is reported as JSON on standard output, and everything before it as text on standard error. */
function reason(stdout: string | undefined): string | undefined {
  try {
    return (JSON.parse(stdout ?? "") as Downloaded).Error;
  } catch {
    return undefined;
  }
}
