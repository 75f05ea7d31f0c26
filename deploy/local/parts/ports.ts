/** Finds free ports, and retries when another program takes one first. */
import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { createServer, type Server } from "node:net";
import { ChildStartError } from "../run/child.ts";

/**
 * Below the ephemeral ports of Linux (from 32768) and macOS (from 49152). A client that keeps reconnecting to a restarting part
 * could otherwise get the same port for its outgoing connection. It would connect to itself, and the part could not listen.
 */
const firstPort = 20_000;
const lastPort = 32_000;

/** A free port on 127.0.0.1. No other call on this machine returns it before this process ends. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(firstPort, lastPort);
    if ((await canListen(port)) && (await reserve(port))) return port;
  }
  throw new Error(
    `no free port on 127.0.0.1: 100 random ports between ${firstPort} and ${lastPort} were all taken. ` +
      "Look for programs that were left running.",
  );
}

/**
 * Reserves the port of a part, even while the part restarts, by binding its number for UDP, which no part uses, until this
 * process ends. Returns false when it is already reserved.
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

/** Whether a port of 127.0.0.1 is free right now. */
export async function canListen(port: number): Promise<boolean> {
  const held = await listening(port);
  await held?.release();
  return held !== undefined;
}

/** A port that no other program can take until it is released. */
export interface HeldPort {
  readonly port: number;
  /** Frees the port for the program that is to listen on it. It stays reserved, so that no other call gets it. */
  release(): Promise<void>;
}

/**
 * Holds the first free port of `tries` ports on 127.0.0.1 before its number is passed to other programs. No other call on this
 * machine returns it before this process ends. Does not keep the process from ending.
 */
export async function holdPort(first: number, tries: number): Promise<HeldPort> {
  for (let port = first; port < first + tries; port++) {
    const held = await listening(port);
    if (held === undefined) continue;
    if (await reserve(port)) return held;
    await held.release();
  }
  throw new Error(`no free port from ${first} to ${first + tries - 1} on 127.0.0.1`);
}

/** Undefined when the port is taken. */
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
    // Closing a closed server reports an error, which does not matter here.
    server.close(() => resolve());
  });

/**
 * Runs `attempt` with free ports, and again with other ports when a child reports that its port was taken after the check.
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
