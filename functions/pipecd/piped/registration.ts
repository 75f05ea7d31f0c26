/**
 * How a piped comes to be known at PipeCD, once, with a key that is kept.
 *
 * Registering makes one more each time and tells its key this once. So whoever dies between that and the writing of the Secret
 * leaves one behind that nobody has the key of; the next try finds it by its name and has a new key made.
 */
import type { SecretObject } from "../../../bus/kube/kind.ts";
import { Secret } from "../../../bus/kube/kind.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import type { Context } from "../../../bus/worker/function.ts";
import type { PipedRecord } from "../api/model.ts";
import type { PipecdClient } from "../api/services.ts";
import { Piped } from "../kinds.ts";
import { patience } from "../pace.ts";
import { announcement } from "../server/registering.ts";
import { holderOf, writeKey } from "./keysecret.ts";
import { awaitTurn } from "./turn.ts";

/** What PipeCD is to know of a piped. */
export type Wanted = NonNullable<NonNullable<Piped["status"]>["registered"]>;

/** A piped that is known, and its key. */
export interface Registered {
  /** The newest version of the object. */
  readonly piped: Stored<Piped>;
  readonly id: string;
  readonly secret: Stored<SecretObject>;
  readonly connection: PipedRecord["connection"];
}

/** Sees to it that PipeCD knows the piped as it is wanted, and that its key is kept. */
export async function register(
  piped: Stored<Piped>,
  secret: Stored<SecretObject> | undefined,
  wanted: Wanted,
  client: PipecdClient,
  ctx: Context,
): Promise<Registered> {
  const records = await client.pipeds.list();
  const held = holderOf(secret);
  const known = records.find(({ id }) => id === held);
  if (secret && known) {
    await refresh(known, wanted, client, ctx);
    return { piped, id: known.id, secret, connection: known.connection };
  }
  if (held)
    ctx.event(
      "Warning",
      "RegistrationLost",
      `PipeCD does not know the piped ${held} any more: it is registered anew`,
    );
  const own = records.find(({ id }) => id === piped.status?.pipedID);
  if (own) return keepIssued(piped, own, await adopt(own, wanted, client, ctx), secret, ctx);
  await adoptable(piped, records, wanted, ctx);
  await awaitTurn(piped, ctx);
  const latest = await ctx.status(Piped, piped, {}, announcement);
  await awaitTurn(latest, ctx);
  const found = await adoptable(latest, await client.pipeds.list(), wanted, ctx);
  const issued = found ? await adopt(found, wanted, client, ctx) : await add(wanted, client, ctx);
  return keepIssued(latest, found, issued, secret, ctx);
}

async function keepIssued(
  piped: Stored<Piped>,
  record: PipedRecord | undefined,
  issued: { readonly id: string; readonly key: string },
  found: Stored<SecretObject> | undefined,
  ctx: Context,
): Promise<Registered> {
  const secret = await writeKey(piped, found, issued, ctx);
  return { piped, id: issued.id, secret, connection: record?.connection ?? "UNKNOWN" };
}

/** Somebody may have changed or disabled it. */
async function refresh(
  { id, disabled, ...record }: PipedRecord,
  { name, description }: Wanted,
  { pipeds }: PipecdClient,
  ctx: Context,
): Promise<void> {
  if (disabled) {
    ctx.assertOwned();
    await pipeds.enable(id);
    ctx.event("Normal", "Enabled", `the piped ${id} was disabled at PipeCD, and is enabled again`);
  }
  if (pipeds.update === undefined || (record.name === name && record.description === description)) return;
  ctx.assertOwned();
  await pipeds.update(id, { name, description });
  ctx.event("Normal", "Updated", `PipeCD knows the piped ${id} as ${name} now`);
}

/**
 * The piped that is this one, though nobody has its key: the only one of that name that is no other object's. Throws a
 * `BlockedError` when there are several.
 */
async function adoptable(
  { metadata }: Stored<Piped>,
  records: readonly PipedRecord[],
  { name, environmentID }: Wanted,
  { live }: Pick<Context, "live">,
): Promise<PipedRecord | undefined> {
  const others = (await live.list(Piped)).filter(({ metadata: { uid } }) => uid !== metadata.uid);
  const taken = new Set(others.map((other) => other.status?.pipedID));
  const same = records.filter(
    (record) =>
      record.name === name &&
      !record.disabled &&
      !taken.has(record.id) &&
      (environmentID === undefined || record.environmentIDs.includes(environmentID)),
  );
  if (same.length <= 1) return same[0];
  throw new BlockedError(
    "Ambiguous",
    `expected one piped ${name} at PipeCD, found ${same.length}: ${same.map(({ id }) => id).join(", ")}. Disable those that are not this one, or give this one another name.`,
    patience,
  );
}

async function adopt(
  record: PipedRecord,
  wanted: Wanted,
  client: PipecdClient,
  ctx: Context,
): Promise<{ readonly id: string; readonly key: string }> {
  await refresh(record, wanted, client, ctx);
  ctx.assertOwned();
  const key = await client.pipeds.newKey(record.id);
  ctx.event("Normal", "Adopted", `PipeCD had the piped ${record.id} already, and has made a new key for it`);
  return { id: record.id, key };
}

async function add(
  { name, description, environmentID }: Wanted,
  { pipeds }: PipecdClient,
  ctx: Context,
): Promise<{ readonly id: string; readonly key: string }> {
  ctx.assertOwned();
  const environmentIDs = environmentID === undefined ? [] : [environmentID];
  const issued = await pipeds.register({ name, description, environmentIDs });
  ctx.event("Normal", "Registered", `PipeCD knows the piped ${name} as ${issued.id}`);
  return issued;
}

/** Whether one that was registered can become what is wanted, or has to make way for another one. */
export const canBecome = (last: Wanted, wanted: Wanted, client: Pick<PipecdClient, "pipeds">): boolean =>
  last.projectID === wanted.projectID &&
  (client.pipeds.update !== undefined ||
    (last.name === wanted.name && last.environmentID === wanted.environmentID));

/** Ends one that makes way. `client` is of its project. */
export async function retire(
  piped: Stored<Piped>,
  secret: Stored<SecretObject> | undefined,
  client: PipecdClient,
  ctx: Context,
): Promise<Stored<Piped>> {
  const id = holderOf(secret) ?? piped.status?.pipedID;
  if (id !== undefined && (await client.pipeds.list()).some((record) => record.id === id)) {
    ctx.assertOwned();
    await client.pipeds.disable(id);
    ctx.event("Normal", "Retired", `the piped ${id} is disabled: this version of PipeCD can not change it`);
  }
  if (secret) await ctx.delete(Secret, secret);
  // A merge patch takes away what is null.
  const gone = { pipedID: null, registered: null, environmentID: null } as object;
  return ctx.status(Piped, piped, gone);
}
