/**
 * Leases for scopes: one per scope, or one shared by many. A kind that is watched in opted-in namespaces has one lease
 * for all of them: with one lease each, a thousand namespaces would cost the bus 1,400 writes per second.
 */
import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { KV } from "@nats-io/kv";
import { defaultLease, holdLease, type LeaseOptions, type LeaseTimes } from "./lease.ts";

/** Work that needs a lease. */
export type Tenant = Required<Pick<LeaseOptions, "signal" | "lead" | "onError" | "onStandby">> &
  Pick<LeaseOptions, "asideMillis">;

/** A lease that scopes can join. */
export interface Lease {
  readonly key: string;
  /** Resolves when the tenant's signal has aborted and its lead has ended. The last tenant gives the lease back. */
  join(tenant: Tenant): Promise<void>;
}

/** The key and the holder of a lease. */
export interface NamedLeaseOptions {
  readonly kv: KV;
  readonly key: string;
  /** Unique among the candidates; without spaces. */
  readonly holder: string;
  readonly times?: LeaseTimes | undefined;
}

/** Opens a lease for one tenant. If its lead throws, the lease is given back so that another replica can try. */
export const ownLease = ({ kv, key, holder, times = defaultLease }: NamedLeaseOptions): Lease => ({
  key,
  join: (tenant) => holdLease({ kv, key, holder, times, ...tenant }),
});

/** The time from taking a lease to losing it. */
interface Term {
  readonly held: AbortSignal;
  readonly assertHeld: () => void;
}

/**
 * Opens a lease for any number of tenants. It is held or waited for while it has tenants. A lead that throws restarts
 * after a pause: giving the lease back would restart the other tenants as well.
 */
export function sharedLease({ kv, key, holder, times = defaultLease }: NamedLeaseOptions): Lease {
  const tenants = new Set<Tenant>();
  const leads = new Set<Promise<void>>();
  const terms = new EventEmitter().setMaxListeners(0);
  let term: Term | undefined;
  let giveBack: (() => Promise<void>) | undefined;

  /** Holds the lease, or waits for it, until the returned function is called. */
  function hold(): () => Promise<void> {
    const stopping = new AbortController();
    const done = holdLease({
      ...{ kv, key, holder, times },
      signal: stopping.signal,
      async lead(held, assertHeld) {
        const lost = once(held, "abort");
        term = { held, assertHeld };
        terms.emit("begun");
        if (!held.aborted) await lost;
        // Give the lease back only after all leads have ended, so that no other replica publishes before.
        await Promise.all(leads);
      },
      onError(error) {
        for (const { onError } of tenants) onError(error);
      },
      onStandby() {
        for (const { onStandby } of tenants) onStandby();
      },
    });
    return async () => {
      stopping.abort();
      await done;
    };
  }

  async function runLead({ signal, lead, onError }: Tenant, { held, assertHeld }: Term): Promise<void> {
    const run = lead(AbortSignal.any([held, signal]), assertHeld).catch((error: unknown) => {
      if (!signal.aborted) onError(error);
    });
    leads.add(run);
    await run;
    leads.delete(run);
  }

  return {
    key,
    async join(tenant) {
      const { signal } = tenant;
      tenants.add(tenant);
      giveBack ??= hold();
      while (!signal.aborted) {
        if (term === undefined || term.held.aborted) {
          await once(terms, "begun", { signal }).catch(() => undefined);
          continue;
        }
        await runLead(tenant, term);
        const pause = times.renewMillis * (0.8 + 0.4 * Math.random());
        await sleep(pause, undefined, { signal }).catch(() => undefined);
      }
      tenants.delete(tenant);
      if (tenants.size > 0) return;
      const giveBackNow = giveBack;
      giveBack = undefined;
      await giveBackNow?.();
    },
  };
}
