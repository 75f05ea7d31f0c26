/**
 * Whether a token is replaced before its time, because the installation or one of its repositories has changed. The webhook
 * comes once, and a reconcile may be blocked at that time. So the change is noted in the status first, and each token carries the
 * last change before it was made. Pure.
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

/** A change that a webhook was about. */
export type Change = NonNullable<NonNullable<Installation["status"]>["change"]>;

/** Webhooks that are recognized when a reconcile is retried. */
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

/** Names the last change; empty before the first one. */
export const changeOf = ({ status }: Pick<Installation, "status">): string => status?.change?.at ?? "";

/** Whether a token was made before the last change, so that its reach is not known any more. */
export const isRenewalDue = (installation: Stored<Installation>, { change }: FoundToken): boolean =>
  change !== changeOf(installation);

/** When the last change was noted: milliseconds since the epoch. */
export const dueSince = ({ status }: Stored<Installation>): number | undefined =>
  status?.change && Date.parse(status.change.at);
