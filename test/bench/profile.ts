/** CPU profiles of our processes during one run of the songs, or of webhooks. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { denrei } from "./denrei.ts";
import type { BenchEnvironment } from "./environment.ts";
import { startProfile } from "./profiler/profiler.ts";
import { summary } from "./profilesummary.ts";
import { throughput } from "./throughput.ts";
import type { WebhookBenchEnvironment } from "./webhooks/environment.ts";
import { gateway } from "./webhooks/gateway.ts";
import { connections, warmUp } from "./webhooks/rounds.ts";

/** Runs the songs twice, first to warm up; writes a profile of each process to the folder and returns their summaries. */
export async function profileSongs(arena: BenchEnvironment, folder: string, count: number): Promise<string> {
  await mkdir(folder, { recursive: true });
  const running = await denrei(arena, "profiler").start("profile");
  try {
    await running.settled();
    await throughput(arena, running, count);
    await arena.clearObjects();
    await running.settled();
    return await profiled(folder, running.profilers, () => throughput(arena, running, count));
  } finally {
    await running.stop();
  }
}

/** Sends deliveries to a gateway twice, first to warm up; otherwise like {@link profileSongs}. */
export async function profileGateway(
  ground: WebhookBenchEnvironment,
  folder: string,
  deliveries: number,
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const { url, profiler, stop } = await gateway(ground, "profiler").start("profile");
  try {
    await ground.load.make({ url, connections, deliveries: warmUp });
    const profilers = new Map([["gateway", profiler]]);
    return await profiled(folder, profilers, () => ground.load.make({ url, connections, deliveries }));
  } finally {
    await stop();
  }
}

async function profiled(
  folder: string,
  profilers: ReadonlyMap<string, string>,
  work: () => Promise<unknown>,
): Promise<string> {
  const running = await Promise.all(
    [...profilers].map(async ([role, socket]) => [role, await startProfile(socket)] as const),
  );
  await work();
  const profiles = await Promise.all(running.map(async ([role, stop]) => [role, await stop()] as const));
  const parts: string[] = [];
  for (const [role, profile] of profiles) {
    await writeFile(join(folder, `${role}.cpuprofile`), JSON.stringify(profile));
    parts.push(`${role}\n\n${summary(profile)}`);
  }
  return parts.join("\n\n");
}
