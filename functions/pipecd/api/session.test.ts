/** Connections to a server whose pods are replaced: two real HTTP/2 servers, the second of which takes over the first one's port. */
import { once } from "node:events";
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, createServer as createListener } from "node:net";
import { text } from "node:stream/consumers";
import { Http2SessionManager } from "@connectrpc/connect-node";
import { afterEach, expect, test, vi } from "vitest";
import { openSession, type Session, settleMillis } from "./session.ts";

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

interface Pod {
  readonly port: number;
  /** Unanswered calls. */
  readonly held: ServerHttp2Stream[];
  readonly connections: ReadonlySet<ServerHttp2Session>;
  /** Stops accepting connections, and keeps the existing ones. */
  linger(): void;
}

/** Starts a server that answers with its name, except to calls of /held. */
async function startPod(name: string, port = 0): Promise<Pod> {
  const server = createServer();
  // Closing the listener keeps its connections open.
  const listener = createListener((socket) => server.emit("connection", socket));
  const connections = new Set<ServerHttp2Session>();
  const held: ServerHttp2Stream[] = [];
  server.on("session", (session) => {
    connections.add(session);
    session.on("close", () => connections.delete(session));
  });
  server.on("stream", (stream, headers) => {
    stream.respond({ ":status": 200 });
    if (headers[":path"] === "/held") held.push(stream);
    else stream.end(name);
  });
  listener.listen(port, "127.0.0.1");
  await once(listener, "listening");
  stops.push(() => {
    for (const session of connections) session.destroy();
    listener.close();
  });
  return {
    port: (listener.address() as AddressInfo).port,
    held,
    connections,
    linger: () => listener.close(),
  };
}

function sessionTo({ port }: Pod, now?: () => number): Session {
  const open = () => new Http2SessionManager(`http://127.0.0.1:${port}`);
  return openSession({ open, ...(now && { now }) });
}

/** Makes a call, and resolves to the whole answer. */
async function call(session: Session, path = "/"): Promise<string> {
  const stream = await session.request("POST", path, {}, {});
  stream.end();
  return text(stream);
}

/** Starts a new pod at the address of another one, which lingers. */
function replaced(pod: Pod, name: string): Promise<Pod> {
  pod.linger();
  return startPod(name, pod.port);
}

test("reuses its connection while the revision is the same or unknown", async () => {
  const old = await startPod("old");
  const session = sessionTo(old);
  session.renew("1");
  expect(await call(session)).toBe("old");
  await replaced(old, "new");
  for (const revision of ["1", undefined]) {
    session.renew(revision);
    expect(await call(session)).toBe("old");
  }
  expect(old.connections.size).toBe(1);
});

test("after a change of the revision, sends new calls to the new pod and closes the old connection", async () => {
  const old = await startPod("old");
  const session = sessionTo(old);
  session.renew("1");
  expect(await call(session)).toBe("old");
  const latest = await replaced(old, "new");
  session.renew("2");
  expect(await call(session)).toBe("new");
  await vi.waitFor(() => expect(old.connections.size).toBe(0));
  expect(latest.connections.size).toBe(1);
});

test("replaces a connection that was opened while no revision was known", async () => {
  const old = await startPod("old");
  const session = sessionTo(old);
  session.renew(undefined);
  expect(await call(session)).toBe("old");
  await replaced(old, "new");
  session.renew("1");
  expect(await call(session)).toBe("new");
});

test("lets calls in flight end on the old pod, and closes its connection with the last of them", async () => {
  const old = await startPod("old");
  const session = sessionTo(old);
  session.renew("1");
  const answers = [call(session, "/held"), call(session, "/held")];
  await vi.waitFor(() => expect(old.held).toHaveLength(2));
  const latest = await replaced(old, "new");
  session.renew("2");
  expect(await call(session)).toBe("new");
  const [first, second] = old.held;
  first?.end("late");
  expect(await answers[0]).toBe("late");
  expect(await call(session)).toBe("new");
  expect(old.connections.size).toBe(1);
  second?.end("later");
  expect(await answers[1]).toBe("later");
  await vi.waitFor(() => expect(old.connections.size).toBe(0));
  expect(latest.connections.size).toBe(1);
});

test("connects again once names no longer resolve to the old pods", async () => {
  let now = 0;
  // The old pod's address is still cached when the rollout ends.
  const [old, latest] = [await startPod("old"), await startPod("new")];
  let resolved = old;
  const open = () => new Http2SessionManager(`http://127.0.0.1:${resolved.port}`);
  const session = openSession({ open, now: () => now });
  session.renew("1");
  expect(await call(session)).toBe("old");
  resolved = latest;
  now = settleMillis - 1;
  expect(await call(session)).toBe("old");
  now = settleMillis;
  expect(await call(session)).toBe("new");
  await vi.waitFor(() => expect(old.connections.size).toBe(0));
  now = 10 * settleMillis;
  const [connection] = latest.connections;
  expect(await call(session)).toBe("new");
  expect([...latest.connections]).toEqual([connection]);
});

test("counts a call that failed to connect as ended", async () => {
  const old = await startPod("old");
  old.linger();
  const session = sessionTo(old);
  await expect(call(session)).rejects.toThrow("ECONNREFUSED");
  const latest = await startPod("new", old.port);
  session.renew("1");
  expect(await call(session)).toBe("new");
  expect(latest.connections.size).toBe(1);
});
