/** Replaying every event after the end causes no write. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import { kindSubjects, streams } from "../../bus/subjects.ts";
import { kindsOf } from "../../bus/worker/function.ts";
import hikawaFunction from "../../functions/zundoko/hikawa.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { wordsVariable } from "../../functions/zundoko/words.ts";
import { type Replica, startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { metricSum } from "../harness/metrics.ts";
import { untilQuiet } from "../harness/quiet.ts";
import { sized } from "../harness/size.ts";
import { expectFinishedSongs, hikawa, isFinished } from "../harness/song.ts";

let environment: TestEnvironment;
let bus: Bus;
let workers: Replica[];
const scope = { fn: "hikawa", cluster: "default" };
const rounds = sized(6, 100);
/** Rounds without a pause between them. */
const together = 3;

beforeAll(async () => {
  environment = await startTestEnvironment();
  bus = await connectBus({ url: environment.platform.natsUrl, name: "test" });
  const env = { [wordsVariable]: "Doko,Zun,Zun,Zun,Zun,Doko", DENREI_LOG_LEVEL: "info" };
  await environment.bridge("bridge-1", { program: "functions", args: [scope.fn] });
  workers = await Promise.all([1, 2].map((n) => environment.worker(`worker-${n}`, ["hikawa"], { env })));
});
afterAll(async () => {
  await bus?.nc.close();
  await environment?.stop();
});

const writes = () => metricSum(workers, /^rest_client_requests_total\{.*method="(POST|PATCH|PUT|DELETE)"/);
const reconciles = () => metricSum(workers, /^controller_runtime_reconcile_total/);

const untilIdle = () => untilQuiet({ bus, client: environment.client, functions: [hikawaFunction] });

test(`replaying every event ${rounds} times after the end causes 0 writes`, async () => {
  const names = ["ended-1", "ended-2"];
  for (const name of names) {
    await environment.client.create(Hikawa, hikawa(name, 0), { fieldManager: "test" });
    await environment.until(Hikawa, { name }, isFinished);
  }
  await untilIdle();
  // Fresh processes do not remember their own writes. Their counters start at 0.
  for (const worker of workers) {
    await worker.stop();
    await worker.start();
  }
  const kinds = kindsOf(hikawaFunction).map((kind) => kindSubjects(scope.cluster, kind));
  const found = await bus.jsm.direct.getLastMessagesFor(streams.objects, { multi_last: kinds });
  const events = [];
  for await (const { subject, data, header } of found) {
    // Stored with the event, but set by the server.
    for (const name of header.keys()) if (name.startsWith("Nats-")) header.delete(name);
    events.push({ subject, data, headers: header });
  }
  expect(events).toHaveLength(2 * (1 + 6 + 1));
  for (let round = 0; round < rounds; round++) {
    await Promise.all(events.map(({ subject, data, headers }) => bus.js.publish(subject, data, { headers })));
    if (round % together === together - 1) await untilIdle();
  }
  await untilIdle();
  expect(await writes()).toBe(0);
  // Events of an object that is queued or in flight are coalesced, so each round starts when everything is idle.
  expect(await reconciles(), "the events did wake the function").toBeGreaterThanOrEqual(
    (names.length * rounds) / together,
  );
  await expectFinishedSongs(environment, names);
});
