/** Records the spans of the process with an OpenTelemetry tracer. */
import { AsyncLocalStorage } from "node:async_hooks";
import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import { linksTo, type Span, type SpanRecorder, type SpanStart } from "../../tracing/spans.ts";
import { parseTrace } from "../../tracing/trace.ts";

const kinds: Readonly<Record<SpanStart["kind"], SpanKind>> = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

/** Records spans with a tracer. */
export function spanRecorder(tracer: Tracer): SpanRecorder {
  const active = new AsyncLocalStorage<Span>();
  return {
    start(name, { kind, parent, startTime, attributes }) {
      const span = tracer.startSpan(
        name,
        {
          kind: kinds[kind],
          ...(attributes && { attributes: attributes() }),
          ...(startTime !== undefined && { startTime }),
        },
        contextOf(parent, active.getStore()),
      );
      const { traceId, spanId, traceFlags } = span.spanContext();
      const isRecorded = span.isRecording();
      return {
        traceparent: `00-${traceId}-${spanId}-${traceFlags & 1 ? "01" : "00"}`,
        set(more) {
          if (isRecorded) span.setAttributes(more());
        },
        link(...traceparents) {
          if (isRecorded) span.addLinks(linksTo(traceparents));
        },
        fail(type) {
          span.setAttribute("error.type", type);
          span.setStatus({ code: SpanStatusCode.ERROR });
        },
        end: (at) => span.end(at),
      };
    },
    run: (span, work) => active.run(span, work),
    active: () => active.getStore(),
  };
}

/** The parent's context. Backends treat the first span of a process, whose parent is remote, as its entry point. */
function contextOf(parent: string | undefined, here: Span | undefined): Context {
  const known = parseTrace(parent);
  if (known === undefined) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled } = known;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: isSampled ? 1 : 0,
    isRemote: here?.traceparent !== parent,
  });
}
