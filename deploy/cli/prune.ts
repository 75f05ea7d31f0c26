/** `denrei prune` */
import type { JetStreamManager } from "@nats-io/jetstream";
import { type Leftover, leftovers, removeLeftover } from "denrei/bus";
import { aligned } from "denrei/kubernetes";
import { openProject, say, subscriptionsOf } from "denrei/runtime";
import { age } from "./age.ts";
import { type BusSettings, withBus } from "./bus.ts";

/** Keeps leftovers that were used within this time. Milliseconds. */
const latelyMillis = 3_600_000;

/** Options of the command line. */
export interface PruneOptions {
  readonly dryRun?: boolean;
  readonly force?: boolean;
}

/** Removes streams and consumers that no function of this project uses, or only prints them (`dryRun`). */
export async function prune(settings: BusSettings, options: PruneOptions): Promise<void> {
  const { cluster } = settings;
  const { dryRun = false, force = false } = options;
  const project = await openProject();
  const subscriptions = subscriptionsOf(await project.all(), cluster);
  const found = await withBus(settings, async ({ jsm }) => {
    const all = await leftovers(jsm, { subscriptions, cluster, project: project.name, latelyMillis, force });
    if (!dryRun) await removeLeftovers(jsm, all);
    return all;
  });
  if (found.length === 0) say("Nothing to remove.");
  else printLeftovers(found, options);
}

/** Removes all that are not kept. */
export async function removeLeftovers(jsm: JetStreamManager, all: readonly Leftover[]): Promise<void> {
  for (const one of all) if (one.kept === undefined) await removeLeftover(jsm, one);
}

/** Prints a table of leftovers and the outcome for each. */
export function printLeftovers(
  found: readonly Leftover[],
  { dryRun = false, force = false }: PruneOptions,
): void {
  if (found.length === 0) return;
  const row = ({ stream, consumer = "(the stream)", used, messages, kept }: Leftover): string[] => [
    stream,
    consumer,
    `${age(used)} ago`,
    String(messages),
    kept ? `kept: ${kept}` : dryRun ? "would be removed" : "removed",
  ];
  say(aligned([["STREAM", "CONSUMER", "USED", "MESSAGES", "OUTCOME"], ...found.map(row)]));
  if (!force && found.some(({ kept }) => kept === "used recently" || kept === "not empty"))
    say("\nUse --force to remove these too, except those in use now.");
}
