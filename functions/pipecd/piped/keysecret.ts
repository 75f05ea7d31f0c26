/** The Secret with a piped's key and id. PipeCD returns a key only once, so one write stores both. */
import { randomBytes } from "node:crypto";
import { BlockedError, type Context, controllerOf, Secret, type SecretObject, type Stored } from "denrei";
import type { PipedRecord } from "../api/model.ts";
import { retryMillis } from "../intervals.ts";
import type { Piped } from "../kinds.ts";
import { bytesIn, contentDigest, findSecret } from "../kubernetes/secrets.ts";
import { annotations, secretKeys } from "../names.ts";
import type { Former } from "./formerpipeds.ts";

const { pipedKey } = secretKeys;

/** A key that PipeCD has just created. */
export interface IssuedKey {
  readonly id: string;
  readonly projectID: string;
  readonly key: string;
  /** Undefined if the name under which PipeCD lists it is not unique. */
  readonly keyID: string | undefined;
  /** Whether older keys of the piped are still valid. */
  readonly hasOlder: boolean;
}

/** A unique name under which PipeCD lists one key. */
export const newKeyID = (): string => `denrei-${randomBytes(8).toString("hex")}`;

/** The piped's Secret, if it exists. Throws a `BlockedError` if the Piped does not control it. */
export async function keySecret(
  { metadata: { name, uid } }: Stored<Piped>,
  ctx: Context,
): Promise<Stored<SecretObject> | undefined> {
  const found = await findSecret(name, ctx);
  if (found === undefined || controllerOf(found)?.uid === uid) return found;
  throw new BlockedError(
    "NameTaken",
    `the Secret ${name} exists and is not controlled by this Piped. Denrei never overwrites it: delete it, or create the Piped under another name.`,
    retryMillis,
  );
}

const annotationsOf = (secret: Stored<SecretObject> | undefined) => secret?.metadata.annotations ?? {};
const digestOf = (key: Buffer): string => contentDigest(key.toString());

/** The id of the piped whose key the Secret has; undefined if the key is missing or edited. */
export function holderOf(secret: Stored<SecretObject> | undefined): string | undefined {
  if (secret === undefined) return undefined;
  const key = bytesIn(secret, pipedKey);
  const { [annotations.pipedKeyDigest]: digest = digestOf(key) } = annotationsOf(secret);
  if (key.length === 0 || digest !== digestOf(key)) return undefined;
  return annotationsOf(secret)[annotations.pipedID];
}

/** The piped in the Secret's annotations, even if the key is lost. `projectID` is the default project. */
export function pipedIn(secret: Stored<SecretObject> | undefined, projectID: string): Former | undefined {
  const { [annotations.pipedID]: pipedID, [annotations.pipedProject]: project = projectID } =
    annotationsOf(secret);
  return pipedID === undefined ? undefined : { pipedID, projectID: project };
}

/** Whether older keys of the piped may still be enabled. */
export const hasOlderKeys = (secret: Stored<SecretObject> | undefined): boolean =>
  annotationsOf(secret)[annotations.olderKeys] !== undefined;

/**
 * Whether PipeCD lists the key of the Secret. Before older keys are disabled it has to be the newest one, because PipeCD keeps the
 * newest. True for a key without an id.
 */
export function isListed(secret: Stored<SecretObject>, { keyIDs }: Pick<PipedRecord, "keyIDs">): boolean {
  const { [annotations.pipedKeyID]: keyID } = annotationsOf(secret);
  if (keyID === undefined) return true;
  return hasOlderKeys(secret) ? keyIDs[0] === keyID : keyIDs.includes(keyID);
}

/** Stores a key and its annotations in one write. */
export async function writeKey(
  { metadata: { name } }: Stored<Piped>,
  found: Stored<SecretObject> | undefined,
  { id, projectID, key, keyID, hasOlder }: IssuedKey,
  ctx: Context,
): Promise<Stored<SecretObject>> {
  const content = { data: { [pipedKey]: Buffer.from(key).toString("base64") } };
  const known = {
    [annotations.pipedID]: id,
    [annotations.pipedProject]: projectID,
    [annotations.pipedKeyDigest]: digestOf(Buffer.from(key)),
    ...(keyID !== undefined && { [annotations.pipedKeyID]: keyID }),
    ...(hasOlder && { [annotations.olderKeys]: "revoke" }),
  };
  if (found === undefined) {
    const metadata = { name, annotations: known };
    return ctx.create(Secret, { ...content, type: "Opaque", metadata });
  }
  const former = { [annotations.pipedKeyID]: null, [annotations.olderKeys]: null };
  return ctx.patch(Secret, found, { metadata: { annotations: { ...former, ...known } }, ...content });
}

/** Records that PipeCD has disabled the older keys. */
export const withoutOlderKeys = (secret: Stored<SecretObject>, ctx: Context): Promise<Stored<SecretObject>> =>
  ctx.patch(Secret, secret, { metadata: { annotations: { [annotations.olderKeys]: null } } });
