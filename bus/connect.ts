/** Connecting to NATS, with errors that tell an operator what was tried. */

import { readFile } from "node:fs/promises";
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import {
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  type NatsConnection,
} from "@nats-io/transport-node";
import { type Inbox, openInbox } from "./inbox.ts";
import { redacted } from "./redact.ts";

/** A connection and its JetStream clients. */
export interface Bus {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly kvm: Kvm;
  readonly inbox: Inbox;
}

/** How to reach the bus. */
export interface BusAddress {
  /** Comma-separated `nats://` or `tls://` URLs; with `user:password@` or `token@` in the first one that has it. */
  readonly url: string;
  /** Shown to operators by the server: `denrei-worker`, say. */
  readonly name: string;
  /** Credentials file (JWT and seed), if the server wants one. */
  readonly credentials?: string | undefined;
  /** CA certificate file for `tls://`. */
  readonly ca?: string | undefined;
  /** How long the first connection may take, in milliseconds. */
  readonly timeoutMillis?: number | undefined;
}

/** The bus could not be reached, or it is not one that the platform can use. */
export class BusUnreachableError extends Error {
  override readonly name = "BusUnreachableError";
}

/**
 * Connects once; afterwards the client reconnects for ever. Throws {@link BusUnreachableError} when no server
 * answers within the time or when JetStream is off.
 */
export async function connectBus(address: BusAddress): Promise<Bus> {
  const shown = redacted(address.url);
  let nc: NatsConnection;
  try {
    nc = await connect({
      ...serversOf(address.url),
      name: address.name,
      timeout: address.timeoutMillis ?? 5000,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 100,
      reconnectJitter: 100,
      // A connection without traffic is noticed as dead after two missed pings.
      pingInterval: 5000,
      maxPingOut: 2,
      noAsyncTraces: true,
      ...(address.credentials && {
        authenticator: credsAuthenticator(await readFile(address.credentials)),
      }),
      ...(address.ca && { tls: { caFile: address.ca } }),
    });
  } catch (error) {
    throw new BusUnreachableError(
      `expected a NATS server at ${shown}, but ${reason(error)}. Start one with JetStream enabled ` +
        "(nats-server -js), or set --nats-url or NATS_URL to one that runs.",
      { cause: error },
    );
  }
  try {
    const jsm = await jetstreamManager(nc);
    const js = jetstream(nc);
    return { nc, js, jsm, kvm: new Kvm(js), inbox: openInbox(nc) };
  } catch (error) {
    await nc.close();
    throw new BusUnreachableError(
      `the NATS server at ${shown} answers, but JetStream does not (${reason(error)}). ` +
        "Start it with JetStream enabled (nats-server -js -sd <folder>), and check the account's limits.",
      { cause: error },
    );
  }
}

/** What the client library reads from URLs, and what it leaves out: who we are. */
function serversOf(text: string): Pick<ConnectionOptions, "servers" | "user" | "pass" | "token"> {
  const urls = text.split(",").map((server) => /^(.*:\/\/)?(?:([^@]*)@)?(.*)$/.exec(server.trim()) ?? []);
  const servers = urls.map(([, scheme = "", , host = ""]) => scheme + host);
  const [user = "", ...pass] = urls.find(([, , who]) => who !== undefined)?.[2]?.split(":") ?? [];
  if (user === "") return { servers };
  return pass.length === 0
    ? { servers, token: unescaped(user) }
    : { servers, user: unescaped(user), pass: unescaped(pass.join(":")) };
}

/** A percent sign that begins no escape stands for itself. */
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
