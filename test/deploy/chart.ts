/** The Helm chart from `npm run chart`, and its rendering by Helm. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { openProject } from "../../bus/project/project.ts";
import { projectLayout } from "../../deploy/generate/layout.ts";
import { type BusScope, type ChartParts, chartFiles, chartParts } from "../../deploy/helm/chart.ts";
import { mapStrings, withoutHashes } from "../../deploy/helm/sources.ts";
import { writeChart } from "../../deploy/helm/write.ts";
import { versions } from "../../deploy/local/versions.ts";
import { programs } from "../harness/programs.ts";
import { type Manifest, root } from "./manifests.ts";
import { renderedOnce } from "./rendered.ts";

const { helm: program } = await programs("helm");

/** Values as in a site's file. */
export type Values = Readonly<Record<string, unknown>>;

/** The result of a Helm command. */
export interface Outcome {
  readonly code: number;
  readonly output: string;
}

/** The Kubernetes version for rendering without a cluster: Helm built with `go build` assumes v1.20. */
export const kubeVersion: readonly string[] = ["--kube-version", versions["kube-apiserver"]];

/** A chart in a temporary folder. */
export interface Chart {
  readonly folder: string;
  /** Runs Helm with these values. */
  helm(args: readonly string[], values?: Values): Promise<Outcome>;
  /** Renders the chart. Throws Helm's error when that fails. */
  template(values?: Values): Promise<Manifest[]>;
  remove(): Promise<void>;
}

/** Parsed documents as JSON, by their text, since most documents do not depend on the values. */
const parsed = new Map<string, string>();

/** A copy of the object in a document; null for a document with only comments. */
function objectOf(text: string): Manifest | null {
  const json = parsed.get(text) ?? JSON.stringify(parse(text));
  parsed.set(text, json);
  return JSON.parse(json);
}

/** The parts of the chart of a project, by default of the repository. */
export async function partsFor(bus: BusScope, folder = root): Promise<ChartParts> {
  const project = await openProject(folder);
  const layout = await projectLayout(project, { profile: "standard" });
  const rest = await renderedOnce(`parts of the chart in ${folder} for ${JSON.stringify(bus)}`, async () => {
    const { published, rendered } = await chartParts(project, bus);
    return { published, rendered };
  });
  return { layout, components: project.components, ...rest };
}

/** Writes the chart. `kubeconfig` is that of Helm's cluster, if any. */
export async function openChart({
  cluster = "default",
  kubeconfig = "",
  project = root,
} = {}): Promise<Chart> {
  const scratch = await mkdtemp(join(tmpdir(), "test-chart-"));
  const folder = join(scratch, "denrei");
  await writeChart(folder, chartFiles(await partsFor({ cluster }, project)));
  const env = Object.fromEntries(
    ["CACHE", "CONFIG", "DATA"].map((name) => [`HELM_${name}_HOME`, join(scratch, name)]),
  );
  // Without a kubeconfig, Helm must not use the developer's cluster.
  env.KUBECONFIG = kubeconfig || join(scratch, "none");
  let count = 0;
  const helm = async (args: readonly string[], values?: Values): Promise<Outcome> => {
    const file = join(scratch, `values-${++count}.json`);
    if (values) await writeFile(file, JSON.stringify(values));
    const all = [...args, ...(values ? ["--values", file] : [])];
    return new Promise((resolve) => {
      execFile(
        program.path,
        all,
        { env: { ...process.env, ...env }, maxBuffer: 1 << 26 },
        (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : 1, output: error === null ? stdout : `${stdout}${stderr}` }),
      );
    });
  };
  return {
    folder,
    helm,
    async template(values) {
      const args = ["template", "denrei", folder, "--namespace", "denrei", ...kubeVersion];
      const { code, output } = await helm(args, values);
      if (code !== 0) throw new Error(output);
      return output
        .split(/^---$/m)
        .map(objectOf)
        .filter((object) => object !== null);
    },
    remove: () => rm(scratch, { recursive: true }),
  };
}

/** Objects by kind and name, without what only one of chart and kustomization has: namespaces, hashes, and Helm's annotations. */
export function comparable(objects: readonly Manifest[]): Record<string, Manifest> {
  const namespaced = objects.filter(({ kind }) => kind !== "Namespace");
  const named = withoutHashes(namespaced).map((object) => withoutPolicy(withoutChecksum(object)));
  return Object.fromEntries(named.map((object) => [`${object.kind} ${object.metadata.name}`, object]));
}

/** Removes the annotation by which Helm keeps CRDs. */
function withoutPolicy(object: Manifest): Manifest {
  const { annotations, ...metadata } = object.metadata as Manifest["metadata"] & { annotations?: object };
  if (annotations === undefined) return object;
  const kept = Object.entries(annotations).filter(([name]) => name !== "helm.sh/resource-policy");
  return {
    ...object,
    metadata: { ...metadata, ...(kept.length > 0 && { annotations: Object.fromEntries(kept) }) },
  };
}

const checksum = "checksum/settings";

/** Removes the checksum by which Helm replaces pods. kustomize uses the names of ConfigMaps instead. */
function withoutChecksum(object: Manifest): Manifest {
  const copy = mapStrings(object, (text) => text);
  const { annotations } =
    (copy as { spec?: { template?: { metadata?: { annotations?: Record<string, string> } } } }).spec?.template
      ?.metadata ?? {};
  if (annotations === undefined) return copy;
  delete annotations[checksum];
  if (Object.keys(annotations).length > 0) return copy;
  Reflect.deleteProperty(
    (copy as unknown as { spec: { template: { metadata: object } } }).spec.template.metadata,
    "annotations",
  );
  return copy;
}
