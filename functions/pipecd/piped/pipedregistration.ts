/**
 * Registers a piped with PipeCD exactly once, and stores its key.
 *
 * Each registration call creates another piped and returns its key only once. If a worker dies before it has written the Secret,
 * the next attempt finds the piped by its name and requests a new key.
 */
import { BlockedError, type Context, type SecretObject, type Stored } from "denrei";
import type { PipedRecord } from "../api/model.ts";
import type { PipecdClient } from "../api/services.ts";
import { retryMillis } from "../intervals.ts";
import { Piped } from "../kinds.ts";
import { announcement } from "../server/announcement.ts";
import { ready } from "../server/dependent.ts";
import { type Former, formerOf, idsOf } from "./formerpipeds.ts";
import {
  hasOlderKeys,
  holderOf,
  type IssuedKey,
  isListed,
  newKeyID,
  pipedIn,
  withoutOlderKeys,
  writeKey,
} from "./keysecret.ts";
import { waitForTurn } from "./registrationorder.ts";

/** The desired registration. */
export type Desired = NonNullable<NonNullable<Piped["status"]>["registered"]>;

/** A registered piped and its key. */
export interface Registered {
  /** The newest version of the object. */
  readonly piped: Stored<Piped>;
  readonly id: string;
  readonly secret: Stored<SecretObject>;
  readonly connection: PipedRecord["connection"];
}

/** Registers the piped or updates its registration, and ensures that the Secret has a valid key. */
export async function register(
  piped: Stored<Piped>,
  secret: Stored<SecretObject> | undefined,
  desired: Desired,
  client: PipecdClient,
  ctx: Context,
): Promise<Registered> {
  const { name, projectID } = desired;
  const records = await client.pipeds.list();
  const find = (id: string | undefined) =>
    records.find((record) => record.id === id && canUpdateTo(record, desired, client));
  const known = find(holderOf(secret));
  if (secret && known && isListed(secret, known)) {
    await refresh(known, desired, client, ctx);
    const kept = await endOlderKeys(secret, known, client, ctx);
    return { piped, id: known.id, secret: kept, connection: known.connection };
  }
  const held = pipedIn(secret, projectID);
  const own = known ?? find(piped.status?.pipedID) ?? find(held?.pipedID);
  const before = await recordHeld(await recordLoss(piped, held, records, desired, ctx), held, own?.id, ctx);
  if (own) return keepIssued(before, own, await adopt(own, desired, client, ctx), secret, client, ctx);
  await adoptableRecord(before, records, desired, ctx);
  await waitForTurn(before, ctx);
  const keyID = newKeyID();
  const registering = { name, projectID, keyID };
  const latest = await ctx.status(Piped, before, { registering }, announcement(describeRegistration(before)));
  await waitForTurn(latest, ctx);
  const found = await adoptableRecord(latest, await client.pipeds.list(), desired, ctx);
  const issued = found ? await adopt(found, desired, client, ctx) : await add(desired, keyID, client, ctx);
  return keepIssued(latest, found, issued, secret, client, ctx);
}

async function keepIssued(
  piped: Stored<Piped>,
  record: PipedRecord | undefined,
  issued: IssuedKey,
  found: Stored<SecretObject> | undefined,
  client: PipecdClient,
  ctx: Context,
): Promise<Registered> {
  const { id } = issued;
  const secret = await writeKey(piped, found, issued, ctx);
  if (!issued.hasOlder) return { piped, id, secret, connection: record?.connection ?? "UNKNOWN" };
  const listed = (await client.pipeds.list()).find((one) => one.id === id);
  if (listed === undefined || !isListed(secret, listed))
    throw new BlockedError(
      "NotListed",
      `expected PipeCD to list the new key of the piped ${id} as its newest one, found another one. The next attempt creates another key.`,
    );
  return {
    piped,
    id,
    secret: await endOlderKeys(secret, listed, client, ctx),
    connection: listed.connection,
  };
}

/** Disables older keys, because a lost key may have leaked. */
async function endOlderKeys(
  secret: Stored<SecretObject>,
  { id, keyIDs }: PipedRecord,
  { pipeds }: PipecdClient,
  ctx: Context,
): Promise<Stored<SecretObject>> {
  if (!hasOlderKeys(secret)) return secret;
  if (keyIDs.length > 1 && pipeds.disableOldKeys) {
    ctx.assertOwned();
    await pipeds.disableOldKeys(id);
    ctx.event("Normal", "KeysRevoked", `PipeCD has disabled the older keys of the piped ${id}`);
  }
  return withoutOlderKeys(secret, ctx);
}

/** Describes the registered piped, from the status. */
export function describeRegistration({ status }: Pick<Piped, "status">): string | undefined {
  if (status?.pipedID === undefined) return undefined;
  const { name, projectID } = status.registered ?? {};
  return `PipeCD has the piped ${status.pipedID}${name === undefined ? "" : `, named ${name}, in the project ${projectID}`}`;
}

/** If only the Secret refers to a piped, adds that piped to `former` before the Secret is overwritten. */
async function recordHeld(
  piped: Stored<Piped>,
  held: Former | undefined,
  id: string | undefined,
  ctx: Context,
): Promise<Stored<Piped>> {
  if (held === undefined || held.pipedID === id || held.pipedID === piped.status?.pipedID) return piped;
  return ctx.status(Piped, piped, { former: formerOf(piped, [held], undefined) });
}

/** Reports if PipeCD has lost the piped. */
async function recordLoss(
  piped: Stored<Piped>,
  held: Former | undefined,
  records: readonly PipedRecord[],
  { projectID }: Desired,
  ctx: Context,
): Promise<Stored<Piped>> {
  if (held?.projectID !== projectID || records.some(({ id }) => id === held.pipedID)) return piped;
  const message = `PipeCD no longer has the piped ${held.pipedID}`;
  ctx.event("Warning", "RegistrationLost", `${message}: registering it again`);
  return ctx.status(Piped, piped, {}, [
    { type: "Registered", status: "False", reason: "RegistrationLost", message },
    ready("False", "RegistrationLost", message),
  ]);
}

/** Reverts changes made in PipeCD, and enables the piped if it was disabled. */
async function refresh(
  { id, disabled, ...record }: PipedRecord,
  { name, description }: Desired,
  { pipeds }: PipecdClient,
  ctx: Context,
): Promise<void> {
  if (disabled) {
    ctx.assertOwned();
    await pipeds.enable(id);
    ctx.event("Normal", "Enabled", `enabled the piped ${id}, which was disabled in PipeCD`);
  }
  if (pipeds.update === undefined || (record.name === name && record.description === description)) return;
  ctx.assertOwned();
  await pipeds.update(id, { name, description });
  ctx.event("Normal", "Updated", `updated the piped ${id} (${name}) in PipeCD`);
}

/**
 * A piped in PipeCD whose key is lost and that this object can adopt: the only one of that name that belongs to no other object.
 * Throws a `BlockedError` if there are several.
 */
async function adoptableRecord(
  { metadata }: Stored<Piped>,
  records: readonly PipedRecord[],
  { name, environmentID }: Desired,
  { live }: Pick<Context, "live">,
): Promise<PipedRecord | undefined> {
  const others = (await live.list(Piped)).filter(({ metadata: { uid } }) => uid !== metadata.uid);
  const taken = new Set(others.flatMap(idsOf));
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
    `expected one piped ${name} in PipeCD, found ${same.length}: ${same.map(({ id }) => id).join(", ")}. Disable the others, or change spec.name.`,
    retryMillis,
  );
}

async function adopt(
  record: PipedRecord,
  desired: Desired,
  client: PipecdClient,
  ctx: Context,
): Promise<IssuedKey> {
  const { id } = record;
  await refresh(record, desired, client, ctx);
  ctx.assertOwned();
  const keyID = newKeyID();
  const key = await client.pipeds.newKey(id, keyID);
  ctx.event("Normal", "Adopted", `adopted the piped ${id}, which PipeCD already had, with a new key`);
  const hasOlder = client.pipeds.disableOldKeys !== undefined;
  return { id, projectID: desired.projectID, key, keyID, hasOlder };
}

async function add(
  { name, description, projectID, environmentID }: Desired,
  keyID: string,
  { pipeds }: PipecdClient,
  ctx: Context,
): Promise<IssuedKey> {
  ctx.assertOwned();
  const environmentIDs = environmentID === undefined ? [] : [environmentID];
  const issued = await pipeds.register({ name, description, environmentIDs, keyID });
  ctx.event("Normal", "Registered", `registered the piped ${name} with PipeCD as ${issued.id}`);
  return { ...issued, projectID, hasOlder: false };
}

/** Whether PipeCD can change a piped of the same project to the desired registration. v0.9.0 cannot change pipeds. */
export const canUpdateTo = (
  { name, environmentIDs }: Pick<PipedRecord, "name" | "environmentIDs">,
  desired: Pick<Desired, "name" | "environmentID">,
  { pipeds }: Pick<PipecdClient, "pipeds">,
): boolean =>
  pipeds.update !== undefined ||
  (name === desired.name &&
    (desired.environmentID === undefined || environmentIDs.includes(desired.environmentID)));
