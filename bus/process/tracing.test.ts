/** Whether and where spans are exported. */
import { expect, test } from "vitest";
import { collectorOf } from "./tracing.ts";

const general = "OTEL_EXPORTER_OTLP_ENDPOINT";
const ofTraces = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";

test.each<[Record<string, string>, string | undefined]>([
  [{}, undefined],
  [{ OTEL_SERVICE_NAME: "mine", OTEL_TRACES_SAMPLER: "always_on" }, undefined],
  [{ [general]: " " }, undefined],
  [{ [general]: "http://c:4318" }, "http://c:4318/"],
  [{ [general]: "http://c:4318", [ofTraces]: "https://t/v1/traces" }, "https://t/v1/traces"],
  [{ [general]: "http://c:4318", OTEL_SDK_DISABLED: "True" }, undefined],
  [{ [general]: "http://c:4318", OTEL_SDK_DISABLED: "false" }, "http://c:4318/"],
  [{ [general]: "http://c:4318", OTEL_TRACES_EXPORTER: "none" }, undefined],
])("with %j the collector is %s", (env, collector) => {
  expect(collectorOf(env)?.href).toBe(collector);
});

test.each(["collector:4318", "grpc://c:4317", "token@c"])(
  "rejects %s as a collector without showing it",
  (text) => {
    expect(() => collectorOf({ [general]: text })).toThrow(
      /^OTEL_EXPORTER_OTLP_ENDPOINT: expected the URL of a collector that takes OTLP over HTTP, such as http:\/\/collector:4318, found another text$/,
    );
  },
);
