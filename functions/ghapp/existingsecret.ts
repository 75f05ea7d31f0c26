/** The existing Secret of an Installation: its owner, its token, and the patch to update it. Pure. */
import type { Stored } from "denrei";
import { annotations, contentDigest, type DesiredSecret, type SecretObject } from "./secret.ts";

/** Times of the stored token. Milliseconds since the epoch. */
export interface StoredToken {
  /** The last change of the installation before the token was minted; empty without one. */
  readonly change: string;
  readonly refresh: number;
  readonly expires: number;
}

/** The token of a Secret; undefined when it was minted for another request, or the Secret was modified. */
export function tokenIn(secret: Stored<SecretObject>, digest: string): StoredToken | undefined {
  const { type = "Opaque", immutable = false, data = {} } = secret;
  const stored = secret.metadata.annotations ?? {};
  const [expires, refresh] = [annotations.expires, annotations.refresh].map((name) =>
    Date.parse(stored[name] ?? ""),
  );
  if (stored[annotations.request] !== digest) return undefined;
  if (stored[annotations.content] !== contentDigest({ type, immutable, data })) return undefined;
  if (!Number.isFinite(expires) || !Number.isFinite(refresh)) return undefined;
  return { expires: expires as number, refresh: refresh as number, change: stored[annotations.change] ?? "" };
}

/** Tokens in a Secret: text with the prefix of tokens, in any of its values. */
export function tokensIn({ data = {} }: Stored<SecretObject>): string[] {
  const texts = Object.values(data).map((value) => Buffer.from(value, "base64").toString());
  return [...new Set(texts.flatMap((text) => text.match(/\bghs_[A-Za-z0-9_.-]+/g) ?? []))];
}

/** Whether a Secret can be patched: immutable Secrets, and the type of a Secret, cannot be changed. */
export const canBecome = (found: Stored<SecretObject>, desired: DesiredSecret): boolean =>
  found.immutable !== true && !desired.immutable && (found.type ?? "Opaque") === desired.type;

/** The merge patch to the desired Secret. It keeps labels and annotations that others set. */
export function patchTo(found: Stored<SecretObject>, desired: DesiredSecret): object {
  const before = templateNames(found);
  const gone = (names: readonly string[], now: object) =>
    Object.fromEntries(names.filter((name) => !Object.hasOwn(now, name)).map((name) => [name, null]));
  return {
    data: { ...gone(Object.keys(found.data ?? {}), desired.data), ...desired.data },
    metadata: {
      labels: { ...gone(before.labels, desired.labels), ...desired.labels },
      annotations: { ...gone(before.annotations, desired.annotations), ...desired.annotations },
    },
  };
}

function templateNames({ metadata }: Stored): { labels: string[]; annotations: string[] } {
  try {
    const { labels, annotations: stored } = JSON.parse(
      metadata.annotations?.[annotations.fromTemplate] ?? "",
    );
    return { labels: [labels].flat().map(String), annotations: [stored].flat().map(String) };
  } catch {
    return { labels: [], annotations: [] };
  }
}

/** Whether the Installation owns a Secret. Accepts owner references of ghapp-controller, which do not set `controller`. */
export const isOf = (secret: Stored, owner: Stored): boolean =>
  secret.metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) ?? false;
