/**
 * Webhooks that did not arrive. GitHub delivers each once, and keeps for three days what became of it; whoever wants one
 * again has to ask. https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries
 */
import type { GitHubAppClient, HookDelivery } from "../../bus/github/app.ts";
import { GitHubRefusedError } from "../../bus/github/errors.ts";
import { refusedForGood } from "../../bus/webhooks/answers.ts";

const minutes = (n: number): number => n * 60_000;

/** For so long GitHub delivers again. */
const keptMillis = minutes(3 * 24 * 60);
/** An attempt that has just been made may still be under way. */
const graceMillis = 30_000;
/** Pauses between attempts of one webhook that we have asked for, doubled each time. */
const pause = { first: minutes(5), most: minutes(6 * 60) };
/** Asked for in one go; the rest in the next. */
const atOnce = 100;

/** What a look at an App's deliveries comes to. */
export interface Backfill {
  /** An attempt of each webhook that is to be delivered again now. */
  readonly again: readonly string[];
  /** Webhooks that have not arrived. */
  readonly missing: number;
  /** Webhooks that were refused for good: they are not delivered again. */
  readonly refused: number;
  /** Everything before has arrived, or was refused for good. Milliseconds since the epoch. */
  readonly until: number;
}

type Attempt = Pick<HookDelivery, "id" | "guid" | "deliveredAt" | "redelivery" | "statusCode">;

const arrived = ({ statusCode }: Attempt): boolean => statusCode >= 200 && statusCode < 300;

/** From the attempts of an App, in any order. */
export function backfillOf(attempts: readonly Attempt[], now: number): Backfill {
  const again: string[] = [];
  let missing = 0;
  let refused = 0;
  let until = now - graceMillis;
  for (const [, tries] of Map.groupBy(attempts, ({ guid }) => guid)) {
    // Of one whose first attempt is not listed any more, that was too long ago.
    if (tries.some(arrived) || tries.every(({ redelivery }) => redelivery)) continue;
    const times = tries.map(({ deliveredAt }) => deliveredAt.getTime());
    const first = Math.min(...times);
    if (first < now - keptMillis) continue;
    const last = Math.max(...times);
    if (last > now - graceMillis) {
      until = Math.min(until, first);
      continue;
    }
    const [newest] = tries.toSorted((a, b) => b.deliveredAt.getTime() - a.deliveredAt.getTime());
    if (newest?.statusCode === refusedForGood) {
      refused++;
      continue;
    }
    missing++;
    until = Math.min(until, first);
    // The first attempt that failed is GitHub's own: it is asked for again at once.
    const wait = tries.length === 1 ? 0 : Math.min(pause.most, pause.first * 2 ** (tries.length - 2));
    if (last + wait <= now && newest !== undefined) again.push(newest.id);
  }
  return { again: again.slice(0, atOnce), missing, refused, until };
}

/** Has delivered again what did not arrive since `checkedUntil`. Throws a `GitHubError`. */
export async function backfill(
  client: GitHubAppClient,
  {
    checkedUntil,
    now,
    signal,
    assertOwned,
  }: { checkedUntil: number | undefined; now: number; signal: AbortSignal; assertOwned(): void },
): Promise<Backfill> {
  const since = new Date(Math.max(now - keptMillis, checkedUntil ?? 0));
  const attempts: HookDelivery[] = [];
  for await (const delivery of client.deliveries({ since, signal })) attempts.push(delivery);
  const found = backfillOf(attempts, now);
  let failure: GitHubRefusedError | undefined;
  for (const id of found.again) {
    assertOwned();
    try {
      await client.redeliver(id, signal);
    } catch (error) {
      if (!(error instanceof GitHubRefusedError)) throw error;
      // It would be the first one again the next time, and none behind it would ever be asked for.
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return found;
}
