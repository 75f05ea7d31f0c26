/** Decides whether a piped needs a call to PipeCD, and registers it if so. */
import { isDeepStrictEqual } from "node:util";
import type { Stored } from "../../../bus/kube/object.ts";
import type { Context } from "../../../bus/worker/function.ts";
import type { ControlPlane, Piped } from "../kinds.ts";
import { driftMillis } from "../pace.ts";
import type { Profile } from "../profile.ts";
import { assertReady, isSyncDue, planeFor } from "../server/dependent.ts";
import { openServer } from "../server/open.ts";
import { rememberBegun } from "./former.ts";
import { hasOlderKeys, holderOf, keySecret } from "./keysecret.ts";
import { type Registered, register, type Wanted } from "./registration.ts";
import { profileOfPiped, wantedOf } from "./wanted.ts";

/** Sync interval. PipeCD reports a piped as connected about a minute late, so Denrei polls each minute until then. Milliseconds. */
export const againMillis = ({ connection }: NonNullable<Piped["status"]>): number =>
  connection === "ONLINE" ? driftMillis : 60_000;

/** A registered piped. */
export interface Known {
  readonly plane: Stored<ControlPlane>;
  readonly profile: Profile;
  readonly wanted: Wanted;
  readonly registered: Registered;
  /** Time of the sync; undefined if none was due. Milliseconds since the epoch. */
  readonly synced: number | undefined;
}

/** Throws a `WaitingError` or `BlockedError` while something that it depends on is missing. */
export async function known(piped: Stored<Piped>, ctx: Context): Promise<Known> {
  const plane = await planeFor(piped, ctx);
  const profile = profileOfPiped(piped, plane);
  const wanted = await wantedOf(piped, profile, ctx);
  const secret = await keySecret(piped, ctx);
  const { status = {} } = piped;
  const last = status.registered;
  const now = ctx.now();
  const held = holderOf(secret);
  const isAsWanted =
    held !== undefined &&
    held === status.pipedID &&
    isDeepStrictEqual(last, wanted) &&
    status.registering === undefined &&
    !hasOlderKeys(secret);
  if (secret && isAsWanted && !isSyncDue(status, plane, now, againMillis(status))) {
    const registered = { piped, id: held, secret, connection: status.connection ?? "UNKNOWN" } as const;
    return { plane, profile, wanted, registered, synced: undefined };
  }
  assertReady(plane);
  const client = await openServer(plane, piped.spec, ctx);
  const latest = await rememberBegun(piped, wanted, plane, ctx);
  const registered = await register(latest, secret, wanted, client, ctx);
  return { plane, profile, wanted, registered, synced: now };
}
