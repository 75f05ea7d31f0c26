/**
 * What waits to be exported: bounded, counted, and told once per outage. A collector that is away, slow, or refuses costs
 * spans, and nothing else.
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

/** What is exported where, and who is told. */
export interface ProcessorOptions {
  readonly exporter: SpanExporter;
  readonly limits: BatchLimits;
  /** Named in warnings. */
  readonly collector: string;
  readonly log: Logger;
  readonly registry: Registry;
}

/** A batch processor that says what it drops. */
export interface BoundedProcessor extends SpanProcessor {
  /** The process ends: what is not exported by now is lost. */
  giveUp(): void;
}

/** `ExportResultCode` of the SDK: no more than its success is of interest. */
const success = 0;

/** A processor that hands spans to the exporter in batches. */
export function boundedProcessor({
  exporter,
  limits,
  collector,
  log,
  registry,
}: ProcessorOptions): BoundedProcessor {
  const metrics = spanMetrics(registry);
  /** As many as the batch processor keeps: it says of none that it drops it. */
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

/** What is known of a failure, without what a collector may have said: one of names and numbers. */
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
