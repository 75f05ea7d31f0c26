/** The GitHub Actions workflows, parsed. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { root } from "./manifests.ts";

/** A step of a job. */
export interface Step {
  readonly id?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** A job. */
export interface Job {
  readonly steps: readonly Step[];
  readonly needs?: string | readonly string[];
  readonly "timeout-minutes": number;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly string[]>> };
}

/** A workflow. */
export interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly defaults?: unknown;
  readonly concurrency: { readonly group: string };
  readonly jobs: Readonly<Record<string, Job>>;
}

/** The folder of the workflows. */
export const folder = join(root, ".github/workflows");

/** All workflows by file name: their texts, and parsed. */
export async function readWorkflows() {
  const names = await readdir(folder);
  const texts: ReadonlyMap<string, string> = new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), "utf8")] as const)),
  );
  const workflows = new Map([...texts].map(([name, text]) => [name, parse(text) as Workflow]));
  return { texts, workflows: workflows as ReadonlyMap<string, Workflow> };
}
