/** The Secret that holds a piped's key, and whose key it is. PipeCD tells a key once, so both are written at once. */
import { randomBytes } from "node:crypto";
import { Secret, type SecretObject } from "../../../bus/kube/kind.ts";
import { controllerOf, type Stored } from "../../../bus/kube/object.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import type { Context } from "../../../bus/worker/function.ts";
import type { PipedRecord } from "../api/model.ts";
import type { Piped } from "../kinds.ts";
import { bytesIn, contentDigest, findSecret } from "../kubernetes/secrets.ts";
import { annotations, secretKeys } from "../names.ts";
import { patience } from "../pace.ts";
import type { Former } from "./former.ts";

const { pipedKey } = secretKeys;

/** A key that PipeCD has just created. */
export interface IssuedKey {
  readonly id: string;
  readonly projectID: string;
  readonly key: string;
  /** Undefined where PipeCD lists it under a name that other keys have as well. */
  readonly keyID: string | undefined;
  /** Whether older keys of the piped are still valid. */
  readonly hasOlder: boolean;
}

/** A name that PipeCD lists one key under. */
export const newKeyID = (): string => `denrei-${randomBytes(8).toString("hex")}`;

/** The Secret, if there is one. Throws a `BlockedError` when it is somebody else's. */
export async function keySecret(
  { metadata: { name, uid } }: Stored<Piped>,
  ctx: Context,
): Promise<Stored<SecretObject> | undefined> {
  const found = await findSecret(name, ctx);
  if (found === undefined || controllerOf(found)?.uid === uid) return found;
  throw new BlockedError(
    "NameTaken",
    `expected no Secret ${name} that is not this Piped's, found one. It is never overwritten: delete it, or create the Piped under another name.`,
    patience,
  );
}

const annotationsOf = (secret: Stored<SecretObject> | undefined) => secret?.metadata.annotations ?? {};
const digestOf = (key: Buffer): string => contentDigest(key.toString());

/** The id of the piped whose key the Secret holds; undefined when it holds none, or one that was edited. */
export function holderOf(secret: Stored<SecretObject> | undefined): string | undefined {
  if (secret === undefined) return undefined;
  const key = bytesIn(secret, pipedKey);
  const { [annotations.pipedKeyDigest]: digest = digestOf(key) } = annotationsOf(secret);
  if (key.length === 0 || digest !== digestOf(key)) return undefined;
  return annotationsOf(secret)[annotations.pipedID];
}

/** The piped that the Secret names, even if the key is lost. It is in `projectID` unless the Secret names another project. */
export function pipedIn(secret: Stored<SecretObject> | undefined, projectID: string): Former | undefined {
  const { [annotations.pipedID]: pipedID, [annotations.pipedProject]: project = projectID } =
    annotationsOf(secret);
  return pipedID === undefined ? undefined : { pipedID, projectID: project };
}

/** Whether older keys of the piped are still to be ended. */
export const hasOlderKeys = (secret: Stored<SecretObject> | undefined): boolean =>
  annotationsOf(secret)[annotations.olderKeys] !== undefined;

/**
 * Whether PipeCD lists the key of the Secret. While older keys are still valid it has to be the newest one, because PipeCD
 * keeps that one. True for a key without an id.
 */
export function isListed(secret: Stored<SecretObject>, { keyIDs }: Pick<PipedRecord, "keyIDs">): boolean {
  const { [annotations.pipedKeyID]: keyID } = annotationsOf(secret);
  if (keyID === undefined) return true;
  return hasOlderKeys(secret) ? keyIDs[0] === keyID : keyIDs.includes(keyID);
}

/** Stores a key, with all that identifies it, in one write. */
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
    return ctx.create(Secret, { ...content, type: "Opaque", spec: undefined, metadata });
  }
  // A merge patch removes annotations that are null.
  const former = { [annotations.pipedKeyID]: null, [annotations.olderKeys]: null };
  return ctx.patch(Secret, found, { metadata: { annotations: { ...former, ...known } }, ...content });
}

/** Records that PipeCD has ended the older keys. */
export const withoutOlderKeys = (secret: Stored<SecretObject>, ctx: Context): Promise<Stored<SecretObject>> =>
  ctx.patch(Secret, secret, { metadata: { annotations: { [annotations.olderKeys]: null } } });
