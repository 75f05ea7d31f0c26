/** Which connection is closed at the limit, on a server in this process. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { Registry } from "prom-client";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type ConnectionOptions, limitConnections } from "./connections.ts";
import { sourceOf } from "./openconnections.ts";

/** Size of the answer to `/large`: far more than the kernel buffers for a receiver. */
const large = Buffer.alloc(192 * 2 ** 20);

/** A server that proves every request to `/proven`, and leaves the answers to `/wait` to the test. */
async function serve(options: Partial<ConnectionOptions> = {}) {
  const registry = new Registry();
  const waiting: ServerResponse[] = [];
  const server = createServer({ headersTimeout: 600_000, requestTimeout: 600_000 }, (request, response) => {
    if (request.url?.startsWith("/proven")) connections.prove(request);
    if (request.url?.endsWith("wait")) waiting.push(response);
    else if (request.url?.endsWith("large")) response.end(large);
    else response.end("hello");
  });
  const connections = limitConnections(server, {
    name: "test",
    limit: 3,
    graceMillis: 0,
    registry,
    ...options,
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Opens a connection and writes. Resolves when the server has received the text. */
  async function open(text = "", localAddress = "127.0.0.1") {
    const accepted = once(server, "connection");
    const socket: Socket = connect({ port, host: "127.0.0.1", localAddress });
    let heard = "";
    socket
      .on("error", () => undefined)
      .on("data", (data) => {
        if (heard.length < 2 ** 20) heard += data;
      });
    const closed = once(socket, "close").then(() => "closed" as const);
    await accepted;
    if (text !== "") socket.write(text);
    return { socket, heard: () => heard, closed };
  }
  const values = async (name: string): Promise<Record<string, number>> => {
    const { values = [] } = (await registry.getSingleMetric(name)?.get()) ?? {};
    const shown = values.filter(({ value }) => value > 0);
    return Object.fromEntries(shown.map(({ labels, value }) => [labels.state ?? labels.reason, value]));
  };
  return {
    connections,
    waiting,
    open,
    states: () => values("denrei_http_connections"),
    cut: () => values("denrei_http_connections_cut_total"),
  };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: here\r\n\r\n`;

test("accepts a new connection at the limit and closes the oldest unproven one", async () => {
  const { open, cut, states } = await serve();
  const first = await open();
  const second = await open("GET / HTTP/1.1\r\nhost:");
  await open();
  const fourth = await open(get("/"));
  await expect.poll(fourth.heard).toContain("hello");
  expect(await first.closed).toBe("closed");
  await open();
  expect(await second.closed).toBe("closed");
  expect(await cut()).toEqual({ displaced: 2 });
  expect(await states()).toEqual({ unproven: 3 });
});

test("an unproven answer does not make a connection younger", async () => {
  const { open } = await serve();
  const first = await open(get("/"));
  await expect.poll(first.heard).toContain("hello");
  const second = await open();
  await open();
  first.socket.write(get("/"));
  await expect.poll(() => first.heard().split("hello").length).toBe(3);
  await open();
  expect(await first.closed).toBe("closed");
  expect(second.socket.destroyed).toBe(false);
});

// Other systems have one loopback address only.
test.skipIf(process.platform !== "linux")(
  "closes a connection of the address with the most, not the oldest",
  async () => {
    const { open } = await serve();
    const other = await open("", "127.0.0.2");
    const first = await open();
    await open();
    const late = await open("", "127.0.0.2");
    expect(await first.closed).toBe("closed");
    for (const { socket } of [other, late]) expect(socket.destroyed).toBe(false);
  },
);

test("answers a proven request at any number of connections, and closes its connection last", async () => {
  const { open, waiting, states, cut } = await serve();
  const proven = await open(get("/proven/wait"));
  await expect.poll(() => waiting.length).toBe(1);
  for (let n = 0; n < 10; n++) await open();
  waiting.pop()?.end("hello");
  await expect.poll(proven.heard).toContain("hello");
  await expect.poll(states).toEqual({ kept: 1, unproven: 2 });
  for (let n = 0; n < 10; n++) await open();
  expect(await states()).toEqual({ kept: 1, unproven: 2 });
  proven.socket.write(get("/proven"));
  await expect.poll(() => proven.heard().split("hello").length).toBe(3);
  expect(await cut()).toEqual({ displaced: 18 });
});

test("closes a formerly proven connection during an unproven request", async () => {
  const { open, waiting, states } = await serve();
  const mixed = await open(get("/proven"));
  await expect.poll(states).toEqual({ kept: 1 });
  mixed.socket.write(get("/wait"));
  await expect.poll(() => waiting.length).toBe(1);
  expect(await states()).toEqual({ unproven: 1 });
  for (let n = 0; n < 3; n++) await open();
  expect(await mixed.closed).toBe("closed");
});

test("a proven request does not prove a later one on the same connection", async () => {
  const { open, waiting, states } = await serve();
  const mixed = await open(get("/proven") + get("/wait"));
  await expect.poll(() => waiting.length).toBe(1);
  await expect.poll(mixed.heard).toContain("hello");
  await expect.poll(states).toEqual({ unproven: 1 });
  for (let n = 0; n < 3; n++) await open();
  expect(await mixed.closed).toBe("closed");
});

/** Reads about this many bytes of a paused socket, and pauses it again. */
async function readSome(socket: Socket, bytes: number): Promise<void> {
  const until = socket.bytesRead + bytes;
  await new Promise<void>((resolve) => {
    socket.on("data", function take() {
      if (socket.bytesRead < until) return;
      socket.off("data", take).pause();
      resolve();
    });
    socket.resume();
  });
}

test("closes a connection whose receiver does not read the answer, but not one that reads slowly", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { open, states, cut } = await serve({ unreadMillis: 4000 });
  const { socket } = await open();
  socket.pause().write(get("/proven/large"));
  await expect.poll(states).toEqual({ proven: 1 });
  for (let looks = 0; looks < 8; looks++) {
    vi.advanceTimersByTime(1000);
    await readSome(socket, 16 * 2 ** 20);
  }
  expect(await states()).toEqual({ proven: 1 });
  vi.advanceTimersByTime(6000);
  await expect.poll(states).toEqual({});
  expect(await cut()).toEqual({ unread: 1 });
});

test("keeps a connection within its grace while an idle one can be closed", async () => {
  const { open, states } = await serve({ graceMillis: 600_000 });
  const idle = await open(get("/proven"));
  await expect.poll(states).toEqual({ kept: 1 });
  const [first] = [await open(), await open(), await open()];
  expect(await idle.closed).toBe("closed");
  expect(first?.socket.destroyed).toBe(false);
});

test("keeps a connection whose request arrives at a steady rate", async () => {
  const { open, waiting } = await serve();
  const length = 64 * 2 ** 20;
  const steady = await open(`POST /wait HTTP/1.1\r\nhost: here\r\ncontent-length: ${length}\r\n\r\n`);
  await expect.poll(() => waiting.length).toBe(1);
  waiting[0]?.req.resume();
  await new Promise((resolve) => steady.socket.write(Buffer.alloc(length / 2), resolve));
  const [silent] = [await open(), await open(), await open()];
  expect(await silent?.closed).toBe("closed");
  expect(steady.socket.destroyed).toBe(false);
});

test("refuses new connections while proven requests use all, and reports it", async () => {
  const { open, waiting, connections, cut } = await serve();
  for (let n = 0; n < 3; n++) await open(get("/proven/wait"));
  await expect.poll(() => waiting.length).toBe(3);
  expect(connections.refusing()).toBeUndefined();
  const refused = await open();
  expect(await refused.closed).toBe("closed");
  expect(connections.refusing()).toBe("refusing new connections: all 3 are in use. Run more replicas.");
  expect(await cut()).toEqual({ refused: 1 });
});

test("answers a malformed request or an unknown expectation, and closes the connection", async () => {
  const { open, cut } = await serve();
  const wrong = await open("no http\r\n\r\n");
  expect(await wrong.closed).toBe("closed");
  expect(wrong.heard()).toContain("HTTP/1.1 400 ");
  const expecting = await open("GET / HTTP/1.1\r\nhost: here\r\nexpect: more\r\n\r\n");
  expect(await expecting.closed).toBe("closed");
  expect(expecting.heard()).toMatch(/^HTTP\/1\.1 417 .*connection: close\r\n/is);
  const long = await open(`GET / HTTP/1.1\r\nhost: here\r\nx: ${"x".repeat(20_000)}\r\n\r\n`);
  expect(await long.closed).toBe("closed");
  expect(long.heard()).toContain("HTTP/1.1 431 ");
  expect(await cut()).toEqual({ malformed: 2 });
});

describe("the source of", () => {
  test.for([
    ["10.1.2.3", "10.1.2.3"],
    ["::ffff:10.1.2.3", "10.1.2.3"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:db8::6", "2001:db8:0:0"],
    ["2001:db8::3:4:5:6", "2001:db8:0:0"],
    ["2001:db8::2:3:4:5:6", "2001:db8:0:2"],
    ["::1", "0:0:0:0"],
    ["fe80::1%eth0", "fe80:0:0:0"],
    ["", ""],
  ] as const)("%s is %s", ([address, source]) => {
    expect(sourceOf(address)).toBe(source);
  });
});
