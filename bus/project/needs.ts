/** What the bridge and the gateway of a project need to know about its functions. A bundle has it in a file. */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type FunctionNeeds, needsOf } from "../worker/needs.ts";
import { bundleFolder } from "./bundle.ts";
import type { Project } from "./project.ts";

/** The file in a bundle, beside its configuration. */
const needsFile = "denrei.needs.json";

/** The parts that have code: the bridge needs the lists, and the gateway the providers. */
const parts = ["lists", "providers"] as const;
type Part = (typeof parts)[number];

/** Needs of a function as data, with the names of the parts that it lacks. */
interface StoredNeeds extends Omit<FunctionNeeds, Part> {
  readonly lacks: readonly Part[];
}

/** Writes the file into a bundle. */
export async function writeNeeds(bundle: string, needs: readonly FunctionNeeds[]): Promise<void> {
  const stored = Object.fromEntries(needs.map((one) => [one.name, storedNeeds(one)]));
  await writeFile(join(bundle, needsFile), JSON.stringify(stored));
}

const storedNeeds = ({ lists, providers, ...data }: FunctionNeeds): StoredNeeds => ({
  ...data,
  lacks: parts.filter((part) => ({ lists, providers })[part].length > 0),
});

/**
 * What the bridge and the gateway need to know about all functions of a project. In a bundle, most functions are not loaded for it,
 * which saves a fifth of the memory of both with the functions of this repository. Of the parts with code, only this one is complete.
 */
export async function needsOfProject(project: Project, part: Part): Promise<FunctionNeeds[]> {
  const known = await readNeeds();
  if (known === undefined) return needsOf(await project.all());
  const needs = project.functionNames.map(async (name) => {
    const found = known[name];
    if (found === undefined || found.lacks.includes(part)) return needsOf(await project.load([name]));
    const { lacks: _, ...data } = found;
    return [{ ...data, lists: [], providers: [] }];
  });
  return (await Promise.all(needs)).flat();
}

/** Undefined without a bundle, and in one that an earlier version of `denrei build` has written. */
async function readNeeds(): Promise<Readonly<Record<string, StoredNeeds | undefined>> | undefined> {
  const folder = bundleFolder();
  const file = folder === undefined ? undefined : join(folder, needsFile);
  if (file === undefined || !existsSync(file)) return undefined;
  return JSON.parse(await readFile(file, "utf8")) as Record<string, StoredNeeds>;
}
