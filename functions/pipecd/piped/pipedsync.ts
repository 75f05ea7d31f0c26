/** Decides whether a piped needs a call to PipeCD, and registers it if so. */
import { isDeepStrictEqual } from "node:util";
import type { Context, Stored } from "denrei";
import { minute, syncMillis } from "../intervals.ts";
import type { ControlPlane, Piped } from "../kinds.ts";
import type { Profile } from "../profile.ts";
import { assertReady, isSyncDue, planeFor } from "../server/dependent.ts";
import { openServer } from "../server/openserver.ts";
import { desiredOf, profileOfPiped } from "./desiredpiped.ts";
import { recordInterrupted } from "./formerpipeds.ts";
import { hasOlderKeys, holderOf, keySecret } from "./keysecret.ts";
import { type Desired, type Registered, register } from "./pipedregistration.ts";

/** Sync interval. PipeCD reports a piped as connected about a minute late, so Denrei polls each minute until then. Milliseconds. */
export const syncMillisOf = ({ connection }: NonNullable<Piped["status"]>): number =>
  connection === "ONLINE" ? syncMillis : minute;

/** A registered piped. */
export interface KnownPiped {
  readonly plane: Stored<ControlPlane>;
  readonly profile: Profile;
  readonly desired: Desired;
  readonly registered: Registered;
  /** Time of the sync; undefined if none was due. Milliseconds since the epoch. */
  readonly synced: number | undefined;
}

/** Throws a `WaitingError` or `BlockedError` while something that it depends on is missing. */
export async function ensureRegistered(piped: Stored<Piped>, ctx: Context): Promise<KnownPiped> {
  const plane = await planeFor(piped, ctx);
  const profile = profileOfPiped(piped, plane);
  const desired = await desiredOf(piped, profile, ctx);
  const secret = await keySecret(piped, ctx);
  const { status = {} } = piped;
  const last = status.registered;
  const now = ctx.now();
  const held = holderOf(secret);
  const isAsDesired =
    held !== undefined &&
    held === status.pipedID &&
    isDeepStrictEqual(last, desired) &&
    status.registering === undefined &&
    !hasOlderKeys(secret);
  if (secret && isAsDesired && !isSyncDue(status, plane, now, syncMillisOf(status))) {
    const registered = { piped, id: held, secret, connection: status.connection ?? "UNKNOWN" } as const;
    return { plane, profile, desired, registered, synced: undefined };
  }
  assertReady(plane);
  const client = await openServer(plane, piped.spec, ctx);
  const latest = await recordInterrupted(piped, desired, plane, ctx);
  const registered = await register(latest, secret, desired, client, ctx);
  return { plane, profile, desired, registered, synced: now };
}
