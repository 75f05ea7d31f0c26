/** Converts webhooks and reconciles of the bus to history entries, and reads the ids of entries. */
import type { StoredActivity, StoredDelivery } from "denrei/bus";
import type { ReconcileEntry, WebhookEntry } from "../../api/bus.ts";
import { apiCause, apiTime } from "./apivalues.ts";

export function webhookEntry(stored: StoredDelivery): WebhookEntry {
  const { provider, event, type: eventType, delivery, owner, repository, subject, sequence, time } = stored;
  return {
    ...{ type: "webhook", id: `webhook-${sequence}`, at: apiTime(Date.parse(time)) },
    ...{ provider, event, eventType, delivery, subject },
    repository: [owner, repository].filter(Boolean).join("/"),
  };
}

export const reconcileId = ({ fn, sequence }: Pick<StoredActivity, "fn" | "sequence">): string =>
  `reconcile-${fn}-${sequence}`;

export function reconcileEntry(stored: StoredActivity): ReconcileEntry {
  const { fn, key, record } = stored;
  const { group, kind, replica, attempt, waitedMillis, tookMillis, outcome, moreCauses, moreWrites } = record;
  return {
    ...{ type: "reconcile", id: reconcileId(stored), at: apiTime(record.startedAt), function: fn },
    object: { group, kind, ...key },
    ...{ replica, attempt, waitedMillis, tookMillis, outcome, moreCauses, moreWrites },
    causes: record.causes.map(apiCause),
    nextInMillis: record.nextInMillis ?? null,
    error: record.error ?? null,
    writes: record.writes.map(({ verb, resourceVersion, ...object }) => ({ verb, object, resourceVersion })),
  };
}

/** An entry by its id. */
export type EntryPosition =
  | { readonly type: "webhook"; readonly sequence: number }
  | { readonly type: "reconcile"; readonly function: string; readonly sequence: number };

/** Reads the id of a webhook or a reconcile; undefined for other text. */
export function entryPosition(id: string): EntryPosition | undefined {
  const [, type, fn, digits] = /^(webhook|reconcile)(?:-([a-z0-9-]+))?-(\d{1,15})$/.exec(id) ?? [];
  const sequence = Number(digits);
  if (type === "webhook" && fn === undefined) return { type, sequence };
  return type === "reconcile" && fn !== undefined ? { type, function: fn, sequence } : undefined;
}
