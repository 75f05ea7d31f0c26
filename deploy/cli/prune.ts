/** `denrei prune` */
import { aligned } from "../../bus/kube/table.ts";
import { type Leftover, leftovers, removeLeftover } from "../../bus/topology/leftovers.ts";
import { interestsOf } from "../../bus/worker/function.ts";
import { functions } from "../../functions/index.ts";
import { age } from "./age.ts";
import { type BusSettings, withBus } from "./bus.ts";
import { say } from "./output.ts";

/** What was used within this time is left alone. Milliseconds. */
const latelyMillis = 3_600_000;

/** Takes away what no function of this program uses on the bus any more, or only prints it. */
export async function prune(
  settings: BusSettings,
  { dryRun = false, force = false }: { dryRun?: boolean; force?: boolean },
): Promise<void> {
  const { cluster } = settings;
  const interests = interestsOf(functions, cluster);
  const found = await withBus(settings, async ({ jsm }) => {
    const all = await leftovers(jsm, { interests, cluster, latelyMillis, force });
    for (const one of dryRun ? [] : all.filter(({ kept }) => kept === undefined))
      await removeLeftover(jsm, one);
    return all;
  });
  if (found.length === 0) return say("Nothing is left over.");
  const row = ({ stream, consumer = "(the stream)", used, messages, kept }: Leftover): string[] => [
    stream,
    consumer,
    `${age(used)} ago`,
    String(messages),
    kept ? `kept: ${kept}` : dryRun ? "would be removed" : "removed",
  ];
  say(aligned([["STREAM", "CONSUMER", "USED", "MESSAGES", "OUTCOME"], ...found.map(row)]));
  if (!force && found.some(({ kept }) => kept === "used lately" || kept === "not empty"))
    say("\nOf a function that is not to come back, --force takes away what is not in use at this moment.");
}
