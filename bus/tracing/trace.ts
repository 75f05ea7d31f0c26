/** W3C Trace Context (https://www.w3.org/TR/trace-context/), as far as the platform propagates it. */
import { randomFillSync } from "node:crypto";

const pool = Buffer.alloc(24 * 256);
let next = pool.length;

/** 24 random bytes as hex. Requesting many at once from the system is much cheaper. */
function randomHex(): string {
  if (next === pool.length) {
    randomFillSync(pool);
    next = 0;
  }
  next += 24;
  return pool.toString("hex", next - 24, next);
}

/** A `traceparent` that starts a new trace, not sampled. */
export function newTrace(): string {
  const hex = randomHex();
  return `00-${hex.slice(0, 32)}-${hex.slice(32)}-00`;
}

/** A `traceparent` with a new span in the same trace. Starts a trace if there is no valid one to continue. */
export function childTrace(parent: string | undefined): string {
  const known = parseTrace(parent);
  return known === undefined
    ? newTrace()
    : `00-${known.traceId}-${randomHex().slice(32)}-${known.isSampled ? "01" : "00"}`;
}

/** A parsed `traceparent`. */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  /** The span was recorded, and its children should be, too. */
  readonly isSampled: boolean;
}

const nothing = /^0+$/;

/** Parses a `traceparent` of version 00. Returns undefined for anything else, and for ids of only zeros. */
export function parseTrace(text: string | undefined): TraceParent | undefined {
  const [, id = "", spanId = "", flags = ""] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text ?? "") ?? [];
  if (id === "" || nothing.test(id) || nothing.test(spanId)) return undefined;
  return { traceId: id, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The trace id in a `traceparent`, for logs. */
export const traceId = (traceparent: string | undefined): string | undefined => traceparent?.slice(3, 35);
