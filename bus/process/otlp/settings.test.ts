/** OpenTelemetry variables: their values, and warnings about invalid ones. */
import { expect, test } from "vitest";
import { batchLimits, samplerOf } from "./settings.ts";

const nobody = (problem: string): never => {
  throw new Error(problem);
};

test.each([
  [{}, "ParentBased{root=AlwaysOnSampler, "],
  [{ OTEL_TRACES_SAMPLER: "always_off" }, "AlwaysOffSampler"],
  [{ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.25" }, "TraceIdRatioBased{0.25}"],
  [{ OTEL_TRACES_SAMPLER: "parentbased_traceidratio" }, "ParentBased{root=TraceIdRatioBased{1}, "],
  [{ OTEL_TRACES_SAMPLER: "parentbased_always_off" }, "ParentBased{root=AlwaysOffSampler, "],
])("%j is the sampler %s", (env, text) => {
  expect(samplerOf(env, nobody).toString()).toContain(text);
});

test("warns about an unknown sampler or an invalid ratio, and uses the default", () => {
  const told: string[] = [];
  const sampler = samplerOf({ OTEL_TRACES_SAMPLER: "toString" }, (problem) => told.push(problem));
  expect(sampler.toString()).toContain("ParentBased{root=AlwaysOnSampler");
  samplerOf({ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "2" }, (problem) =>
    told.push(problem),
  );
  expect(told).toEqual([
    expect.stringMatching(
      /^OTEL_TRACES_SAMPLER: expected one of always_on, .*, found "toString"; it stays at/,
    ),
    'OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1, found "2"; it stays at 1',
  ]);
});

test("reads batch sizes from the variables, and never exceeds the queue size", () => {
  expect(batchLimits({}, nobody)).toEqual({
    scheduledDelayMillis: 5000,
    exportTimeoutMillis: 30_000,
    maxQueueSize: 2048,
    maxExportBatchSize: 512,
  });
  const told: string[] = [];
  const env = { OTEL_BSP_MAX_QUEUE_SIZE: "10", OTEL_BSP_SCHEDULE_DELAY: "0", OTEL_BSP_EXPORT_TIMEOUT: "1s" };
  expect(batchLimits(env, (problem) => told.push(problem))).toEqual({
    scheduledDelayMillis: 0,
    exportTimeoutMillis: 30_000,
    maxQueueSize: 10,
    maxExportBatchSize: 10,
  });
  expect(told).toEqual([
    'OTEL_BSP_EXPORT_TIMEOUT: expected a whole number from 1 up, found "1s"; it stays at 30000',
  ]);
});
