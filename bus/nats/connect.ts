/** Connects to NATS. Errors name the server and suggest a fix. */

import { readFile } from "node:fs/promises";
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import {
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  errors,
  type NatsConnection,
} from "@nats-io/transport-node";
import { type busSettings, ConfigError, type Settings } from "../config/config.ts";
import { redacted } from "../values/redact.ts";
import { commonName, type Identity, identityOf } from "./identity.ts";
import { askingThrough, type Inbox, openInbox } from "./inbox.ts";
import { BusPermissionError, withUser } from "./permissionerror.ts";
import { openPublishBacklog, type PublishBacklog } from "./publishbacklog.ts";
import { readServerInfo } from "./serverinfo.ts";

/** A connection and its JetStream clients. */
export interface Bus {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly kvm: Kvm;
  readonly inbox: Inbox;
  readonly identity: Identity;
  readonly stuck: PublishBacklog;
}

/** How to reach the bus. */
export interface BusAddress {
  /** Comma-separated `nats://` or `tls://` URLs. The first one with `user:password@` or `token@` sets the credentials. */
  readonly url: string;
  /** Name that the server shows to operators, such as `denrei-worker`. */
  readonly name: string;
  /** Credentials file (JWT and seed), if the server requires one. */
  readonly credentials?: string | undefined;
  /** CA certificate file for `tls://`. */
  readonly ca?: string | undefined;
  /** Client certificate and key files. Read again at every reconnect, because certificates are renewed. */
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  /** Timeout of the first connection, in milliseconds. */
  readonly timeoutMillis?: number | undefined;
}

/** Reads the address of the bus from settings. */
export const busAddress = (settings: Settings<(typeof busSettings)[number]>, name: string): BusAddress => ({
  url: settings.natsUrl,
  name,
  credentials: settings.natsCreds,
  ca: settings.natsCa,
  certificate: settings.natsCert,
  key: settings.natsKey,
});

/** The bus is unreachable, or the platform cannot use it. */
export class BusUnreachableError extends Error {
  override readonly name = "BusUnreachableError";
}

/**
 * Connects once; afterwards the client reconnects forever. Throws {@link BusUnreachableError} if no server answers in
 * time, if it rejects this user, or if JetStream is off; a `BusPermissionError` if the user may not use JetStream; and a
 * `ConfigError` for a certificate without its key.
 */
export async function connectBus(address: BusAddress): Promise<Bus> {
  const shownUrl = redacted(address.url);
  let nc: NatsConnection;
  const servers = serversOf(address.url);
  const identity = await readIdentity(address, servers.user);
  try {
    nc = await connect({
      ...servers,
      name: address.name,
      inboxPrefix: identity.inboxPrefix,
      timeout: address.timeoutMillis ?? 5000,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 100,
      reconnectJitter: 100,
      // Two missed pings mark an idle connection as dead.
      pingInterval: 5000,
      maxPingOut: 2,
      noAsyncTraces: true,
      ...(address.credentials && {
        authenticator: credsAuthenticator(await readFile(address.credentials)),
      }),
      ...tlsOf(address),
    });
  } catch (error) {
    throw new BusUnreachableError(
      `expected a NATS server at ${shownUrl}, but ${reason(error)}. ${await adviceOn(error, address, identity.user)}`,
      { cause: error },
    );
  }
  try {
    const inbox = openInbox(nc, identity);
    const asking = askingThrough(inbox, nc);
    const jsm = await jetstreamManager(asking);
    const js = jetstream(asking);
    return { nc, js, jsm, kvm: new Kvm(js), inbox, identity, stuck: openPublishBacklog() };
  } catch (error) {
    await nc.close();
    const denied = withUser(identity.user, error);
    if (denied instanceof BusPermissionError) throw denied;
    throw new BusUnreachableError(
      `the NATS server at ${shownUrl} answers, but JetStream does not (${reason(error)}). ` +
        "Start it with JetStream enabled (nats-server -js -sd <folder>), and check the account's limits.",
      { cause: error },
    );
  }
}

async function readIdentity({ certificate, key }: BusAddress, user: string | undefined): Promise<Identity> {
  if ((certificate === undefined) !== (key === undefined)) {
    const missing = certificate === undefined ? "certificate (NATS_CERT)" : "private key (NATS_KEY)";
    throw new ConfigError(`expected a certificate for the bus and its private key, found no ${missing}.`);
  }
  if (certificate === undefined) return identityOf(user);
  const pem = await readFile(certificate);
  try {
    return identityOf(commonName(pem));
  } catch (error) {
    throw new BusUnreachableError(`expected a certificate in ${certificate}, but ${reason(error)}.`, {
      cause: error,
    });
  }
}

/** Without any of these settings, the server decides about TLS. With one of them, a server without TLS is rejected. */
function tlsOf({ url, ca, certificate, key }: BusAddress): Pick<ConnectionOptions, "tls"> {
  if (ca === undefined && certificate === undefined && key === undefined && !/(^|,\s*)tls:\/\//.test(url))
    return {};
  return {
    tls: {
      ...(ca !== undefined && { caFile: ca }),
      ...(certificate !== undefined && { certFile: certificate }),
      ...(key !== undefined && { keyFile: key }),
    },
  };
}

/** Splits the URLs into servers and credentials. The client library ignores credentials in URLs. */
function serversOf(text: string): Pick<ConnectionOptions, "servers" | "user" | "pass" | "token"> {
  const urls = text.split(",").map((server) => /^(.*:\/\/)?(?:([^@]*)@)?(.*)$/.exec(server.trim()) ?? []);
  const servers = urls.map(([, scheme = "", , host = ""]) => scheme + host);
  const [user = "", ...pass] =
    urls.find(([, , credentials]) => credentials !== undefined)?.[2]?.split(":") ?? [];
  if (user === "") return { servers };
  return pass.length === 0
    ? { servers, token: unescaped(user) }
    : { servers, user: unescaped(user), pass: unescaped(pass.join(":")) };
}

/** A percent sign without a valid escape is kept. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return `${error.message}${cause}`;
}

/** Suggests a fix for a failed connection. */
async function adviceOn(error: unknown, { url, certificate }: BusAddress, user: string): Promise<string> {
  if (error instanceof errors.AuthorizationError && /timeout/i.test(error.message))
    return "The server received no credentials within its authorization timeout: this machine or the server is overloaded. Try again, or raise the server's authorization.timeout.";
  if (error instanceof errors.AuthorizationError)
    return `It rejects ${user} or its credentials: check them, and the server's users.`;
  if ((error as NodeJS.ErrnoException).code === "CERT_HAS_EXPIRED")
    return "Renew the NATS server's certificate, or set this machine's clock.";
  if (/VERIFY|SELF_SIGNED|ALTNAME|CERT_/.test((error as NodeJS.ErrnoException).code ?? ""))
    return "Its certificate is not trusted: set --nats-ca or NATS_CA to the authority that signed it, and use a host name that the certificate covers.";
  // A server that rejects a certificate closes the connection, and the client library loses the reason.
  if (error instanceof errors.TimeoutError && (await readServerInfo(url))?.tls_verify) {
    return certificate === undefined
      ? "It requires a client certificate: set --nats-cert and --nats-key (NATS_CERT, NATS_KEY)."
      : `It requires a client certificate and seems to reject the one of ${user} (${certificate}): check that it is valid and signed by an authority that the server trusts.`;
  }
  return "Start a server with JetStream enabled (nats-server -js), or set --nats-url or NATS_URL to a running one.";
}
