/** Whether the spans of a process are exported. What does it is loaded only then: a process that starts quickly is worth more. */
import { ConfigError } from "../config/config.ts";
import type { Tracing, TracingOptions } from "./otlp/provider.ts";

/** What says where the collector is; the first one wins. */
export const endpointVariables = [
  "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
] as const;

/** What else is read once one of these is set: by this process, or by the packages of OpenTelemetry. */
export const tracingVariables: readonly string[] = [
  ...endpointVariables,
  ...[
    "HEADERS",
    "TIMEOUT",
    "COMPRESSION",
    "CERTIFICATE",
    "CLIENT_CERTIFICATE",
    "CLIENT_KEY",
    "PROTOCOL",
  ].flatMap((name) => [`OTEL_EXPORTER_OTLP_${name}`, `OTEL_EXPORTER_OTLP_TRACES_${name}`]),
  ...["OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"],
  ...["SCHEDULE_DELAY", "EXPORT_TIMEOUT", "MAX_QUEUE_SIZE", "MAX_EXPORT_BATCH_SIZE"].map(
    (name) => `OTEL_BSP_${name}`,
  ),
  ...["OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER"],
];

/**
 * The collector that spans are to be exported to, as the variables of OpenTelemetry say it; undefined when they are not.
 * Throws a {@link ConfigError} when its address is none.
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export function collectorOf(env: TracingOptions["env"]): URL | undefined {
  const variable = endpointVariables.find((name) => env[name]?.trim());
  if (variable === undefined || env.OTEL_SDK_DISABLED?.trim().toLowerCase() === "true") return undefined;
  if (env.OTEL_TRACES_EXPORTER?.trim() === "none") return undefined;
  const url = URL.parse(env[variable]?.trim() ?? "");
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new ConfigError(
      `${variable}: expected the URL of a collector that takes OTLP over HTTP, such as http://collector:4318, found another text`,
    );
  return url;
}

/** Begins to record spans and to export them, if there is a collector. */
export async function startTracing(
  collector: URL | undefined,
  options: TracingOptions,
): Promise<Tracing | undefined> {
  if (collector === undefined) return undefined;
  const { exportSpans } = await import("./otlp/provider.ts");
  return exportSpans(collector, options);
}
