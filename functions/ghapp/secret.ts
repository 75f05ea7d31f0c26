/** The desired Secret of an Installation, and digests to detect changes. Pure. */
import { createHash } from "node:crypto";
import { Secret } from "denrei";
import { canonicalJson } from "denrei/values";
import { type Format, keyOfFormat, typeOfFormat } from "./formats.ts";
import type { Installation } from "./kinds.ts";

/** The kind of a Secret with a token. */
export const TokenSecret = Secret;

/** Annotations of a token's Secret. */
export const annotations = {
  /** When the token expires: RFC 3339, as in ghapp-controller. */
  expires: "ghapp.tsuzu.dev/expired-at",
  issued: "ghapp.tsuzu.dev/issued-at",
  refresh: "ghapp.tsuzu.dev/refresh-at",
  /** Digest of the inputs of the token. */
  request: "ghapp.tsuzu.dev/request-sha256",
  /** The last change of the installation before the token was minted. */
  change: "ghapp.tsuzu.dev/change",
  /** Digest of the content that was written. */
  content: "ghapp.tsuzu.dev/content-sha256",
  /** Names of labels and annotations from the template. */
  fromTemplate: "ghapp.tsuzu.dev/from-template",
} as const;

const reserved = "ghapp.tsuzu.dev/";
const placeholder = "{{token}}";

/** The desired content of a Secret. */
export interface DesiredSecret {
  readonly type: string;
  readonly immutable: boolean;
  readonly data: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A minted token. Times in milliseconds since the epoch. */
export interface IssuedToken {
  readonly token: string;
  readonly issued: number;
  readonly expires: number;
  readonly refresh: number;
  /** The last change of the installation before the token was minted; empty without one. */
  readonly change: string;
  /** The repositories that the token can access, if the Installation names some. */
  readonly repositories?: NonNullable<Installation["status"]>["repositories"];
}

type Spec = Installation["spec"];

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const time = (millis: number): string => new Date(millis).toISOString();

const sha256 = (value: unknown): string => createHash("sha256").update(canonicalJson(value)).digest("base64");

/** The properties of an App that a token depends on. It does not contain the private key, so that a digest reveals nothing about it. */
export interface AppIdentity {
  readonly url: string;
  readonly appID: number;
  readonly keyFingerprint: string;
  /** The App's rules. When they change, a new token is minted and checked. */
  readonly allowed: unknown;
}

/** Digest of all inputs of a token and its Secret. */
export const requestDigest = (app: AppIdentity, spec: Spec): string => sha256({ app, spec });

/**
 * Digest of a Secret's content, to detect modifications. It covers the decoded values, because the API server accepts base64 with
 * line breaks and stores it without.
 */
export const contentDigest = ({
  type,
  immutable,
  data,
}: Pick<DesiredSecret, "type" | "immutable" | "data">): string =>
  sha256({
    type,
    immutable,
    data: mapped(data, (value) => Buffer.from(value, "base64").toString("base64")),
  });

function valuesOf(format: Format, spec: Spec, token: string): Record<string, string> {
  switch (format) {
    case "raw":
      return {};
    case "basic-auth":
      return { username: "x-access-token", [keyOfFormat[format]]: token };
    case "dockerconfigjson": {
      const username = "x-access-token";
      const auth = { username, password: token, auth: base64(`${username}:${token}`) };
      return { [keyOfFormat[format]]: JSON.stringify({ auths: { [spec.registry ?? "ghcr.io"]: auth } }) };
    }
  }
}

/** The Secret with a token. The template's values override the format's, and the token overrides both. */
export function desiredSecret(spec: Spec, app: AppIdentity, issued: IssuedToken): DesiredSecret {
  const { template, format = "raw", key } = spec;
  const texts = {
    // A function, because a replacement string would interpret dollar signs.
    ...mapped(template.stringData ?? {}, (value) => value.replaceAll(placeholder, () => issued.token)),
    ...(key !== undefined && { [key]: issued.token }),
  };
  const data = {
    ...mapped(valuesOf(format, spec, issued.token), base64),
    ...template.data,
    ...mapped(texts, base64),
  };
  const content = {
    type: template.type || typeOfFormat[format],
    immutable: template.immutable ?? false,
    data,
  };
  const { labels = {}, annotations: given = {} } = template.metadata ?? {};
  const kept = Object.fromEntries(Object.entries(given).filter(([name]) => !name.startsWith(reserved)));
  return {
    ...content,
    labels,
    annotations: {
      ...kept,
      [annotations.expires]: time(issued.expires),
      [annotations.issued]: time(issued.issued),
      [annotations.refresh]: time(issued.refresh),
      [annotations.change]: issued.change,
      [annotations.request]: requestDigest(app, spec),
      [annotations.content]: contentDigest(content),
      [annotations.fromTemplate]: JSON.stringify({
        labels: Object.keys(labels),
        annotations: Object.keys(kept),
      }),
    },
  };
}

const mapped = (
  values: Readonly<Record<string, string>>,
  map: (value: string) => string,
): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));

export type { SecretObject } from "denrei";
