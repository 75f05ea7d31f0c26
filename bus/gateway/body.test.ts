/** Bodies are read in whatever pieces they come, and take the memory of what was sent. */
import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readBody } from "./body.ts";
import { openBudget } from "./budget.ts";

/** Reads pieces as a body; resolves with it, and with all that was asked of the budget. */
async function read(pieces: readonly Buffer[], { limit = 2 ** 20, announced = -1, all = 2 ** 20 } = {}) {
  const size = Buffer.concat(pieces).length;
  const room = openBudget({ body: limit, small: limit, allSmall: all, allLarge: 0 }, 0)();
  const asked: number[] = [];
  const grow = room.grow.bind(room);
  room.grow = (bytes) => {
    asked.push(bytes);
    return grow(bytes);
  };
  const told: Buffer[] = [];
  const request = new PassThrough({ highWaterMark: 2 ** 20 });
  const reading = readBody(request as unknown as IncomingMessage, {
    limit,
    announced: announced < 0 ? size : announced,
    each: (chunk) => told.push(Buffer.from(chunk)),
    room,
  });
  for (const piece of pieces) {
    request.write(piece);
    await new Promise(setImmediate);
  }
  request.end();
  return { body: await reading, asked, told: Buffer.concat(told) };
}

test("a body in pieces of one byte takes at most twice its bytes", async () => {
  const pieces = Array.from({ length: 3000 }, (_, at) => Buffer.of(at % 256));
  const { body, asked } = await read(pieces, { announced: 100_000 });
  expect(body).toEqual(Buffer.concat(pieces));
  expect(asked.at(-1)).toBeLessThanOrEqual(6000);
  expect(asked.length).toBeLessThan(5);
});

test("a body that comes at once takes its bytes", async () => {
  const piece = Buffer.alloc(5000, "x");
  expect(await read([piece])).toMatchObject({ body: piece, asked: [5000] });
});

test("a body is the same in any pieces, and takes no more than was announced", async () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 3000 }), { maxLength: 20 });
  const any = fc.asyncProperty(pieces, async (parts) => {
    const buffers = parts.map((part) => Buffer.from(part));
    const whole = Buffer.concat(buffers);
    const { body, told, asked } = await read(buffers);
    expect([body, told]).toEqual([whole, whole]);
    expect(Math.max(0, ...asked)).toBeLessThanOrEqual(whole.length);
  });
  await fc.assert(any, { numRuns: 200 });
});

test("a body for which there is no memory is not read", async () => {
  expect(await read([Buffer.alloc(10), Buffer.alloc(3000)], { all: 2000 })).toMatchObject({
    body: "no room",
  });
});

test("a body that is announced as too large takes nothing", async () => {
  expect(await read([Buffer.alloc(10)], { limit: 100, announced: 101 })).toMatchObject({
    body: "too large",
    asked: [],
  });
});
