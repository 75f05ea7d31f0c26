/** Limits of concurrent requests, on a server in this process. */
import { once } from "node:events";
import type { Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { expect, onTestFinished, test } from "vitest";
import type { Env } from "./env.ts";
import { concurrencyLimiter } from "./limiter.ts";
import { limitConcurrency } from "./requestlimit.ts";

/** A server with one slot per user, whose responses do not end. */
async function serve() {
  const app = new Hono<Env>();
  const ended: string[] = [];
  app.use(async (c, next) => {
    const user = c.req.path.slice(1);
    c.set("session", {
      id: c.req.query("session") ?? "",
      session: { user, idToken: "", csrf: "", expiresAt: 0, startedAt: 0 },
      sequence: 1,
      writtenAt: 0,
    });
    return next();
  });
  app.get("/:user", limitConcurrency(concurrencyLimiter(1)), (c) =>
    c.body(
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
        cancel: () => void ended.push(c.req.path),
      }),
    ),
  );
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const open = (path: string) => {
    const socket = connect({ port, host: "127.0.0.1" }).pause();
    socket.on("error", () => undefined).write(`GET ${path} HTTP/1.1\r\nhost: here\r\n\r\n`);
    onTestFinished(() => void socket.destroy());
    return socket;
  };
  const statusOf = async (path: string): Promise<number> => {
    const over = new AbortController();
    const { status } = await fetch(`http://127.0.0.1:${port}${path}`, { signal: over.signal });
    over.abort();
    return status;
  };
  return { open, statusOf, ended };
}

test("a user holds a slot until the response is read or its connection is closed, over all sessions", async () => {
  const { open, statusOf, ended } = await serve();
  const unread = open("/alice");
  await once(unread, "readable");
  expect(await statusOf("/alice?session=two")).toBe(429);
  expect(await statusOf("/bob")).toBe(200);
  unread.destroy();
  await expect.poll(() => ended).toContain("/alice");
  await expect.poll(() => statusOf("/alice")).toBe(200);
});
