/** Finding free ports, and surviving that somebody else takes one first. */
import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { createServer, type Server } from "node:net";
import { ChildStartError } from "../run/child.ts";

/**
 * Below the ports that Linux (from 32768) and macOS (from 49152) give to outgoing connections. A client that tries
 * again and again to reach a part that is being restarted could otherwise be given that very port, connect to
 * itself, and keep the part from coming back.
 */
const first = 20_000;
const last = 32_000;

/** A free port on 127.0.0.1. No other call on this machine returns it until this process ends. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(first, last);
    if ((await canListen(port)) && (await reserve(port))) return port;
  }
  throw new Error(
    `expected a free port between ${first} and ${last} on 127.0.0.1, but 100 random ones were all taken. ` +
      "Look for programs that were left running.",
  );
}

/**
 * Reserves a port that a part listens on, also while that part is restarted: its number is bound for UDP, which no part uses, until
 * this process ends. False where it is reserved already.
 */
function reserve(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket("udp4").unref();
    socket.once("error", () => {
      socket.close();
      resolve(false);
    });
    socket.bind({ port, address: "127.0.0.1", exclusive: true }, () => resolve(true));
  });
}

/** Whether nobody listens on a port of 127.0.0.1 right now. */
export async function canListen(port: number): Promise<boolean> {
  const held = await listening(port);
  await held?.release();
  return held !== undefined;
}

/** A port that nobody else can have meanwhile. */
export interface HeldPort {
  readonly port: number;
  /** Lets it go, for whoever is to listen there now. */
  release(): Promise<void>;
}

/**
 * Takes the first of so many ports of 127.0.0.1 that is free, before anybody can listen there who is told of it. Does not keep the
 * process from ending.
 */
export async function holdPort(first: number, tries: number): Promise<HeldPort> {
  for (let port = first; port < first + tries; port++) {
    const held = await listening(port);
    if (held !== undefined) return held;
  }
  throw new Error(`expected a free port from ${first} to ${first + tries - 1} on 127.0.0.1, found none`);
}

/** Undefined where somebody listens. */
function listening(port: number): Promise<HeldPort | undefined> {
  return new Promise((resolve) => {
    const server = createServer().unref();
    server.once("error", () => resolve(undefined));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () =>
      resolve({ port, release: () => closed(server) }),
    );
  });
}

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    // What is closed already is as it should be.
    server.close(() => resolve());
  });

/**
 * Runs `attempt` with that many free ports, and again with others when a child found its port taken between our
 * look and its own.
 */
export async function withFreePorts<T>(
  count: number,
  attempt: (ports: readonly number[], number: number) => Promise<T>,
): Promise<T> {
  for (let number = 1; ; number++) {
    const ports = await Promise.all(Array.from({ length: count }, freePort));
    try {
      return await attempt(ports, number);
    } catch (error) {
      if (number >= 5 || !isAddressInUse(error)) throw error;
    }
  }
}

function isAddressInUse(error: unknown): boolean {
  return (
    error instanceof ChildStartError && error.lastLines.some((line) => /address already in use/i.test(line))
  );
}
