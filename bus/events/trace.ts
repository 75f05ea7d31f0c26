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

/** A `traceparent` that starts a new trace, which nobody has recorded. */
export function newTrace(): string {
  const hex = randomHex();
  return `00-${hex.slice(0, 32)}-${hex.slice(32)}-00`;
}

/** A `traceparent` of the same trace with a new span; starts a trace when there is none to go on with. */
export function childTrace(parent: string | undefined): string {
  const known = parseTrace(parent);
  return known === undefined
    ? newTrace()
    : `00-${known.traceId}-${randomHex().slice(32)}-${known.isSampled ? "01" : "00"}`;
}

/** What a `traceparent` says. */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  /** Whoever wrote it has recorded the span, and wants what follows to be recorded. */
  readonly isSampled: boolean;
}

const nothing = /^0+$/;

/** Reads a `traceparent` of version 00; undefined for anything else, and for ids of nothing but zeros. */
export function parseTrace(text: string | undefined): TraceParent | undefined {
  const [, id = "", spanId = "", flags = ""] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text ?? "") ?? [];
  if (id === "" || nothing.test(id) || nothing.test(spanId)) return undefined;
  return { traceId: id, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The trace id inside a `traceparent`, for logs. */
export const traceId = (traceparent: string | undefined): string | undefined => traceparent?.slice(3, 35);
