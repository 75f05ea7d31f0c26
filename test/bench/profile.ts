/** CPU profiles of our processes while Hikawas or webhooks are processed. */
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

/** Completes Hikawas twice, first to warm up. Writes a profile of each process to the folder, and returns the summaries. */
export async function profileHikawas(
  environment: BenchEnvironment,
  folder: string,
  count: number,
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const running = await denrei(environment, { profiler: "profiler" }).start("profile");
  try {
    await running.settled();
    await throughput(environment, running, count);
    await environment.clearObjects();
    await running.settled();
    return await profiled(folder, running.profilers, () => throughput(environment, running, count));
  } finally {
    await running.stop();
  }
}

/** Sends deliveries to a gateway twice, first to warm up; otherwise like {@link profileHikawas}. */
export async function profileGateway(
  environment: WebhookBenchEnvironment,
  folder: string,
  deliveries: number,
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const { url, profiler, stop } = await gateway(environment, "profiler").start("profile");
  try {
    await environment.load.make({ url, connections, deliveries: warmUp });
    const profilers = new Map([["gateway", profiler]]);
    return await profiled(folder, profilers, () => environment.load.make({ url, connections, deliveries }));
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
