/**
 * Spans of this process. Without {@link recordSpans} they are only trace contexts, for propagation and logs, at the cost of
 * such; the recorder is not even loaded.
 */
import type { Attributes, Link, SpanKind } from "@opentelemetry/api";
import { childTrace, parseTrace } from "./trace.ts";

/** Options of a span. Attributes carry names and numbers: no content of objects, no error texts, no credentials. */
export interface SpanStart {
  readonly kind: Lowercase<keyof typeof SpanKind>;
  /** The `traceparent` to continue. Without it a trace starts. */
  readonly parent?: string | undefined;
  /** Start time in the past. Milliseconds since the epoch. */
  readonly startTime?: number;
  /** Called only if the span is recorded. */
  readonly attributes?: () => Attributes;
}

/** A started span. */
export interface Span {
  /** W3C trace context for spans that it causes. */
  readonly traceparent: string;
  /** Adds attributes, if the span is recorded. */
  set(attributes: () => Attributes): void;
  /** Adds links to other spans that caused it. Ignores texts that are not a `traceparent` of a recorded span. */
  link(...traceparents: readonly (string | undefined)[]): void;
  /** Marks the span as failed, with the name of an error or another word from a small set. */
  fail(type: string): void;
  /** Ends it, now or at an earlier time by `performance.now()`. */
  end(at?: number): void;
}

/** Records spans. */
export interface SpanRecorder {
  start(name: string, start: SpanStart): Span;
  /** Runs work in a span: inner spans that it starts become children. */
  run<T>(span: Span, work: () => T): T;
  /** The current span. */
  active(): Span | undefined;
}

let recorder: SpanRecorder | undefined;

/** Starts recording the spans of this process; undefined stops it. */
export function recordSpans(by: SpanRecorder | undefined): void {
  recorder = by;
}

const nothing = (): void => undefined;

const unrecorded = (parent: string | undefined): Span => ({
  traceparent: childTrace(parent),
  set: nothing,
  link: nothing,
  fail: nothing,
  end: nothing,
});

/** Starts a span. The caller must end it. */
export const startSpan = (name: string, start: SpanStart): Span =>
  recorder?.start(name, start) ?? unrecorded(start.parent);

/** Starts a child of the current span; undefined if spans are not recorded or there is no current span. */
export function startInnerSpan(name: () => string, start: Omit<SpanStart, "parent">): Span | undefined {
  const parent = recorder?.active()?.traceparent;
  return parent === undefined ? undefined : recorder?.start(name(), { ...start, parent });
}

/** Whether spans are recorded. */
export const isRecording = (): boolean => recorder !== undefined;

/** Runs work in a span. */
export const inSpan = <T>(span: Span, work: () => T): T => (recorder ? recorder.run(span, work) : work());

/** Runs the work of a span and ends the span. `failure` names an error. */
export async function spanned<T>(
  span: Span,
  work: () => Promise<T>,
  failure: (error: Error) => string = ({ name }) => name,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    span.fail(failure(error as Error));
    throw error;
  } finally {
    span.end();
  }
}

/** The contexts of recorded spans, without duplicates, as OpenTelemetry links. */
export function linksTo(traceparents: readonly (string | undefined)[]): Link[] {
  return [...new Set(traceparents)].flatMap((text) => {
    const known = parseTrace(text);
    if (!known?.isSampled) return [];
    return [{ context: { traceId: known.traceId, spanId: known.spanId, traceFlags: 1, isRemote: true } }];
  });
}
