/** Connecting to NATS, with errors that tell an operator what was tried. */

import { readFile } from "node:fs/promises";
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { connect, credsAuthenticator, type NatsConnection } from "@nats-io/transport-node";

/** A connection and its JetStream clients. */
export interface Bus {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly kvm: Kvm;
}

/** How to reach the bus. */
export interface BusAddress {
  /** Comma-separated `nats://` or `tls://` URLs. */
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
  const servers = address.url.split(",").map((server) => server.trim());
  let nc: NatsConnection;
  try {
    nc = await connect({
      servers,
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
      `expected a NATS server at ${address.url}, but ${reason(error)}. Start one with JetStream enabled ` +
        "(nats-server -js), or set --nats-url or NATS_URL to one that runs.",
      { cause: error },
    );
  }
  try {
    const jsm = await jetstreamManager(nc);
    const js = jetstream(nc);
    return { nc, js, jsm, kvm: new Kvm(js) };
  } catch (error) {
    await nc.close();
    throw new BusUnreachableError(
      `the NATS server at ${address.url} answers, but JetStream does not (${reason(error)}). ` +
        "Start it with JetStream enabled (nats-server -js -sd <folder>), and check the account's limits.",
      { cause: error },
    );
  }
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return `${error.message}${cause}`;
}
