/** The options of a cluster of kind, checked before anything is started. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";
import { versions } from "../../../deploy/local/index.ts";
import { nodeImage, versionIn } from "./nodeimages.ts";
import { KetOptionError } from "./optionerror.ts";
import type { KetOptions, SkaffoldOptions } from "./options.ts";

/** What to create, and what to deploy there. */
export interface KindPlan {
  /** Identifies the run. Each node of its cluster has it. */
  readonly id: string;
  readonly name: string;
  readonly kindVersion: string;
  readonly image: string;
  readonly skaffold: SkaffoldPlan | undefined;
}

/** What skaffold deploys. */
export interface SkaffoldPlan extends Pick<SkaffoldOptions, "before" | "bus" | "deadlineMillis"> {
  readonly version: string;
  /** An absolute path. */
  readonly file: string;
}

/** Hosts are called `<name>-control-plane`, and may have 64 characters. */
const longestName = 50;

/** Options that mean nothing without a cluster of kind. */
const kindOptions = ["kindVersion", "clusterName", "kubernetesVersion", "skaffold"] as const;

/** Options of processes that run beside the cluster. */
const besideOptions = ["github", "workers", "env"] as const;

/** Throws {@link KetOptionError} where an option needs a cluster of kind. */
export function expectNoKindOptions(options: KetOptions): void {
  const { cluster = "local" } = options;
  const given = kindOptions.filter((option) => options[option] !== undefined);
  if (given.length > 0)
    throw new KetOptionError(
      `${given.join(", ")}: only for the cluster "kind", and the cluster is "${cluster}". ` +
        'Set cluster: "kind", or leave these options out.',
    );
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

/** kind's rule for names, and Docker's: the node's container has it as well. */
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
  const { version = versions.skaffold, file = "skaffold.yaml", ...rest } = given;
  const path = file instanceof URL ? fileURLToPath(file) : resolve(file);
  await expectSkaffoldFile(path);
  return { ...rest, version: versionIn("skaffold.version", version), file: path };
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
