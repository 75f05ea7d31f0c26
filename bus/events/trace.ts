/** W3C Trace Context (https://www.w3.org/TR/trace-context/), as far as it is passed on. */
import { randomFillSync } from "node:crypto";

const pool = Buffer.alloc(24 * 256);
let next = pool.length;

/** 24 random bytes as hex; asking the system for many at once is much cheaper. */
function randomHex(): string {
  if (next === pool.length) {
    randomFillSync(pool);
    next = 0;
  }
  next += 24;
  return pool.toString("hex", next - 24, next);
}

/** A `traceparent` that starts a new trace. */
export function newTrace(): string {
  const hex = randomHex();
  return `00-${hex.slice(0, 32)}-${hex.slice(32)}-01`;
}

/** A `traceparent` of the same trace with a new span; starts a trace when there is none to go on with. */
export function childTrace(parent: string | undefined): string {
  if (parent === undefined || !/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(parent)) return newTrace();
  return `${parent.slice(0, 36)}${randomHex().slice(32)}${parent.slice(52)}`;
}

/** The trace id inside a `traceparent`, for logs. */
export const traceId = (traceparent: string | undefined): string | undefined => traceparent?.slice(3, 35);
