/**
 * The CRDs of the Gateway API, standard channel, from its Go module: this folder's go.mod pins the version, which has to be
 * one for the API server of the local platform. https://gateway-api.sigs.k8s.io/
 */
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";

const folder = fileURLToPath(new URL(".", import.meta.url));
const module = "sigs.k8s.io/gateway-api";

/** What `go mod download -json` says of a module: its folder, or why there is none. */
interface Downloaded {
  readonly Dir?: string;
  readonly Error?: string;
}

/**
 * Every CRD of the channel: GatewayClass, Gateway, HTTPRoute, ReferenceGrant and the others, without the policies that are
 * published beside them. Throws, with what to do, when there is no Go or the module can not be had.
 */
export async function gatewayCrds(): Promise<Record<string, unknown>[]> {
  const channel = join(await moduleFolder(), "config/crd/standard");
  const files = (await readdir(channel)).filter((file) => file.endsWith(".yaml")).sort();
  const texts = await Promise.all(files.map((file) => readFile(join(channel, file), "utf8")));
  const crds = texts
    .flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Record<string, unknown>))
    .filter((object) => object?.kind === "CustomResourceDefinition");
  if (crds.length === 0) throw new Error(`expected CRDs of the Gateway API in ${channel}, found none`);
  return crds;
}

/** Downloads the module if it is not in Go's cache; go.sum says what it has to be. */
async function moduleFolder(): Promise<string> {
  const options = { cwd: folder, env: { ...process.env, GOWORK: "off" } };
  try {
    const { stdout } = await promisify(execFile)("go", ["mod", "download", "-json", module], options);
    return (JSON.parse(stdout) as Required<Downloaded>).Dir;
  } catch (error) {
    const { code, stdout, stderr, message } = error as Error & Record<"code" | "stdout" | "stderr", string>;
    if (code === "ENOENT") {
      throw new Error(
        "expected Go in PATH to get the CRDs of the Gateway API (test/gatewayapi, see its go.mod for the version), found none. " +
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
