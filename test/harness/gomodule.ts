/** Files of Go modules: what projects publish nowhere else than in their source. */
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";

/** CRDs in a Go module. */
export interface CrdModule {
  /** The folder whose go.mod and go.sum say which version it is, and what it has to be. */
  readonly folder: string;
  readonly module: string;
  /** Where the CRDs are in it. */
  readonly path: string;
  /** For errors: `the Gateway API`. */
  readonly project: string;
}

/** What `go mod download -json` says of a module: its folder, or why there is none. */
interface Downloaded {
  readonly Dir?: string;
  readonly Error?: string;
}

/** The CRDs, and nothing else that lies beside them. Throws, with what to do, when there is no Go or the module can not be had. */
export async function crdsIn(source: CrdModule): Promise<Record<string, unknown>[]> {
  const folder = join(await moduleFolder(source), source.path);
  const files = (await readdir(folder)).filter((file) => file.endsWith(".yaml")).sort();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
  const crds = texts
    .flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Record<string, unknown>))
    .filter((object) => object?.kind === "CustomResourceDefinition");
  if (crds.length === 0) throw new Error(`expected CRDs of ${source.project} in ${folder}, found none`);
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

/** A download that failed is told on standard output, as JSON; what comes before it, as text elsewhere. */
function reason(stdout: string | undefined): string | undefined {
  try {
    return (JSON.parse(stdout ?? "") as Downloaded).Error;
  } catch {
    return undefined;
  }
}
