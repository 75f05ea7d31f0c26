/** The way of a piped to being known at PipeCD: what there is to wait for, and whether PipeCD has to be asked at all. */
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

/** PipeCD knows that a piped is connected a minute after it is, so until then it is asked each minute. Milliseconds. */
export const againMillis = ({ connection }: NonNullable<Piped["status"]>): number =>
  connection === "ONLINE" ? driftMillis : 60_000;

/** A piped that PipeCD knows. */
export interface Known {
  readonly plane: Stored<ControlPlane>;
  readonly profile: Profile;
  readonly wanted: Wanted;
  readonly registered: Registered;
  /** When PipeCD was asked just now. Milliseconds since the epoch. */
  readonly synced: number | undefined;
}

/** Brings it there. */
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
