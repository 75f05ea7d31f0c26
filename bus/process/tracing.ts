/** Whether the spans of a process are exported. Only then is the exporter loaded, to keep the start fast. */
import { ConfigError } from "../config/config.ts";
import type { Tracing, TracingOptions } from "./otlp/provider.ts";

/** Variables with the collector's address. The first one wins. */
export const endpointVariables = [
  "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
] as const;

/** Further variables that this process or the OpenTelemetry packages read. */
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
 * The collector to which spans are exported, from the OpenTelemetry variables; undefined if they disable the export.
 * Throws a {@link ConfigError} for an invalid address.
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

/** Starts recording and exporting spans if a collector is configured. */
export async function startTracing(
  collector: URL | undefined,
  options: TracingOptions,
): Promise<Tracing | undefined> {
  if (collector === undefined) return undefined;
  const { exportSpans } = await import("./otlp/provider.ts");
  return exportSpans(collector, options);
}
