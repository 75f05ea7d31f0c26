/**
 * OpenTelemetry variables that its packages leave to the application. As the specification requires, an invalid value causes a
 * warning and is ignored: tracing must not stop a process.
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace";
import { ownValue } from "../../values/ownvalue.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type Warn = (problem: string) => void;

/** Batching of spans. Times in milliseconds. */
export interface BatchLimits {
  readonly scheduledDelayMillis: number;
  readonly exportTimeoutMillis: number;
  /** Maximum number of waiting spans. Further ones are dropped. */
  readonly maxQueueSize: number;
  readonly maxExportBatchSize: number;
}

/** Reads a whole number of at least `least`, or the default. */
function numberOf(env: Environment, variable: string, fallback: number, least: number, warn: Warn): number {
  const text = env[variable]?.trim();
  if (!text) return fallback;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  warn(`${variable}: expected a whole number from ${least} up, found "${text}"; it stays at ${fallback}`);
  return fallback;
}

/** `OTEL_BSP_*`. */
export function batchLimits(env: Environment, warn: Warn): BatchLimits {
  const maxQueueSize = numberOf(env, "OTEL_BSP_MAX_QUEUE_SIZE", 2048, 1, warn);
  const batch = numberOf(env, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512, 1, warn);
  return {
    scheduledDelayMillis: numberOf(env, "OTEL_BSP_SCHEDULE_DELAY", 5000, 0, warn),
    exportTimeoutMillis: numberOf(env, "OTEL_BSP_EXPORT_TIMEOUT", 30_000, 1, warn),
    maxQueueSize,
    maxExportBatchSize: Math.min(batch, maxQueueSize),
  };
}

const samplers: Readonly<Record<string, (ratio: () => number) => Sampler>> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio) => new TraceIdRatioBasedSampler(ratio()),
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio: (ratio) =>
    new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio()) }),
};
const defaultSampler = "parentbased_always_on";

/** `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`. */
export function samplerOf(env: Environment, warn: Warn): Sampler {
  const ratio = (): number => {
    const text = env.OTEL_TRACES_SAMPLER_ARG?.trim();
    const value = Number(text || 1);
    if (value >= 0 && value <= 1) return value;
    warn(`OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1, found "${text}"; it stays at 1`);
    return 1;
  };
  const name = env.OTEL_TRACES_SAMPLER?.trim() || defaultSampler;
  const make = ownValue(samplers, name);
  if (make !== undefined) return make(ratio);
  const names = Object.keys(samplers).join(", ");
  warn(`OTEL_TRACES_SAMPLER: expected one of ${names}, found "${name}"; it stays at ${defaultSampler}`);
  return samplerOf({}, warn);
}
