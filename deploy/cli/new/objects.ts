/** The objects of the first case of a new function. */
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { apiVersionOf, type KubeObject } from "denrei/kinds";
import { parse, parseAllDocuments, stringify } from "yaml";
import type { Scaffold } from "./scaffold.ts";
import { hasOwnStatus, type Subject } from "./subject.ts";

/** What an object needs besides its name. */
type Content = Readonly<Record<string, unknown>>;

/** `given.yaml`: an object that the API server accepts, as far as that is known. */
export async function givenText({ subject }: Scaffold, root: string): Promise<string> {
  const content = hasOwnStatus(subject) ? { spec: { message: "Hello" } } : await contentOf(subject, root);
  return stringify({ ...named(subject), ...content });
}

/** `expect.yaml`: what the function writes. */
export function expectText({ subject, label }: Scaffold): string {
  const object = named(subject);
  if (!hasOwnStatus(subject)) {
    const { name } = object.metadata;
    return stringify({ ...object, metadata: { name, labels: { [label]: "seen" } } });
  }
  const conditions = [{ type: "Ready", status: "True", reason: "Said" }];
  return stringify({ ...object, status: { said: "Hello", conditions } });
}

const named = ({ kind }: Subject) => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  metadata: { name: "first" },
});

/** From the samples of Kubernetes' kinds, or from another object in the project. */
async function contentOf(subject: Subject, root: string): Promise<Content> {
  if (isBuiltIn(subject.kind.group)) return (await samples())[subject.kind.kind] ?? {};
  for (const path of await yamlFiles(root))
    for (const document of parseAllDocuments(await readFile(join(root, path), "utf8"))) {
      const content = document.errors.length > 0 ? undefined : contentIn(document.toJS(), subject);
      if (content !== undefined) return content;
    }
  return { spec: {} };
}

async function samples(): Promise<Readonly<Record<string, Content>>> {
  const file = new URL("./templates/samples.yaml.template", import.meta.url);
  return parse(await readFile(file, "utf8"));
}

/** Samples first, because cases may show objects that are refused. */
async function yamlFiles(root: string): Promise<readonly string[]> {
  const paths: string[] = [];
  const files = glob("{functions,test}/**/*.yaml", { cwd: root, exclude: ["**/node_modules/**"] });
  for await (const path of files) paths.push(path);
  const rank = (path: string) =>
    /(^|\/)sample\.yaml$/.test(path) ? 0 : /\bfirst\/given\.yaml$/.test(path) ? 1 : 2;
  return paths.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

function contentIn(found: unknown, { kind }: Subject): Content | undefined {
  const { apiVersion, kind: name, metadata, status: _, ...content } = (found ?? {}) as Partial<KubeObject>;
  if (apiVersion !== apiVersionOf(kind) || name !== kind.kind || metadata === undefined) return undefined;
  const isValid = kind.definition?.spec.safeParse(content.spec ?? {}).success ?? true;
  return isValid ? content : undefined;
}

/** Groups of Kubernetes whose kinds are no custom resources. */
const builtInGroups = [
  ...["", "admissionregistration.k8s.io", "apiextensions.k8s.io", "apps", "autoscaling", "batch"],
  ...["certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "networking.k8s.io"],
  ...["node.k8s.io", "policy", "rbac.authorization.k8s.io", "scheduling.k8s.io", "storage.k8s.io"],
];

/** Whether every API server serves the kinds of a group. */
export const isBuiltIn = (group: string): boolean => builtInGroups.includes(group);
