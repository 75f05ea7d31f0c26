/**
 * Requests redelivery of missed webhooks. GitHub delivers each webhook once, lists the attempts for three days, and redelivers only
 * on request. https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries
 */
import { type GitHubAppClient, GitHubRefusedError, type HookDelivery, refusedForGood } from "denrei/github";
import { minutes } from "denrei/values";

/** GitHub redelivers webhooks up to this age. */
const keptMillis = minutes(3 * 24 * 60);
/** A recent attempt may still be in progress. */
const graceMillis = 30_000;
/** Pauses between requested attempts of a webhook, doubled each time. */
const pause = { first: minutes(5), most: minutes(6 * 60) };
/** Maximum number of requested redeliveries per reconcile. */
const batchLimit = 100;

/** Evaluation of an App's deliveries. */
export interface Backfill {
  /** The newest attempt of each webhook to redeliver now. */
  readonly toRedeliver: readonly string[];
  /** Number of webhooks that have not arrived. */
  readonly missing: number;
  /** Number of webhooks that the gateway refused permanently. They are not redelivered. */
  readonly refused: number;
  /** All earlier webhooks have arrived or were refused permanently. Milliseconds since the epoch. */
  readonly until: number;
}

type Attempt = Pick<HookDelivery, "id" | "guid" | "deliveredAt" | "redelivery" | "statusCode">;

const arrived = ({ statusCode }: Attempt): boolean => statusCode >= 200 && statusCode < 300;

/** Evaluates the attempts of an App, in any order. */
export function backfillOf(attempts: readonly Attempt[], now: number): Backfill {
  const toRedeliver: string[] = [];
  let missing = 0;
  let refused = 0;
  let until = now - graceMillis;
  for (const [, tries] of Map.groupBy(attempts, ({ guid }) => guid)) {
    // If the list lacks the first attempt, the webhook is too old.
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
    // Request a redelivery at once after GitHub's own attempt failed.
    const wait = tries.length === 1 ? 0 : Math.min(pause.most, pause.first * 2 ** (tries.length - 2));
    if (last + wait <= now && newest !== undefined) toRedeliver.push(newest.id);
  }
  return { toRedeliver: toRedeliver.slice(0, batchLimit), missing, refused, until };
}

/** Requests redelivery of webhooks missed since `checkedUntil`. Throws a `GitHubError`. */
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
  for (const id of found.toRedeliver) {
    assertOwned();
    try {
      await client.redeliver(id, signal);
    } catch (error) {
      if (!(error instanceof GitHubRefusedError)) throw error;
      // Continue with the others: the next reconcile would start with this one again.
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return found;
}
