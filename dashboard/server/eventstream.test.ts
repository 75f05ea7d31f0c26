/** Backpressure, limits, and lifetime of event streams. */
import { setImmediate as turn } from "node:timers/promises";
import { Hono } from "hono";
import pino from "pino";
import { Registry } from "prom-client";
import { expect, onTestFinished, test, vi } from "vitest";
import { heartbeatMillis } from "./auth/lifetime.ts";
import type { OpenSession, Sessions } from "./auth/sessions.ts";
import type { Env } from "./env.ts";
import { type AfterRun, type EventStream, eventStream } from "./eventstream.ts";
import { type ConcurrencyLimiter, concurrencyLimiter } from "./limiter.ts";
import { dashboardMetrics } from "./metrics.ts";

/** The stored session. Undefined unless a test sets it, so that no next token is available. */
let known: OpenSession | undefined;
const parts = {
  log: pino({ level: "silent" }),
  metrics: dashboardMetrics(new Registry()),
  stopping: new AbortController().signal,
  sessions: { find: async () => known } as unknown as Sessions,
  refresh: async (open: OpenSession) => open,
};

function serve(
  run: (stream: EventStream) => Promise<AfterRun>,
  streams: ConcurrencyLimiter = concurrencyLimiter(1),
  seconds = 60,
) {
  const app = new Hono<Env>();
  app.get("/", (c) => {
    const now = Date.now();
    c.set("session", {
      id: "one",
      session: {
        user: c.req.query("user") ?? "alice",
        idToken: "",
        csrf: "",
        expiresAt: now + seconds * 1000,
        startedAt: now,
      },
      sequence: 1,
      writtenAt: now,
    });
    return eventStream(c, { ...parts, streams }, run);
  });
  return (user = "alice") => app.request(`/?user=${user}`);
}

/** Runs everything that is ready. */
async function settle(): Promise<void> {
  for (let count = 0; count < 100; count++) await turn();
}

test("an event is sent only after the reader has taken the former ones", async () => {
  let sent = 0;
  const open = serve(async ({ send, signal }) => {
    for (; sent < 1000 && !signal.aborted; sent++) await send({ event: "line", data: { sent } });
    return "over";
  });
  const reader = ((await open()).body as ReadableStream<Uint8Array>).getReader();
  await settle();
  const before = sent;
  expect(before).toBeLessThan(5);
  for (let count = 0; count < 10; count++) await reader.read();
  await settle();
  expect(sent).toBeLessThan(before + 15);
  expect(sent).toBeGreaterThanOrEqual(10);
  await reader.cancel();
});

test("a stream holds a slot until it ends or its reader leaves, and users have separate limits", async () => {
  const aborted = Promise.withResolvers<void>();
  const open = serve(async ({ signal }) => {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    aborted.resolve();
    return "over";
  });
  const first = await open();
  const second = await open();
  expect([second.status, second.headers.get("retry-after"), await second.json()]).toMatchObject([
    429,
    "1",
    { reason: "TooMany" },
  ]);
  expect((await open("bob")).status).toBe(200);
  await first.body?.cancel();
  await aborted.promise;
  await settle();
  expect((await open()).status).toBe(200);
});

test("a stream ends when the session's token expires", async () => {
  const open = serve(
    ({ signal }) =>
      new Promise<AfterRun>((resolve) => signal.addEventListener("abort", () => resolve("again"))),
    concurrencyLimiter(1),
    0,
  );
  expect(await (await open()).text()).toBe("");
  await settle();
  expect((await open()).status).toBe(200);
});

test("a stream ends with its session, even if its token is still valid", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => {
    vi.useRealTimers();
    known = undefined;
  });
  known = {} as OpenSession;
  let isOver = false;
  const open = serve(
    ({ signal }) =>
      new Promise<AfterRun>((resolve) =>
        signal.addEventListener("abort", () => {
          isOver = true;
          resolve("again");
        }),
      ),
    concurrencyLimiter(1),
    3600,
  );
  const text = (await open()).text();
  await settle();
  for (const session of [known, undefined]) {
    expect(isOver).toBe(false);
    known = session;
    vi.advanceTimersByTime(heartbeatMillis);
    await settle();
  }
  expect(isOver).toBe(true);
  // A comment at each check keeps proxies from closing a silent connection.
  expect(await text).toBe(": \n\n".repeat(2));
});
