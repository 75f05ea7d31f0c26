/** Previews while workers are killed (-9): all are created, and each is reported to GitHub once. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { changedSince, killAtRandom, replayInnocents } from "../harness/crowd.ts";
import { githubReports } from "../harness/githubreports.ts";
import { type Paas, startPaas } from "../harness/paas.ts";
import { type Previews, phasesOf, previewAt, previewsOn } from "../harness/previews.ts";
import { sized } from "../harness/size.ts";
import { has } from "../harness/testobjects.ts";
import { keyState } from "../ket/keystate.ts";

/** No build finishes and nothing runs: only the created objects matter. */
const idle = {
  builder: { kind: "ClusterBuilder" as const, name: "absent" },
  applicationTemplate: { spec: { replicas: 0 } },
};
const polling = { timeout: 120_000, interval: 20 };
const functions = ["modoki-apppipeline", "modoki-remotesync", "modoki-application", "modoki-report"];
/** Concurrent pull requests. */
const wave = sized(5, 30);

let paas: Paas;
let previews: Previews;
beforeAll(async () => {
  const names = ["killed", "halfway"];
  paas = await startPaas({
    gateways: 1,
    workers: sized(2, 3),
    repositories: names.map((name) => `acme/${name}`),
    env: { DENREI_ACK_WAIT_SECONDS: "4" },
  });
  previews = previewsOn(paas);
});
afterAll(() => paas?.stop());

/** The queue state of a pipeline and of its previews' RemoteSyncs. */
const statesOf = (name: string, numbers: readonly number[]): Promise<string[]> =>
  Promise.all([
    keyState(paas.bus, { fn: "modoki-apppipeline", cluster: "default" }, { namespace: "default", name }),
    ...numbers.map((number) =>
      keyState(paas.bus, { fn: "modoki-remotesync", cluster: "default" }, previewAt(name, number)),
    ),
  ]);

test("creates each preview with one comment and one deployment while workers are killed at random", async () => {
  const all: number[] = [];
  const openMore = async () => {
    for (let count = 0; count < wave; count++) all.push((await previews.open("killed")).number);
  };
  await openMore();
  await previews.create("killed", { ...idle, report: { deployment: true } });
  const reports = githubReports(paas, "killed");
  const isAll = (phases: object) =>
    JSON.stringify(phases) === JSON.stringify(Object.fromEntries(all.map((number) => [number, "Building"])));
  let begun = 0;
  const done = (async () => {
    for (;;) {
      await previews
        .until(
          "killed",
          (pipeline) =>
            has("Reported", "True")(pipeline) &&
            isAll(phasesOf(pipeline)) &&
            // The condition may describe an earlier wave.
            pipeline.status?.reports?.length === all.length,
          200_000,
        )
        .catch(async (error: Error) => {
          throw new Error([error.message, ...(await statesOf("killed", all))].join("\n"));
        });
      // The third wave has started, so two are complete.
      if (begun > 2) return;
      await openMore();
    }
  })();
  await Promise.all([
    killAtRandom(paas.workers, done, {
      pauseMillis: sized(1200, 2500),
      mayKill: changedSince(paas.bus),
      onKill: () => {
        begun++;
      },
    }),
    replayInnocents(paas.bus, functions, done),
  ]);
  await done;
  expect(await previews.numbers("killed")).toEqual({ applications: all, remoteSyncs: all });
  for (const number of all) {
    expect(await reports.comments(number)).toHaveLength(1);
    expect(await reports.deployments(number)).toHaveLength(1);
  }
}, 300_000);

test("the next worker finds what a dead worker reported but did not record", async () => {
  const [first, second] = [await previews.open("halfway"), await previews.open("halfway")];
  const reports = githubReports(paas, "halfway");
  // The second status gets no response, so none of the reports is recorded.
  const fault = paas.github.fault(
    { method: "POST", path: new RegExp(`/statuses/${second.headSha}`) },
    { delayMillis: 60_000 },
    1,
  );
  await previews.create("halfway", { ...idle, report: { deployment: true } });
  await expect.poll(() => fault.hits, polling).toBe(1);
  expect(await reports.comments(1)).toHaveLength(1);
  await Promise.all(paas.workers.map((worker) => worker.kill()));
  await Promise.all(paas.workers.map((worker) => worker.start()));
  await previews.until("halfway", has("Reported", "True"), 150_000);
  await expect.poll(async () => (await reports.statuses(second.headSha)).length, polling).toBeGreaterThan(0);
  for (const number of [1, 2]) {
    expect(await reports.comments(number)).toHaveLength(1);
    expect(await reports.deployments(number)).toHaveLength(1);
  }
  expect((await reports.deployments(1))[0]?.[0]).toBe(first.headSha);
}, 240_000);
