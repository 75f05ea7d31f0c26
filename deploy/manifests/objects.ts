/** The rendered objects of a project, in an order that the API server accepts, with certificates. */
import { createHash } from "node:crypto";
import { render } from "../helm/kustomize.ts";
import type { Tree } from "./tree.ts";
import { inTemporaryFolder } from "./write.ts";

/** A Kubernetes object. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** Kinds that others need, first. All other kinds follow. */
const order = [
  "Namespace",
  "CustomResourceDefinition",
  "ServiceAccount",
  "ClusterRole",
  "ClusterRoleBinding",
  "Role",
  "RoleBinding",
  "Secret",
  "ConfigMap",
  "Service",
  "NetworkPolicy",
];

const rank = ({ kind }: Manifest): number => (order.includes(kind) ? order.indexOf(kind) : order.length);

/** Renders the tree, adds Secrets with certificates, and sorts all objects. */
export async function projectObjects(tree: Tree, certificates: readonly object[]): Promise<Manifest[]> {
  const rendered = await inTemporaryFolder(tree, (folder) => render<Manifest>(folder));
  const secrets = certificates as readonly Manifest[];
  const all =
    secrets.length === 0 ? rendered : [...rendered.map((one) => withChecksum(one, secrets)), ...secrets];
  return all.toSorted((a, b) => rank(a) - rank(b));
}

interface Workload extends Manifest {
  readonly spec: {
    readonly template: { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } };
  };
}

const isWorkload = (object: Manifest): object is Workload =>
  object.kind === "Deployment" || object.kind === "StatefulSet";

/** New certificates have a new authority, so all pods have to be replaced together. */
function withChecksum(object: Manifest, secrets: readonly Manifest[]): Manifest {
  if (!isWorkload(object)) return object;
  const { template } = object.spec;
  const checksum = createHash("sha256").update(JSON.stringify(secrets)).digest("hex");
  const annotations = { ...template.metadata.annotations, "checksum/certificates": checksum };
  return {
    ...object,
    spec: { ...object.spec, template: { ...template, metadata: { ...template.metadata, annotations } } },
  } as Workload;
}
