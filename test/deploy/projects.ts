/** What `denrei manifests` prints for a project. */
import { fileURLToPath } from "node:url";
import { vi } from "vitest";
import { runHere } from "../cli/here.ts";
import type { Manifest } from "./manifests.ts";

/** A project outside the repository's own: a kind with two versions, a group, and no webhooks. */
export const parcels = fileURLToPath(new URL("../fixtures/manifests", import.meta.url));

/** Runs a command in the folder of a project; by default in the repository. */
export async function runIn(
  folder: string | undefined,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  const spy = folder === undefined ? undefined : vi.spyOn(process, "cwd").mockReturnValue(folder);
  try {
    return await runHere(args, { env });
  } finally {
    spy?.mockRestore();
  }
}

/** The printed objects. */
export async function printed(
  args: readonly string[],
  { folder, env }: { readonly folder?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Manifest[]> {
  const { code, stdout, stderr } = await runIn(folder, ["manifests", "--json", ...args], env);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout).items;
}
