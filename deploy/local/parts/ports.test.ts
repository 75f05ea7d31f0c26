import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openRun } from "../run/run.ts";
import { canListen, freePort, holdPort, withFreePorts } from "./ports.ts";

/** A program that listens on the port and, like a server, reports why it cannot. */
const listener = (port: number | undefined) => ({
  command: process.execPath,
  args: [
    "-e",
    `require("node:net").createServer().listen(${port}, "127.0.0.1", () => console.log("listening"))`,
  ],
});

async function startListener(port: number | undefined): Promise<void> {
  const run = await openRun();
  onTestFinished(() => run.close());
  let listening = false;
  const child = run.child({
    name: "listener",
    ...listener(port),
    onLine: (line) => {
      listening ||= line === "listening";
    },
    ready: async () => expect(listening).toBe(true),
  });
  await child.start();
}

/** Listens as a program would that reserves nothing. Returns the port. */
async function occupy(port: number | undefined): Promise<number> {
  const server = createServer().listen(port, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

test("tries another port when another program takes the free one first", async () => {
  const tried: (number | undefined)[] = [];
  await withFreePorts(1, async ([port], attempt) => {
    tried.push(port);
    if (attempt < 3) await occupy(port);
    await startListener(port);
  });
  expect(tried).toHaveLength(3);
  expect(new Set(tried).size).toBe(3);
});

test("does not retry other failures", async () => {
  let attempts = 0;
  const attempt = async () => {
    attempts++;
    throw new Error("the disk is full");
  };
  await expect(withFreePorts(1, attempt)).rejects.toThrow("the disk is full");
  expect(attempts).toBe(1);
});

test("free ports are outside the ephemeral port range", async () => {
  await withFreePorts(20, async (ports) => {
    expect(Math.max(...ports)).toBeLessThan(32_768);
    expect(Math.min(...ports)).toBeGreaterThan(1024);
  });
});

test("a held port is unavailable to others until it is released", async () => {
  const first = await freePort();
  const held = await holdPort(first, 20);
  expect(await canListen(held.port)).toBe(false);
  const next = await holdPort(held.port, 20);
  expect(next.port).toBeGreaterThan(held.port);
  await expect(holdPort(held.port, 1)).rejects.toThrow(
    `no free port from ${held.port} to ${held.port} on 127.0.0.1`,
  );
  await Promise.all([held, next].map(({ release }) => release()));
  await held.release();
  expect(await canListen(held.port)).toBe(true);
});

test("holds the next port when another program listens at the first", async () => {
  const taken = await occupy(0);
  const held = await holdPort(taken, 20);
  expect(held.port).toBeGreaterThan(taken);
  await held.release();
});

test("a held port stays reserved when it is released for its program", async () => {
  const held = await holdPort(await freePort(), 20);
  await held.release();
  const next = await holdPort(held.port, 20);
  expect(next.port).toBeGreaterThan(held.port);
  await next.release();
});

test("a port stays reserved until the process ends, whether or not its part runs", async () => {
  const port = await freePort();
  const other = createSocket("udp4");
  onTestFinished(() => void other.close());
  const refused = once(other, "error");
  other.bind({ port, address: "127.0.0.1", exclusive: true });
  expect((await refused)[0]).toMatchObject({ code: "EADDRINUSE" });
  expect(await canListen(port)).toBe(true);
});
