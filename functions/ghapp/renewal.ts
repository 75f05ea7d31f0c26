/**
 * Decides whether to replace a token early, after a change of the installation or of one of its repositories. The webhook arrives
 * once, possibly in a reconcile that is blocked, so the change is recorded in the status first. Each token records the last change before
 * it was minted. Pure.
 */
import type { Cause, Stored } from "denrei";
import type { StoredToken } from "./existingsecret.ts";
import type { Installation } from "./kinds.ts";

/** Time and causes of a reconcile. */
interface Trigger {
  readonly causes: readonly Cause[];
  now(): number;
}

/** A change that a webhook reported. */
export type Change = NonNullable<NonNullable<Installation["status"]>["change"]>;

/** Number of recorded webhooks, by which a retried reconcile recognizes them. */
const maxDeliveries = 20;

/** The change to record, when the cause is a webhook that is not recorded yet. */
export function newChange({ status }: Stored<Installation>, { causes, now }: Trigger): Change | undefined {
  const before = status?.change;
  const deliveries = causes.flatMap((cause) => (cause.type === "webhook" ? [cause.delivery] : []));
  if (deliveries.every((delivery) => before?.deliveries.includes(delivery))) return undefined;
  // Always later than the previous change, even if a clock is behind.
  const at = Math.max(now(), before === undefined ? 0 : Date.parse(before.at) + 1);
  return { at: new Date(at).toISOString(), deliveries: deliveries.slice(0, maxDeliveries) };
}

/** Identifies the last change; empty before the first one. */
export const changeOf = ({ status }: Pick<Installation, "status">): string => status?.change?.at ?? "";

/** Whether a token was minted before the last change, so that its access is unknown. */
export const isRenewalDue = (installation: Stored<Installation>, { change }: StoredToken): boolean =>
  change !== changeOf(installation);

/** When the last change was recorded, in milliseconds since the epoch. */
export const dueSince = ({ status }: Stored<Installation>): number | undefined =>
  status?.change && Date.parse(status.change.at);
