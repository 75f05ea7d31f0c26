/** The fields of deploy/skaffold.yaml that tests read, and the published schema of its version. */
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { parse } from "yaml";
import { type GoTool, goModule } from "./gotool.ts";
import { root } from "./manifests.ts";

/** A rule for copying files into running containers. */
export interface SyncRule {
  readonly src: string;
  readonly dest: string;
}

export interface Artifact {
  readonly image: string;
  readonly context: string;
  readonly docker: { readonly dockerfile: string; readonly target?: string };
  readonly sync?: {
    readonly manual: readonly SyncRule[];
    readonly hooks: {
      readonly after: readonly { readonly container: { readonly command: readonly string[] } }[];
    };
  };
}

export interface Profile {
  readonly name: string;
  readonly activation: readonly { readonly command: string }[];
  readonly build?: { readonly artifacts: readonly Artifact[] };
  readonly manifests: { readonly kustomize: { readonly paths: readonly string[] } };
}

export interface Skaffold {
  readonly apiVersion: string;
  readonly build: { readonly artifacts: readonly Artifact[] };
  readonly deploy: { readonly kubeContext: string };
  readonly portForward: readonly {
    readonly resourceType: string;
    readonly resourceName: string;
    readonly namespace: string;
    readonly port: number;
    readonly localPort: number;
  }[];
  readonly profiles: readonly Profile[];
}

/** Parses the file. */
export async function skaffoldFile(): Promise<Skaffold> {
  return parse(await readFile(join(root, "deploy/skaffold.yaml"), "utf8"));
}

const tool: GoTool = { folder: "skaffold", module: "github.com/GoogleContainerTools/skaffold/v2" };

/** The JSON schema of a version such as `skaffold/v4beta13`, from skaffold's sources. */
export async function schemaOf(apiVersion: string): Promise<object> {
  const path = join(await goModule(tool), "docs-v2/content/en/schemas", `${basename(apiVersion)}.json`);
  return JSON.parse(await readFile(path, "utf8"));
}
