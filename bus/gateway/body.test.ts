/** Bodies arrive in pieces of any size, and take about as much memory as was sent. */
import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readBody } from "./body.ts";
import { openBudget } from "./budget.ts";

/** Reads pieces as a body. Resolves with the body, the pieces that were passed on, and the sizes requested from the budget. */
async function read(pieces: readonly Buffer[], { limit = 2 ** 20, announced = -1, all = 2 ** 20 } = {}) {
  const size = Buffer.concat(pieces).length;
  const room = openBudget({ body: limit, small: limit, allSmall: all, allLarge: 0 }, 0)();
  const requested: number[] = [];
  const grow = room.grow.bind(room);
  room.grow = (bytes) => {
    requested.push(bytes);
    return grow(bytes);
  };
  const passedOn: Buffer[] = [];
  const request = new PassThrough({ highWaterMark: 2 ** 20 });
  const reading = readBody(request as unknown as IncomingMessage, {
    limit,
    announced: announced < 0 ? size : announced,
    each: (chunk) => passedOn.push(Buffer.from(chunk)),
    room,
  });
  for (const piece of pieces) {
    request.write(piece);
    await new Promise(setImmediate);
  }
  request.end();
  return { body: await reading, requested, passedOn: Buffer.concat(passedOn) };
}

test("a body in pieces of one byte takes at most twice its size", async () => {
  const pieces = Array.from({ length: 3000 }, (_, at) => Buffer.of(at % 256));
  const { body, requested } = await read(pieces, { announced: 100_000 });
  expect(body).toEqual(Buffer.concat(pieces));
  expect(requested.at(-1)).toBeLessThanOrEqual(6000);
  expect(requested.length).toBeLessThan(5);
});

test("a body that arrives in one piece takes exactly its size", async () => {
  const piece = Buffer.alloc(5000, "x");
  expect(await read([piece])).toMatchObject({ body: piece, requested: [5000] });
});

test("a body is the same in pieces of any size, and takes no more than was announced", async () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 3000 }), { maxLength: 20 });
  const any = fc.asyncProperty(pieces, async (parts) => {
    const buffers = parts.map((part) => Buffer.from(part));
    const whole = Buffer.concat(buffers);
    const { body, passedOn, requested } = await read(buffers);
    expect([body, passedOn]).toEqual([whole, whole]);
    expect(Math.max(0, ...requested)).toBeLessThanOrEqual(whole.length);
  });
  await fc.assert(any, { numRuns: 200 });
});

test("a body is not read if there is no memory for it", async () => {
  expect(await read([Buffer.alloc(10), Buffer.alloc(3000)], { all: 2000 })).toMatchObject({
    body: "no room",
  });
});

test("a body that is announced as too large takes no memory", async () => {
  expect(await read([Buffer.alloc(10)], { limit: 100, announced: 101 })).toMatchObject({
    body: "too large",
    requested: [],
  });
});
