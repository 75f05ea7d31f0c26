/** What the bridge and the gateway of a project need to know about its functions. A bundle has it in a file. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type FunctionNeeds, needsOf } from "../worker/needs.ts";
import { bundleFolder } from "./bundle.ts";
import type { Project } from "./project.ts";

/** The file in a bundle, beside its configuration. */
export const needsFile = "denrei.needs.json";

/** Needs as a file has them. Lists of kinds are code. */
type StoredNeeds = Readonly<Record<string, Omit<FunctionNeeds, "lists"> | undefined>>;

/** The content of the file for these needs. */
export const needsText = (needs: readonly FunctionNeeds[]): string =>
  JSON.stringify(Object.fromEntries(needs.map(({ lists: _, ...one }) => [one.name, one] as const)));

/**
 * What the bridge needs to know about all functions of a project. In a bundle, most functions are not loaded for it: with those of
 * this repository, a bridge then needs 21 MB less.
 */
export async function needsOfProject(project: Project): Promise<FunctionNeeds[]> {
  const stored = await readNeeds();
  if (stored === undefined) return needsOf(await project.all());
  const needs = project.functionNames.map(async (name) => {
    const one = stored[name];
    if (one === undefined || one.ownsListed) return needsOf(await project.load([name]));
    return [{ ...one, lists: [] }];
  });
  return (await Promise.all(needs)).flat();
}

/** Undefined without a bundle, and in one that an earlier version of `denrei build` has written. */
async function readNeeds(): Promise<StoredNeeds | undefined> {
  const folder = bundleFolder();
  const file = folder === undefined ? undefined : join(folder, needsFile);
  if (file === undefined || !existsSync(file)) return undefined;
  return JSON.parse(await readFile(file, "utf8")) as StoredNeeds;
}
