/** Where our processes' time goes: V8's CPU profiles of one run of the songs. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Arena } from "./arena.ts";
import { denrei } from "./denrei.ts";
import { type Profile, startProfile } from "./inspector.ts";
import { summary } from "./profilesummary.ts";
import { throughput } from "./throughput.ts";

/** Sings twice, first to warm up; writes a profile of each process to the folder and returns their summaries. */
export async function profileSongs(arena: Arena, folder: string, count: number): Promise<string> {
  await mkdir(folder, { recursive: true });
  const running = await denrei(arena, "inspector").start("profile");
  try {
    await running.settled();
    await throughput(arena, running, count);
    await arena.clearObjects();
    await running.settled();
    const profiles = await profiled([...running.inspectors], () => throughput(arena, running, count));
    const parts: string[] = [];
    for (const [role, profile] of profiles) {
      await writeFile(join(folder, `${role}.cpuprofile`), JSON.stringify(profile));
      parts.push(`${role}\n\n${summary(profile)}`);
    }
    return parts.join("\n\n");
  } finally {
    await running.stop();
  }
}

async function profiled(
  inspectors: readonly (readonly [role: string, url: string])[],
  work: () => Promise<unknown>,
): Promise<[role: string, profile: Profile][]> {
  const running = await Promise.all(
    inspectors.map(async ([role, url]) => [role, await startProfile(url)] as const),
  );
  await work();
  return Promise.all(running.map(async ([role, stop]): Promise<[string, Profile]> => [role, await stop()]));
}
