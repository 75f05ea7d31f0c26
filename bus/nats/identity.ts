/**
 * Who a connection is. Every user of the bus has a prefix of its own for inboxes, which nobody else may listen to: what
 * is answered to one is not read by another.
 */
import { X509Certificate } from "node:crypto";

/** A user of the bus, as far as its own process knows. */
export interface Identity {
  /** The user's name, for people. */
  readonly user: string;
  /** What its inboxes begin with; the client library's own where the user is not one of the platform's. */
  readonly inboxPrefix: string;
}

/** The account of a NATS server that has JetStream and the roles that configure it. */
export const busAccount = "BUS";

/** What the platform's users are called: the role behind this prefix. */
export const userPrefix = "denrei-";

/** The user of a role. */
export const userOf = (role: string): string => `${userPrefix}${role}`;

/** What the inboxes of a user begin with. */
export const inboxPrefixOf = (user: string): string => `_INBOX_${user}`;

const ours = new RegExp(`^${userPrefix}[a-z0-9-]+$`);

/** The identity of a user; without a name one whom the server knows otherwise, if at all. */
export const identityOf = (user: string | undefined): Identity => ({
  user: user || "this user",
  inboxPrefix: user !== undefined && ours.test(user) ? inboxPrefixOf(user) : "_INBOX",
});

/** The common name of a certificate's subject: the user that a server with `verify_and_map` takes its holder for. */
export const commonName = (pem: string | Buffer): string | undefined =>
  /^CN=(.+)$/m.exec(new X509Certificate(pem).subject)?.[1];
