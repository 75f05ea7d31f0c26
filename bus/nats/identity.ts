/**
 * The identity of a connection. Every user of the bus has its own inbox prefix, to which only that user may subscribe, so
 * users cannot read each other's responses.
 */
import { X509Certificate } from "node:crypto";

/** A user of the bus, as its own process sees it. */
export interface Identity {
  /** Name of the user, for messages. */
  readonly user: string;
  /** Prefix of its inboxes. Users that do not belong to the platform have the client library's default. */
  readonly inboxPrefix: string;
}

/** The account of a NATS server that has JetStream and the roles that configure it. */
export const busAccount = "BUS";

/** Prefix of the platform's users, followed by their role. */
export const userPrefix = "denrei-";

/** The name of a role's user. */
export const userOf = (role: string): string => `${userPrefix}${role}`;

/** The inbox prefix of a user. */
export const inboxPrefixOf = (user: string): string => `_INBOX_${user}`;

const platformUser = new RegExp(`^${userPrefix}[a-z0-9-]+$`);

/** The identity of a user. Without a name, the server may still know the user by other means. */
export const identityOf = (user: string | undefined): Identity => ({
  user: user || "this user",
  inboxPrefix: user !== undefined && platformUser.test(user) ? inboxPrefixOf(user) : "_INBOX",
});

/** The common name of a certificate's subject. A server with `verify_and_map` uses it as the user name. */
export const commonName = (pem: string | Buffer): string | undefined =>
  /^CN=(.+)$/m.exec(new X509Certificate(pem).subject)?.[1];
