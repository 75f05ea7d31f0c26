/** The files of a new function. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { apiVersionOf, pluralOf } from "denrei/kinds";
import { UsageError } from "denrei/runtime";
import { expectText, givenText, isBuiltIn } from "./objects.ts";
import { reconcilerValues } from "./reconciler.ts";
import { registered } from "./register.ts";
import type { Scaffold, Target } from "./scaffold.ts";
import type { Subject } from "./subject.ts";
import { testValues } from "./testfile.ts";
import type { PlannedFile } from "./write.ts";

/** Plans all files. Throws a {@link UsageError} if a new file already exists. */
export async function plannedFiles(scaffold: Scaffold, target: Target): Promise<PlannedFile[]> {
  const { root, layout } = target;
  const { name, subject, system } = scaffold;
  const functionPath = `functions/${system}/${name}.ts`;
  const cases = `${layout.casesOf(name)}/first`;
  const testPath = layout.testOf(name);
  const crdPath = crdPathOf(scaffold, target);
  const created = [
    ...(await kindFiles(scaffold)),
    newFile(functionPath, await filledIn("reconciler.ts", reconcilerValues(scaffold, functionPath))),
    newFile(`${cases}/given.yaml`, await givenText(scaffold, root)),
    newFile(`${cases}/expect.yaml`, expectText(scaffold)),
    newFile(testPath, await filledIn("test.ts", testValues(scaffold, layout, crdPath))),
  ];
  const planned = [
    ...created,
    // Functions for one kind share its CRD.
    ...(crdPath === undefined || existsSync(join(root, crdPath)) ? [] : [await crdFile(crdPath, subject)]),
    ...(subject.origin === "known" ? [] : [await exported(root, scaffold)]),
    await registered(target, scaffold),
  ];
  const duplicate = planned.find(({ path }, at) => planned.findIndex((other) => other.path === path) !== at);
  const conflict = duplicate ?? created.find(({ path }) => existsSync(join(root, path)));
  if (conflict !== undefined)
    throw new UsageError(`the file ${conflict.path} already exists. Choose another name, or move the file.`);
  return planned;
}

const newFile = (path: string, text: string): PlannedFile => ({ path, text, before: undefined });

/** The declaration of the kind, unless it exists. */
async function kindFiles({ subject, system }: Scaffold): Promise<PlannedFile[]> {
  if (subject.origin === "known") return [];
  const template = subject.origin === "new" ? "kind.ts" : "external.ts";
  return [newFile(kindPath(subject, system), await filledIn(template, kindValues(subject)))];
}

const kindPath = ({ name }: Subject, system: string): string =>
  `functions/${system}/kinds/${name.toLowerCase()}.ts`;

function kindValues({ name, kind, scope, origin }: Subject): Readonly<Record<string, string>> {
  const { group, version, plural } = kind;
  const isUsual = plural === pluralOf(name);
  return {
    Kind: name,
    group,
    version,
    apiVersion: apiVersionOf(kind),
    plural: origin === "external" ? plural : isUsual ? "" : `  plural: "${plural}",`,
    scope: scope === "Cluster" ? '  scope: "Cluster",' : "",
  };
}

/** Whether the kind has a CRD of another project. */
export const needsCrd = ({ kind, origin }: Subject): boolean =>
  kind.definition === undefined && origin !== "new" && !isBuiltIn(kind.group);

/** Where tests find the CRD of another project. */
const crdPathOf = ({ subject }: Scaffold, { layout }: Target): string | undefined =>
  needsCrd(subject) ? layout.crdOf(subject.kind) : undefined;

async function crdFile(path: string, { name, kind, scope }: Subject): Promise<PlannedFile> {
  const { group, version, plural } = kind;
  // The API server wants a reference to a review for CRDs in groups of Kubernetes.
  const approval = /\.(k8s|kubernetes)\.io$/.test(group)
    ? "  annotations:\n    api-approved.kubernetes.io: unapproved, for tests"
    : "";
  return newFile(path, await filledIn("crd.yaml", { Kind: name, group, version, plural, scope, approval }));
}

/** Adds the kind to those that its system exports. */
async function exported(root: string, { subject, system }: Scaffold): Promise<PlannedFile> {
  const path = `functions/${system}/kinds.ts`;
  const file = join(root, path);
  const before = existsSync(file) ? await readFile(file, "utf8") : undefined;
  const line = `export { ${subject.name} } from "./kinds/${subject.name.toLowerCase()}.ts";\n`;
  return { path, text: (before ?? `/** Kinds of ${system}. */\n`) + line, before };
}

async function filledIn(template: string, values: Readonly<Record<string, string>>): Promise<string> {
  const text = await readFile(new URL(`templates/${template}.template`, import.meta.url), "utf8");
  // Drops lines that consist of an empty placeholder.
  const lines = text.split("\n").filter((line) => values[/^\{\{(\w+)\}\}$/.exec(line)?.[1] ?? ""] !== "");
  return lines.join("\n").replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? "");
}
