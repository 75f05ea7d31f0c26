/** The Secret of an Installation as it is found: whose it is, what token is in it, and how it becomes another one. Pure. */
import type { Stored } from "../../bus/kube/object.ts";
import { annotations, contentDigest, type SecretObject, type WantedSecret } from "./secret.ts";

/** When a token is to be refreshed, and ends. Milliseconds since the epoch. */
export interface FoundToken {
  /** The last change of the installation before it was made; empty without one. */
  readonly change: string;
  readonly refresh: number;
  readonly expires: number;
}

/** What a Secret says of its token; undefined where there is none that was made for this wish and is still as it was. */
export function tokenIn(secret: Stored<SecretObject>, digest: string): FoundToken | undefined {
  const { type = "Opaque", immutable = false, data = {} } = secret;
  const noted = secret.metadata.annotations ?? {};
  const [expires, refresh] = [annotations.expires, annotations.refresh].map((name) =>
    Date.parse(noted[name] ?? ""),
  );
  if (noted[annotations.request] !== digest) return undefined;
  if (noted[annotations.content] !== contentDigest({ type, immutable, data })) return undefined;
  if (!Number.isFinite(expires) || !Number.isFinite(refresh)) return undefined;
  return { expires: expires as number, refresh: refresh as number, change: noted[annotations.change] ?? "" };
}

/** Tokens that are in a Secret: what begins like one, in any of its values. */
export function tokensIn({ data = {} }: Stored<SecretObject>): string[] {
  const texts = Object.values(data).map((value) => Buffer.from(value, "base64").toString());
  return [...new Set(texts.flatMap((text) => text.match(/\bghs_[A-Za-z0-9_.-]+/g) ?? []))];
}

/** Whether a Secret can become another one: of what is immutable, and of its type, nothing can be changed. */
export const canBecome = (found: Stored<SecretObject>, wanted: WantedSecret): boolean =>
  found.immutable !== true && !wanted.immutable && (found.type ?? "Opaque") === wanted.type;

/** The merge patch that makes a Secret what is wanted. Labels and annotations of others stay. */
export function patchTo(found: Stored<SecretObject>, wanted: WantedSecret): object {
  const before = templateNames(found);
  const gone = (names: readonly string[], now: object) =>
    Object.fromEntries(names.filter((name) => !Object.hasOwn(now, name)).map((name) => [name, null]));
  return {
    data: { ...gone(Object.keys(found.data ?? {}), wanted.data), ...wanted.data },
    metadata: {
      labels: { ...gone(before.labels, wanted.labels), ...wanted.labels },
      annotations: { ...gone(before.annotations, wanted.annotations), ...wanted.annotations },
    },
  };
}

function templateNames({ metadata }: Stored): { labels: string[]; annotations: string[] } {
  try {
    const { labels, annotations: noted } = JSON.parse(metadata.annotations?.[annotations.fromTemplate] ?? "");
    return { labels: [labels].flat().map(String), annotations: [noted].flat().map(String) };
  } catch {
    return { labels: [], annotations: [] };
  }
}

/** Whether a Secret is that of the Installation: nobody else's is ever written. In those of ghapp-controller the owner is no controller. */
export const isOf = (secret: Stored, owner: Stored): boolean =>
  secret.metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) ?? false;
