/**
 * Whether a token is to be made again before its time, because the installation has changed: GitHub says so once, in a
 * webhook, and may not be reached at that time. Until another token was made, the status says that it is due. Pure.
 */
import type { Stored } from "../../bus/kube/object.ts";
import type { Cause } from "../../bus/queue/request.ts";
import type { FoundToken } from "./foundsecret.ts";
import type { Installation } from "./kinds.ts";

/** The time and the causes of a reconcile. */
interface Occasion {
  readonly causes: readonly Cause[];
  now(): number;
}

/** The status has whole seconds. */
const stepMillis = 1000;

/** When a renewal became due that has not succeeded yet: milliseconds since the epoch. */
function dueSince({ status }: Stored<Installation>, now: number): number | undefined {
  const at = Date.parse(status?.refreshAt ?? "");
  return at <= now ? at : undefined;
}

/** Whether another token is to be made at once. Each webhook that a function is woken by may change what a token may do. */
export function isRenewalDue(
  installation: Stored<Installation>,
  { issued }: FoundToken,
  { causes, now }: Occasion,
): boolean {
  if (causes.some(({ type }) => type === "webhook")) return true;
  const since = dueSince(installation, now());
  // A token that is newer is the renewal, whose success is not in the status yet.
  return since !== undefined && since + stepMillis > issued;
}

/** What `status.refreshAt` is while a renewal is due: it stays the same, so that nothing is written for each attempt. */
export const renewalMark = (installation: Stored<Installation>, { now }: Pick<Occasion, "now">): number =>
  dueSince(installation, now()) ?? now();
