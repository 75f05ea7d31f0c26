/**
 * The user of a kubeconfig: authentication and impersonation.
 * Fields: https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/#AuthInfo
 */
import { z } from "zod";

/** Headers of a request; a list is sent as one header per item. */
export type RequestHeaders = Readonly<Record<string, string | string[]>>;

const text = z.string().min(1).optional();

const impersonation = {
  as: text,
  "as-uid": text,
  "as-groups": z.array(z.string()).optional(),
  "as-user-extra": z.record(z.string(), z.array(z.string())).optional(),
};

/** A user with only certificates and tokens. Strict: any other field means a plugin or a provider. */
export const plainUser = z.strictObject({
  "client-certificate": text,
  "client-certificate-data": text,
  "client-key": text,
  "client-key-data": text,
  token: text,
  tokenFile: text,
  ...impersonation,
});

/** The user fields that `@kubernetes/client-node` ignores. */
export const unreadFields = z.object({ tokenFile: text, ...impersonation });

/** The impersonation fields of a user. */
export type Impersonation = Pick<z.infer<typeof unreadFields>, keyof typeof impersonation>;

/**
 * The impersonation headers: https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/.
 * Throws a `TypeError` for groups, a uid, or extra fields without a user, which the API server rejects.
 */
export function impersonationHeaders(user: Impersonation): RequestHeaders {
  const { as, "as-uid": uid, "as-groups": groups = [], "as-user-extra": extra = {} } = user;
  if (as === undefined) {
    const others = (["as-uid", "as-groups", "as-user-extra"] as const).filter((name) => user[name]);
    if (others.length === 0) return {};
    throw new TypeError(`${others.join(", ")} without as: add the user to impersonate as "as"`);
  }
  return {
    "impersonate-user": encoded(as),
    ...(uid !== undefined && { "impersonate-uid": encoded(uid) }),
    ...(groups.length > 0 && { "impersonate-group": groups.map(encoded) }),
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [
        `impersonate-extra-${escapedName(key)}`,
        values.map(encoded),
      ]),
    ),
  };
}

/** UTF-8, as kubectl sends it: undici writes each character of a header as one byte. */
const encoded = (value: string): string => Buffer.from(value, "utf8").toString("latin1");

/** Header names are tokens (RFC 9110, section 5.6.2); the API server decodes every other byte from `%XX`. */
const escapedName = (key: string): string =>
  [...Buffer.from(key.toLowerCase(), "utf8")]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[!#$&'*+\-.^_`|~0-9a-z]/.test(character)
        ? character
        : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("");
