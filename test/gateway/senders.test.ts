/** Slow, large, and endless requests use a limited share of the gateway, and other senders are not delayed. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LocalBus } from "../harness/localbus.ts";
import { example, hookOf } from "../harness/webhooks.ts";
import { startWebhookBus, type TestGateway, withGateway } from "./gateways.ts";
import { ask, headOf, type Line, openLine, pour } from "./requests.ts";

const MiB = 2 ** 20;
const deadline = { timeout: 60_000 };
/** Time limits that outlast the test. */
const unhurried = { headers: 600_000, request: 600_000 };
let local: LocalBus;
beforeAll(async () => {
  local = await startWebhookBus();
});
afterAll(() => local?.stop());

const push = () => hookOf("push", example("push"));
/** Well-formed, with a wrong signature. */
const unsigned = { ...push().headers, "x-hub-signature-256": `sha256=${"0".repeat(64)}` };
const chunked = { ...unsigned, "transfer-encoding": "chunked" };
const announced = (bytes: number) => ({ ...unsigned, "content-length": String(bytes) });

/** Endless requests: how each begins, and the text that it repeats. */
const slow: Readonly<Record<string, readonly [begin: (url: string, large: number) => string, then: string]>> =
  {
    "says nothing": [() => "", ""],
    "never ends its headers": [(url) => headOf(url, unsigned).slice(0, -2), "x-more: of it\r\n"],
    "never ends a small body": [(url) => headOf(url, announced(MiB / 4)), "x"],
    "never ends a large body": [(url, large) => headOf(url, announced(large)), "x"],
    "never ends its chunks, which are refused": [(url) => headOf(url, chunked), "1\r\nx\r\n"],
  };

/** Repeats the text every 100 ms until the connection is closed. Returns the response. */
async function dribble(url: string, kind: string, large = 25 * MiB): Promise<string> {
  const [begin, then] = slow[kind] ?? expect.fail();
  const line = await openLine(url);
  line.socket.write(begin(url, large));
  const timer = setInterval(() => line.socket.write(then), 100);
  return line.closed.finally(() => clearInterval(timer));
}

test.each(Object.keys(slow))("disconnects a sender who %s", (kind) => {
  // The time limit for headers applies even if the whole request may take longer.
  const request = /body|chunks/.test(kind) ? 500 : 600_000;
  return withGateway(
    local,
    async (gateway) => {
      for (const heard of await Promise.all([1, 2, 3].map(() => dribble(gateway.hookUrl(), kind))))
        expect(heard).toMatch(/^(HTTP\/1\.1 (408 Request Timeout|411 Length Required)\r\n.*)?$/s);
    },
    { times: { headers: 500, request, look: 50 } },
  );
});

test("a sender who announces bodies and sends nothing reserves no memory", () =>
  withGateway(local, async (gateway) => {
    const url = gateway.hookUrl();
    const head = headOf(url, { ...announced(MiB / 4), expect: "100-continue" });
    // Together they announce more than the memory of all small bodies.
    const lines = await Promise.all(Array.from({ length: 300 }, () => openLine(url)));
    for (const { socket } of lines) socket.write(head);
    for (const { heard } of lines) await expect.poll(heard, deadline).toMatch(/^HTTP\/1\.1 100 /);
    for (let n = 0; n < 20; n++) expect(await ask(url, push())).toMatchObject({ status: 202 });
    for (const { heard, socket } of lines) {
      expect(heard()).not.toContain("503");
      socket.destroy();
    }
  }));

test("200 slow senders and ten senders of large bodies delay no other sender", () => {
  // A tenth of the defaults, except for small bodies, so that less has to be sent.
  const largest = 2.5 * MiB;
  const budget = { body: largest, small: MiB / 4, allSmall: 6.4 * MiB, allLarge: 12.8 * MiB };
  return withGateway(
    local,
    async (gateway) => {
      let going = true;
      const again = async (work: () => Promise<unknown>): Promise<void> => {
        while (going) await work();
      };
      const url = gateway.hookUrl();
      const kinds = Object.keys(slow).flatMap((kind) => Array<string>(40).fill(kind));
      const slowOnes = kinds.map((kind) => again(() => dribble(url, kind, largest)));
      const hugeOnes = Array.from({ length: 10 }, (_, n) =>
        again(async () => {
          const line = await openLine(url);
          if (n % 2 === 0) line.socket.write(headOf(url, announced(largest)));
          else line.socket.write(`${headOf(url, chunked)}${largest.toString(16)}\r\n`);
          await pour(line, largest);
          line.socket.end(n % 2 === 0 ? "" : "\r\n0\r\n\r\n");
          expect(await line.closed).toMatch(/^(HTTP\/1\.1 (401|411|503|408) .*)?$/s);
        }),
      );
      const refused = async () => (await gateway.outcomes())["other unsigned 401"] ?? 0;
      const statuses: number[] = [];
      try {
        await expect.poll(refused, deadline).toBeGreaterThan(0);
        for (let round = 0; round < 4; round++) {
          const asked = Array.from({ length: 25 }, () => ask(url, push()));
          statuses.push(...(await Promise.all(asked)).map(({ status }) => status));
        }
      } finally {
        going = false;
        await Promise.all([...slowOnes, ...hugeOnes]);
      }
      expect(statuses).toEqual(Array(100).fill(202));
    },
    { budget, times: { headers: 2000, request: 2000, look: 100, store: 60_000, answer: 60_000 } },
  );
});

describe("memory for bodies", () => {
  const budget = { body: MiB, small: MiB / 16, allSmall: MiB, allLarge: 2.5 * MiB };
  const { filler, ...large } = { ...example("push"), filler: "" };
  const body = JSON.stringify({
    ...large,
    filler: filler.padEnd(MiB - 10_000 - JSON.stringify(large).length, "x"),
  });

  /** Sends deliveries without their last byte. */
  const withheld = ({ hookUrl }: TestGateway, count: number, text: string): Promise<Line[]> =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const { headers } = hookOf("push", JSON.parse(text));
        const line = await openLine(hookUrl());
        line.socket.write(headOf(hookUrl(), { ...headers, "content-length": String(text.length) }));
        line.socket.write(text.slice(0, -1));
        return line;
      }),
    );

  /** Sends the last byte, and expects each delivery to be accepted. */
  async function end(lines: readonly Line[]): Promise<void> {
    for (const { socket } of lines) socket.write("}");
    for (const { heard } of lines) await expect.poll(heard, deadline).toMatch(/^HTTP\/1\.1 202 /);
    for (const { socket } of lines) socket.destroy();
  }

  /** Sends six large bodies, and returns the two that fit into memory. */
  async function fill(gateway: TestGateway): Promise<Line[]> {
    const lines = await withheld(gateway, 6, body);
    const waiting = () => lines.filter((line) => line.heard() === "");
    await expect.poll(() => waiting().length, deadline).toBe(2);
    for (const line of lines.filter((one) => one.heard() !== "")) {
      expect(line.heard()).toMatch(/^HTTP\/1\.1 503 .*retry-after: 5\r\n.*\r\nbusy: send it again\n$/is);
      line.socket.destroy();
    }
    return waiting();
  }

  const two = async ({ hookUrl }: TestGateway): Promise<number[]> => {
    const asked = [1, 2].map(() => ask(hookUrl(), hookOf("push", JSON.parse(body))));
    return (await Promise.all(asked)).map(({ status }) => status);
  };

  test("rejects large bodies when it is used up, accepts small ones, and is free after the requests end", () =>
    withGateway(
      local,
      async (gateway) => {
        const waiting = await fill(gateway);
        // Together more than the rest of the large bodies' share.
        const small = await withheld(gateway, 12, JSON.stringify({ ...large, filler: "x".repeat(50_000) }));
        expect(await ask(gateway.hookUrl(), push())).toMatchObject({ status: 202 });
        await end([...small, ...waiting]);
        expect(await two(gateway)).toEqual([202, 202]);
      },
      { budget },
    ));

  test("is free again after senders disconnect", () =>
    withGateway(
      local,
      async (gateway) => {
        for (const { socket } of await fill(gateway)) socket.resetAndDestroy();
        const broken = async () => (await gateway.outcomes())["other broken_off 400"];
        await expect.poll(broken, deadline).toBe(2);
        expect(await two(gateway)).toEqual([202, 202]);
      },
      { budget },
    ));

  test("a new webhook displaces a sender that holds it", () =>
    withGateway(
      local,
      async (gateway) => {
        const url = gateway.hookUrl();
        const lines = await Promise.all(Array.from({ length: 40 }, () => openLine(url)));
        for (const { socket } of lines)
          socket.write(headOf(url, announced(MiB / 16)) + "x".repeat(MiB / 16 - 1));
        const busy = () => lines.filter(({ heard }) => / 503 .*busy: send it again/s.test(heard())).length;
        // Memory holds 16 of them; those displaced the earlier ones.
        await expect.poll(busy, deadline).toBe(24);
        for (let n = 0; n < 5; n++) expect(await ask(url, push())).toMatchObject({ status: 202 });
        expect(await gateway.outcomes()).toHaveProperty(["other displaced 503"]);
        for (const { socket } of lines) socket.destroy();
      },
      { budget, times: { ...unhurried, grace: 0 } },
    ));
});
