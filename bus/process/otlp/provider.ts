/** Records, batches, and sends spans to a collector with the OpenTelemetry SDK. */
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from "@opentelemetry/resources";
import { TracerProvider } from "@opentelemetry/sdk-trace";
import {
  ATTR_SERVICE_INSTANCE_ID,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_VERSION,
} from "@opentelemetry/semantic-conventions";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import manifest from "../../package.json" with { type: "json" };
import { recordSpans } from "../../tracing/spans.ts";
import { boundedProcessor } from "./processor.ts";
import { spanRecorder } from "./recorder.ts";
import { batchLimits, samplerOf } from "./settings.ts";

/** Options of a provider. */
export interface TracingOptions {
  /** Name of the process: `worker`, for example. */
  readonly process: string;
  readonly replica: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  readonly registry: Registry;
}

/** A running export of spans. */
export interface Tracing {
  /**
   * Exports the remaining spans within `millis`. Returns `left behind` if the export is still running then; it may keep the
   * process alive.
   */
  stop(millis: number): Promise<"exported" | "left behind">;
}

/** Maximum number of concurrent batches: at the end a full queue is sent at once. */
const concurrencyLimit = 8;

/** Starts recording spans, and exports them to the collector that the OpenTelemetry variables name. */
export function exportSpans(collector: URL, options: TracingOptions): Tracing {
  const { env, log } = options;
  const warn = (problem: string): void => log.warn(problem);
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL;
  if (protocol && protocol !== "http/protobuf")
    warn(`OTEL_EXPORTER_OTLP_PROTOCOL: only http/protobuf is supported, using it`);
  const processor = boundedProcessor({
    exporter: new OTLPTraceExporter({ concurrencyLimit }),
    limits: batchLimits(env, warn),
    collector: `${collector.origin}${collector.pathname}`,
    ...options,
  });
  const provider = new TracerProvider({
    resource: resourceOf(options),
    sampler: samplerOf(env, warn),
    spanProcessors: [processor],
  });
  recordSpans(spanRecorder(provider.getTracer("denrei", manifest.version)));
  log.info({ collector: collector.origin }, "traces are exported");
  return {
    async stop(millis) {
      recordSpans(undefined);
      const late = Promise.withResolvers<"left behind">();
      const timer = setTimeout(() => late.resolve("left behind"), millis);
      const flushed = provider.shutdown().then(
        () => "exported" as const,
        // The processor reports a rejected batch.
        () => "exported" as const,
      );
      const outcome = await Promise.race([flushed, late.promise]);
      clearTimeout(timer);
      if (outcome === "left behind") processor.giveUp();
      return outcome;
    },
  };
}

/** The resource of the spans. Environment variables take precedence over the process's own values. */
const resourceOf = ({ process, replica }: TracingOptions) =>
  defaultResource()
    .merge(
      resourceFromAttributes({
        [ATTR_SERVICE_NAME]: `denrei-${process}`,
        [ATTR_SERVICE_VERSION]: manifest.version,
        [ATTR_SERVICE_INSTANCE_ID]: replica,
      }),
    )
    .merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }));
