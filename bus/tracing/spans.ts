/**
 * Spans of this process. Unless somebody records them ({@link recordSpans}) they are trace contexts that are passed on and
 * named in logs, and cost as much: what records is not even loaded.
 */
import type { Attributes, Link, SpanKind } from "@opentelemetry/api";
import { childTrace, parseTrace } from "../events/trace.ts";

/** What a span is started with. Attributes carry names and numbers: no content of objects, no error texts, no credentials. */
export interface SpanStart {
  readonly kind: Lowercase<keyof typeof SpanKind>;
  /** The `traceparent` that it goes on with; without one a trace begins. */
  readonly parent?: string | undefined;
  /** Begun before now. Milliseconds since the epoch. */
  readonly startTime?: number;
  /** Asked for when the span is recorded. */
  readonly attributes?: () => Attributes;
}

/** A span under way. */
export interface Span {
  /** W3C trace context, for what it causes. */
  readonly traceparent: string;
  /** Adds attributes, if the span is recorded. */
  set(attributes: () => Attributes): void;
  /** Adds links to other spans that caused it; what is no `traceparent` of a recorded span is left out. */
  link(...traceparents: readonly (string | undefined)[]): void;
  /** Says that it failed, and how: the name of an error or another word of which there are few. */
  fail(type: string): void;
  /** Ends it, now or at a time before, as `performance.now()` had it. */
  end(at?: number): void;
}

/** Where spans are recorded. */
export interface SpanRecorder {
  start(name: string, start: SpanStart): Span;
  /** Runs work in a span: the inner spans that it starts are the span's children. */
  run<T>(span: Span, work: () => T): T;
  /** The span in which the code runs. */
  active(): Span | undefined;
}

let recorder: SpanRecorder | undefined;

/** From now on spans of this process are recorded; undefined ends it. */
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

/** Starts a span, which has to be ended. */
export const startSpan = (name: string, start: SpanStart): Span =>
  recorder?.start(name, start) ?? unrecorded(start.parent);

/** Starts a child of the span in which the code runs; undefined when nobody records, or it runs in none. */
export function startInnerSpan(name: () => string, start: Omit<SpanStart, "parent">): Span | undefined {
  const parent = recorder?.active()?.traceparent;
  return parent === undefined ? undefined : recorder?.start(name(), { ...start, parent });
}

/** Whether spans are recorded. */
export const isRecording = (): boolean => recorder !== undefined;

/** Runs work in a span. */
export const inSpan = <T>(span: Span, work: () => T): T => (recorder ? recorder.run(span, work) : work());

/** Does the work that a span stands for, and ends it; `failure` names an error. */
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

/** The contexts among these of spans that were recorded, each once, as OpenTelemetry has links. */
export function linksTo(traceparents: readonly (string | undefined)[]): Link[] {
  return [...new Set(traceparents)].flatMap((text) => {
    const known = parseTrace(text);
    if (!known?.isSampled) return [];
    return [{ context: { traceId: known.traceId, spanId: known.spanId, traceFlags: 1, isRemote: true } }];
  });
}
