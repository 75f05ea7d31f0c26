/**
 * Whether a token is to be made again before its time, because the installation or one of its repositories has changed. GitHub
 * says so once, in a webhook, and something may be in the way at that time. So the change is noted in the status first, and
 * each token has the change that it was made for. Pure.
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

/** A change that GitHub has told of. */
export type Change = NonNullable<NonNullable<Installation["status"]>["change"]>;

/** So many webhooks are known again when a reconcile is tried again. */
const mostDeliveries = 20;

/** The change to note, when the function was woken by a webhook that is not noted yet. */
export function newChange({ status }: Stored<Installation>, { causes, now }: Occasion): Change | undefined {
  const before = status?.change;
  const deliveries = causes.flatMap((cause) => (cause.type === "webhook" ? [cause.delivery] : []));
  if (deliveries.every((delivery) => before?.deliveries.includes(delivery))) return undefined;
  // Never the same one again, whatever the clocks say.
  const at = Math.max(now(), before === undefined ? 0 : Date.parse(before.at) + 1);
  return { at: new Date(at).toISOString(), deliveries: deliveries.slice(0, mostDeliveries) };
}

/** Names the last change that a token has to be newer than; empty before the first one. */
export const changeOf = ({ status }: Pick<Installation, "status">): string => status?.change?.at ?? "";

/** Whether another token is to be made at once: what this one may do is not known any more. */
export const isRenewalDue = (installation: Stored<Installation>, { change }: FoundToken): boolean =>
  change !== changeOf(installation);

/** Since when another token is due that has not been made yet: milliseconds since the epoch. */
export const dueSince = ({ status }: Stored<Installation>): number | undefined =>
  status?.change && Date.parse(status.change.at);
