/** This repository as the project of a bus, and the parcels as a further project, `pears`, on it. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Manifest } from "./manifests.ts";
import { parcels, printed, runIn } from "./projects.ts";

/** The options of the further project. */
export const furtherArgs = (profile: string): string[] => [
  "--profile",
  profile,
  "--namespace",
  "pears",
  "--role-suffix",
  "pears",
  "--nats-url",
  "tls://nats.denrei:4222",
];

/** Calls `use` with a file of the further project's users, for `--include`. */
export async function withUsersFile<T>(
  args: readonly string[],
  use: (file: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "test-users-"));
  try {
    const { code, stdout, stderr } = await runIn(parcels, ["users", "--json", ...args]);
    if (code !== 0) throw new Error(stderr);
    const file = join(folder, "pears.json");
    await writeFile(file, stdout);
    return await use(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The objects of both projects. */
export const twoProjects = (profile: string): Promise<[ofBus: Manifest[], further: Manifest[]]> =>
  withUsersFile(["--profile", profile, "--namespace", "pears"], async (file) => [
    await printed(["--profile", profile, "--include", file]),
    await printed(furtherArgs(profile), { folder: parcels }),
  ]);
