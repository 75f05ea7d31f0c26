/**
 * The export queue of spans: bounded, counted, and reported once per outage. A collector that is unavailable, slow, or rejects
 * spans costs only these spans.
 */
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";
import { Counter, Gauge, type Registry } from "prom-client";
import type { BatchLimits } from "./settings.ts";

/** Options of a processor. */
export interface ProcessorOptions {
  readonly exporter: SpanExporter;
  readonly limits: BatchLimits;
  /** Name of the collector in warnings. */
  readonly collector: string;
  readonly log: Logger;
  readonly registry: Registry;
}

/** A batch processor that counts what it drops. */
export interface BoundedProcessor extends SpanProcessor {
  /** The process ends: spans that are not exported by now are lost. */
  giveUp(): void;
}

/** `ExportResultCode` of the SDK: only success matters. */
const success = 0;

/** Opens a processor that passes spans to the exporter in batches. */
export function boundedProcessor({
  exporter,
  limits,
  collector,
  log,
  registry,
}: ProcessorOptions): BoundedProcessor {
  const metrics = spanMetrics(registry);
  /** The limit of the batch processor, which does not report the spans that it drops. */
  let queued = 0;
  let underWay = 0;
  let outage: { lost: number } | undefined;

  function lose(count: number, outcome: "failed" | "dropped", reason: string): void {
    metrics.spans.inc({ outcome }, count);
    if (outage === undefined) {
      outage = { lost: 0 };
      log.warn(
        { collector, reason },
        "traces are not exported: spans are lost until the collector takes them again",
      );
    }
    outage.lost += count;
  }

  const counted: SpanExporter = {
    export(spans, done) {
      queued -= spans.length;
      underWay += spans.length;
      metrics.queued.set(queued);
      exporter.export(spans, (result) => {
        underWay -= spans.length;
        if (result.code === success) {
          metrics.spans.inc({ outcome: "exported" }, spans.length);
          if (outage !== undefined) log.info({ collector, lost: outage.lost }, "traces are exported again");
          outage = undefined;
        } else lose(spans.length, "failed", reasonOf(result.error));
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
  const batches = new BatchSpanProcessor({ exporter: counted, ...limits });

  return {
    onStart: () => undefined,
    onEnd(span: ReadableSpan) {
      if ((span.spanContext().traceFlags & 1) === 0) return;
      if (queued >= limits.maxQueueSize) return lose(1, "dropped", "more spans than the queue holds");
      queued++;
      metrics.queued.set(queued);
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
    giveUp() {
      if (queued + underWay > 0)
        lose(queued + underWay, "dropped", "no answer before the process had to end");
    },
  };
}

/** Describes a failure by names and numbers, without text from the collector. */
function reasonOf(error: Error | undefined): string {
  const { code, message = "", name = "unknown" } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  return String(code ?? (message.slice(0, 200) || name));
}

function spanMetrics(registry: Registry) {
  const registers = [registry];
  return {
    spans: new Counter({
      name: "denrei_trace_spans_total",
      help: "Spans by what became of them: exported, failed (the collector did not take them) or dropped (no room, no time).",
      labelNames: ["outcome"] as const,
      registers,
    }),
    queued: new Gauge({
      name: "denrei_trace_spans_queued",
      help: "Spans that wait to be exported.",
      registers,
    }),
  };
}
