/** Without a collector, or with a failing one, reconciling goes on, and the process ends normally. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { crdOf } from "../../bus/kube/crd.ts";
import { tracingVariables } from "../../bus/process/tracing.ts";
import { Planter } from "../fixtures/functions/planters.ts";
import {
  type Replica,
  type ReplicaOptions,
  startTestEnvironment,
  type TestEnvironment,
} from "../harness/environment.ts";
import { metricSum } from "../harness/metrics.ts";
import { has } from "../harness/testobjects.ts";
import { type Collector, startCollector } from "./collector.ts";

const planters = fileURLToPath(new URL("../fixtures/functions/planters.ts", import.meta.url));
const deadline = { timeout: 60_000, interval: 50 };
const unset = Object.fromEntries(tracingVariables.map((name) => [name, undefined]));

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await startTestEnvironment({ crds: [crdOf(Planter)] });
  await environment.bridge("bridge-1", { args: [planters], env: unset });
});
afterAll(() => environment?.stop());

let collector: Collector;
beforeEach(async () => {
  collector = await startCollector();
});
afterEach(() => collector.stop());

let workers = 0;
/** A separate worker. The bridge records nothing, so only the worker's sampler decides what is recorded. */
const worker = (
  env: Readonly<Record<string, string>>,
  options: Pick<ReplicaOptions, "packages"> = {},
): Promise<Replica> =>
  environment.worker(`worker-${++workers}`, [planters], { ...options, env: { ...unset, ...env } });

let planted = 0;
/** Creates this many objects and waits until they are reconciled. */
async function reconcileSome(count: number): Promise<void> {
  const names = Array.from({ length: count }, () => `plant-${++planted}`);
  const kind = { apiVersion: "test.denrei.dev/v1", kind: "Planter", spec: {} };
  const manager = { fieldManager: "kubectl" };
  for (const name of names)
    await environment.client.create(
      Planter,
      { ...kind, metadata: { namespace: "default", name } } as Planter,
      manager,
    );
  await Promise.all(names.map((name) => environment.until(Planter, { name }, has("Ready", "True"))));
}

/** Sends SIGTERM, and expects a regular end in time. */
async function expectOrderlyStop(replica: Replica): Promise<void> {
  const exited = replica.exited();
  await replica.stop();
  expect(await exited).toEqual({ code: 0, signal: null });
  expect(replica.log.records().map(({ msg }) => msg)).toContain("stopped");
}

const warnings = ({ log }: Replica) =>
  log.records().filter(({ msg }) => String(msg).startsWith("traces are not"));

const queued = (replica: Replica) => metricSum([replica], /^denrei_trace_spans_queued /);
const lost = (replica: Replica, outcome: "dropped" | "failed") =>
  metricSum([replica], new RegExp(`^denrei_trace_spans_total{outcome="${outcome}"`));

/** A folder for each process's report of the modules that it loaded. */
async function loadedFolder() {
  const folder = await mkdtemp(join(tmpdir(), "test-loaded-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const packages = async (): Promise<string[]> => {
    const files = await readdir(folder);
    const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
    const names = texts.flatMap((text) => [...text.matchAll(/node_modules\/((?:@[^/"]+\/)?[^/"]+)\//g)]);
    return [...new Set(names.map(([, name = ""]) => name))];
  };
  return { env: { NODE_V8_COVERAGE: folder }, packages };
}

test("without configuration, no tracing module is loaded, and no connection is opened", async () => {
  const loaded = await loadedFolder();
  // Other tracing variables are set, but not the address of the collector.
  const plain = await worker(
    { ...loaded.env, OTEL_SERVICE_NAME: "mine", OTEL_BSP_SCHEDULE_DELAY: "10" },
    { packages: "themselves" },
  );
  await reconcileSome(1);
  await expectOrderlyStop(plain);
  const packages = await loaded.packages();
  expect(packages).toContain("pino");
  // prom-client loads this one itself to look for exemplars.
  expect(packages.filter((name) => name.startsWith("@opentelemetry/"))).toEqual(["@opentelemetry/api"]);
  expect(collector.connections).toBe(0);
});

test("configured without sampling, nothing is sent", async () => {
  const loaded = await loadedFolder();
  // Parent-based, and the bridge does not record.
  const quiet = await worker({ ...loaded.env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  await reconcileSome(2);
  await expectOrderlyStop(quiet);
  expect(await loaded.packages()).toContain("@opentelemetry/sdk-trace");
  expect(collector.requests).toEqual([]);
});

test("with a hanging collector, the queue is bounded, one warning is logged, and the stop is in time", async () => {
  collector.conduct = "hang";
  const hung = await worker({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
    OTEL_TRACES_SAMPLER: "always_on",
    // Longer than the limit for stopping.
    OTEL_EXPORTER_OTLP_TIMEOUT: "60000",
    OTEL_BSP_MAX_QUEUE_SIZE: "16",
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "8",
    OTEL_BSP_SCHEDULE_DELAY: "10",
  });
  await reconcileSome(12);
  await expect.poll(() => lost(hung, "dropped"), deadline).toBeGreaterThan(0);
  expect(await queued(hung)).toBe(16);
  expect(warnings(hung)).toMatchObject([
    { level: "warn", collector: `${collector.url}/v1/traces`, reason: "more spans than the queue holds" },
  ]);
  await expectOrderlyStop(hung);
  expect(warnings(hung)).toHaveLength(1);
});

test("with a collector that refuses and then accepts, one warning and one recovery are logged", async () => {
  collector.conduct = "refuse";
  const refused = await worker({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20s3cret-token",
    OTEL_TRACES_SAMPLER: "always_on",
    OTEL_BSP_SCHEDULE_DELAY: "10",
  });
  await reconcileSome(1);
  await expect.poll(() => lost(refused, "failed"), deadline).toBeGreaterThan(0);
  const before = collector.requests.length;
  await reconcileSome(1);
  await expect.poll(() => collector.requests.length, deadline).toBeGreaterThan(before);
  expect(warnings(refused)).toMatchObject([{ collector: `${collector.url}/`, reason: "400" }]);
  collector.conduct = "take";
  await reconcileSome(1);
  await refused.log.until((line) => line.includes('"msg":"traces are exported again"'));
  await expectOrderlyStop(refused);
  expect(collector.spans.map(({ name }) => name)).toContain("reconcile planters");
  expect(collector.requests[0]).toMatchObject({
    path: "/v1/traces",
    headers: { authorization: "Bearer s3cret-token", "content-type": "application/x-protobuf" },
  });
  expect(refused.log.all.filter((line) => line.includes("s3cret"))).toEqual([]);
  expect(warnings(refused)).toHaveLength(1);
});
