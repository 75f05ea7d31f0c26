/** The options of a kind cluster, checked before anything is started. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { versions } from "@denrei/cli/local/index";
import { parseAllDocuments } from "yaml";
import { FixtureError, type Manifest, readManifests } from "./manifest.ts";
import { nodeImage, versionIn } from "./nodeimages.ts";
import { KetOptionError } from "./optionerror.ts";
import type { KetOptions, SkaffoldOptions } from "./options.ts";

/** What to create, and what to deploy there. */
export interface KindPlan {
  /** Identifies the run. Each node of its cluster carries it. */
  readonly id: string;
  readonly name: string;
  readonly kindVersion: string;
  readonly image: string;
  readonly skaffold: SkaffoldPlan | undefined;
}

/** What skaffold deploys. */
export interface SkaffoldPlan extends Pick<SkaffoldOptions, "bus" | "deadlineMillis"> {
  readonly version: string;
  /** An absolute path. */
  readonly file: string;
  readonly before: readonly Manifest[];
}

/** Node hostnames are `<name>-control-plane`, with at most 64 characters. */
const longestName = 50;

/** Options that apply to one type of cluster only. */
const optionsOf = {
  kind: ["kindVersion", "clusterName", "kubernetesVersion", "skaffold"],
  existing: ["kubeconfig"],
} as const satisfies Record<string, readonly (keyof KetOptions)[]>;

/** Options of processes that run next to the cluster. */
const besideOptions = ["github", "workers", "env", "rights"] as const;

/** Throws {@link KetOptionError} where an option needs another cluster. */
export function expectOptionsOf(options: KetOptions): void {
  const { cluster = "local" } = options;
  for (const [other, names] of Object.entries(optionsOf)) {
    const given = names.filter((name) => options[name] !== undefined);
    if (other === cluster || given.length === 0) continue;
    throw new KetOptionError(
      `${given.join(", ")}: only for the cluster "${other}", and the cluster is "${cluster}". ` +
        `Set cluster: "${other}", or leave these options out.`,
    );
  }
}

/** The plan, with defaults. Throws {@link KetOptionError}. */
export async function planOf(options: KetOptions): Promise<KindPlan> {
  const id = randomBytes(6).toString("hex");
  const { kindVersion = versions.kind, kubernetesVersion, clusterName = `ket-${id}` } = options;
  const version = versionIn("kindVersion", kindVersion);
  const kubernetes = kubernetesVersion && versionIn("kubernetesVersion", kubernetesVersion);
  return {
    id,
    name: nameIn(clusterName),
    kindVersion: version,
    image: nodeImage(version, kubernetes),
    skaffold: options.skaffold && (await skaffoldPlan(options, options.skaffold)),
  };
}

/** Checks a name by kind's rule, and by Docker's for containers, because the node's container has it as well. */
function nameIn(text: string): string {
  if (/^[a-z0-9][a-z0-9.-]*$/.test(text) && text.length <= longestName) return text;
  throw new KetOptionError(
    `clusterName: ${JSON.stringify(text)} is not a valid name of a cluster. Use at most ${longestName} lowercase letters, ` +
      'digits, "-" and ".", a letter or digit first.',
  );
}

async function skaffoldPlan(options: KetOptions, given: SkaffoldOptions): Promise<SkaffoldPlan> {
  const beside = besideOptions.filter((option) => options[option] !== undefined);
  if (beside.length > 0)
    throw new KetOptionError(
      `${beside.join(", ")}: not with skaffold, which deploys bridge, workers, and gateway in the cluster. ` +
        "Configure them in the manifests that it deploys.",
    );
  const { version = versions.skaffold, file = "skaffold.yaml", before = [], ...rest } = given;
  const path = file instanceof URL ? fileURLToPath(file) : resolve(file);
  await expectSkaffoldFile(path);
  return {
    ...rest,
    version: versionIn("skaffold.version", version),
    file: path,
    before: (await Promise.all(before.map(manifestsOf))).flat(),
  };
}

async function manifestsOf(given: Manifest | string | URL): Promise<Manifest[]> {
  if (typeof given !== "string" && !(given instanceof URL)) return [given];
  try {
    return await readManifests(given instanceof URL ? fileURLToPath(given) : given);
  } catch (error) {
    if (!(error instanceof FixtureError)) throw error;
    throw new KetOptionError(`skaffold.before: ${error.message}`, { cause: error });
  }
}

async function expectSkaffoldFile(path: string): Promise<void> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw new KetOptionError(`skaffold.file: ${path} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const documents = parseAllDocuments(text);
  const [error] = documents.flatMap(({ errors }) => errors);
  if (error)
    throw new KetOptionError(`skaffold.file: ${path} is not YAML: ${error.message}`, { cause: error });
  const configs = documents.map((document) => document.toJS() as Record<string, unknown> | null);
  if (!configs.some((one) => one?.kind === "Config" && /^skaffold\//.test(String(one.apiVersion))))
    throw new KetOptionError(
      `skaffold.file: ${path} is not a configuration of skaffold. It needs apiVersion: skaffold/… and kind: Config.`,
    );
}
