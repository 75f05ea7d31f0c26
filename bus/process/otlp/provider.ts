/** Spans by the SDK of OpenTelemetry: recorded, batched, and sent to a collector. */
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
import manifest from "../../../package.json" with { type: "json" };
import { recordSpans } from "../../tracing/spans.ts";
import { boundedProcessor } from "./processor.ts";
import { spanRecorder } from "./recorder.ts";
import { batchLimits, samplerOf } from "./settings.ts";

/** Where spans come from, and who is told what becomes of them. */
export interface TracingOptions {
  /** `worker`, say. */
  readonly process: string;
  readonly replica: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  readonly registry: Registry;
}

/** Spans are recorded and exported. */
export interface Tracing {
  /**
   * Exports what is left, if that can be done within `millis`. What is then still under way is told by `left behind`, and may
   * keep the process from ending by itself.
   */
  stop(millis: number): Promise<"exported" | "left behind">;
}

/** Batches that are sent at once: at the end a full queue is sent whole. */
const concurrencyLimit = 8;

/** Begins to record spans, and exports them to the collector as the variables of OpenTelemetry say. */
export function exportSpans(collector: URL, options: TracingOptions): Tracing {
  const { env, log } = options;
  const warn = (problem: string): void => log.warn(problem);
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL;
  if (protocol && protocol !== "http/protobuf")
    warn(
      `OTEL_EXPORTER_OTLP_PROTOCOL: expected http/protobuf, found another; traces are sent so all the same`,
    );
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
        // A batch that was refused is told by the processor.
        () => "exported" as const,
      );
      const outcome = await Promise.race([flushed, late.promise]);
      clearTimeout(timer);
      if (outcome === "left behind") processor.giveUp();
      return outcome;
    },
  };
}

/** Who the spans are of: what the environment says goes before what the process knows. */
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
