/** Signature schemes: how a request shows that its sender knows the secret of a webhook. */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { minutes } from "../values/durations.ts";

/** Verifies a body as it arrives, so that a long one causes no delay at its end. */
export interface SignatureCheck {
  update(chunk: Buffer): void;
  /** Whether one of the secrets fits. Takes the same time, whichever matches. */
  matches(): boolean;
}

/** How requests are signed. {@link signatures} makes them. */
export interface SignatureScheme {
  /** The answer to a request with no or another signature: what to do, and nothing about existing hooks and secrets. */
  readonly refusal: string;
  /** Random secrets for hooks without one, so that their check takes as long as any other. */
  readonly decoys: readonly string[];
  /** Why a line in a file of secrets cannot be used; undefined if it can. Must not quote the line. */
  problemOf(secret: string): string | undefined;
  /** Starts a check; undefined if the headers have no valid signature. `now` in milliseconds since the epoch. */
  check(headers: IncomingHttpHeaders, secrets: readonly string[], now: number): SignatureCheck | undefined;
}

/** Options of {@link signatures.hmac}. */
export interface HmacOptions {
  /** The header with the signature. */
  readonly header: string;
  /** Default: `sha256`. */
  readonly algorithm?: "sha256" | "sha512";
  /** Default: `hex`. */
  readonly encoding?: "hex" | "base64";
  /** What precedes the signature in the header, such as `sha256=`. Default: nothing. */
  readonly prefix?: string;
}

const digestBytes = { sha256: 32, sha512: 64 } as const;
const usable = (): undefined => undefined;

/** An HMAC of the raw body. */
function hmac({ header, algorithm = "sha256", encoding = "hex", prefix = "" }: HmacOptions): SignatureScheme {
  return {
    refusal: `invalid signature in ${header}: sign with the secret of this webhook`,
    decoys: [randomBytes(32).toString("hex")],
    problemOf: usable,
    check(headers, secrets) {
      const text = headerOf(headers, header);
      const hasPrefix = text.toLowerCase().startsWith(prefix.toLowerCase());
      const claimed = hasPrefix ? decoded(text.slice(prefix.length), encoding) : undefined;
      if (claimed?.length !== digestBytes[algorithm]) return undefined;
      return macCheck(
        secrets.map((secret) => createHmac(algorithm, secret)),
        [claimed],
      );
    },
  };
}

/**
 * The secret itself, in a header. It is compared in constant time, but nothing protects the body: use it only where the sender
 * supports nothing else, and only over TLS.
 */
function token({ header }: { readonly header: string }): SignatureScheme {
  return {
    refusal: `invalid ${header}: send the secret of this webhook`,
    decoys: [randomBytes(32).toString("hex")],
    problemOf: usable,
    check(headers, secrets) {
      const claimed = headerOf(headers, header);
      if (claimed === "") return undefined;
      // Digests have the same length, whatever the texts are.
      const key = randomBytes(32);
      const digest = (text: string | Buffer) => createHmac("sha256", key).update(text).digest();
      // Node reads headers as Latin-1, and files of secrets are UTF-8.
      const found = digest(Buffer.from(claimed, "latin1"));
      let matches = false;
      for (const secret of secrets) matches = timingSafeEqual(digest(secret), found) || matches;
      return { update: () => undefined, matches: () => matches };
    },
  };
}

/** The specification allows keys of 24 to 64 bytes; some senders use longer ones. */
const shortestKeyBytes = 24;
const secretPrefix = "whsec_";
/** How far the time of a request may be from now, as the libraries of Standard Webhooks allow it. */
const toleranceMillis = minutes(5);

const keyIn = (secret: string): Buffer | undefined => {
  const key = decoded(secret.startsWith(secretPrefix) ? secret.slice(secretPrefix.length) : secret, "base64");
  return key !== undefined && key.length >= shortestKeyBytes ? key : undefined;
};

/**
 * Standard Webhooks: an HMAC of the id, the time, and the body, so that an old request cannot be sent again. The header can have
 * several signatures while the sender rotates its secret. Only the symmetric `v1` is supported.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
function standard(): SignatureScheme {
  return {
    refusal:
      "invalid signature in webhook-signature: sign webhook-id, webhook-timestamp (within 5 minutes of now), and the body with the secret of this webhook",
    decoys: [`${secretPrefix}${randomBytes(32).toString("base64")}`],
    problemOf: (secret) =>
      keyIn(secret) === undefined
        ? `expected ${secretPrefix} and at least ${shortestKeyBytes} bytes in base64, found other text`
        : undefined,
    check(headers, secrets, now) {
      const id = headerOf(headers, "webhook-id");
      const timestamp = headerOf(headers, "webhook-timestamp");
      const claimed = headerOf(headers, "webhook-signature")
        .split(" ")
        .flatMap((text) => (text.startsWith("v1,") ? (decoded(text.slice(3), "base64") ?? []) : []))
        .filter(({ length }) => length === digestBytes.sha256);
      const isRecent =
        /^\d{1,12}$/.test(timestamp) && Math.abs(now - Number(timestamp) * 1000) <= toleranceMillis;
      if (id === "" || !isRecent || claimed.length === 0) return undefined;
      const keys = secrets.flatMap((secret) => keyIn(secret) ?? []);
      const head = Buffer.from(`${id}.${timestamp}.`, "latin1");
      return macCheck(
        keys.map((key) => createHmac("sha256", key).update(head)),
        claimed,
      );
    },
  };
}

/**
 * Several schemes: `of` says which one a secret is for, by its index. A request is accepted if one of its signatures is valid, so a
 * sender can change the scheme without a gap.
 */
function anyOf(schemes: readonly SignatureScheme[], of: (secret: string) => number): SignatureScheme {
  return {
    refusal: schemes.map(({ refusal }) => refusal).join("; or "),
    decoys: schemes.flatMap(({ decoys }) => decoys),
    problemOf: (secret) => schemes[of(secret)]?.problemOf(secret),
    check(headers, secrets, now) {
      const checks = schemes.flatMap(
        (scheme, at) =>
          scheme.check(
            headers,
            secrets.filter((secret) => of(secret) === at),
            now,
          ) ?? [],
      );
      if (checks.length === 0) return undefined;
      return {
        update(chunk) {
          for (const check of checks) check.update(chunk);
        },
        matches() {
          let found = false;
          for (const check of checks) found = check.matches() || found;
          return found;
        },
      };
    },
  };
}

/** The signature schemes that a provider can have. */
export const signatures = { hmac, token, standard, anyOf } as const;

/** Whether a secret is one of Standard Webhooks, by its prefix. */
export const isStandardSecret = (secret: string): boolean => secret.startsWith(secretPrefix);

const headerOf = (headers: IncomingHttpHeaders, name: string): string =>
  String(headers[name.toLowerCase()] ?? "");

/** Bytes of exactly this encoding; undefined for other text, of which Node would decode a part. */
function decoded(text: string, encoding: "hex" | "base64"): Buffer | undefined {
  const bytes = Buffer.from(text, encoding);
  const again = bytes.toString(encoding);
  return again === (encoding === "hex" ? text.toLowerCase() : text) && text !== "" ? bytes : undefined;
}

function macCheck(
  macs: readonly ReturnType<typeof createHmac>[],
  claimed: readonly Buffer[],
): SignatureCheck {
  return {
    update(chunk) {
      for (const mac of macs) mac.update(chunk);
    },
    matches() {
      let found = false;
      for (const mac of macs) {
        const digest = mac.digest();
        for (const one of claimed) found = timingSafeEqual(digest, one) || found;
      }
      return found;
    },
  };
}
