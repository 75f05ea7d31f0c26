/** RemoteSyncs when webhooks, timers, or workers are lost: nothing is done twice, and nothing is missed. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Image } from "../../functions/paas/kinds/kpack.ts";
import { Application, RemoteSync } from "../../functions/paas/kinds.ts";
import { changedSince, killAtRandom, replayInnocents } from "../harness/crowd.ts";
import { type Paas, startPaas } from "../harness/paas.ts";
import { numberOf, type RemoteSyncs, remoteSyncs, revisionOf } from "../harness/remotesyncs.ts";
import { sized } from "../harness/size.ts";
import { loseTimers, sweep } from "../harness/sweep.ts";
import { has } from "../harness/testobjects.ts";

const fn = "modoki-remotesync";
const timeout = 60_000;
/** The number of gateways and of workers. */
const replicas = sized(2, 3);

let paas: Paas;
let syncs: RemoteSyncs;
beforeAll(async () => {
  paas = await startPaas({ gateways: replicas, workers: replicas, env: { DENREI_ACK_WAIT_SECONDS: "4" } });
  syncs = remoteSyncs(paas);
});
afterAll(() => paas?.stop());

const at = (branch: string) => `GET /repos/acme/web/branches/${branch}`;

/** Webhooks are not delivered until the test ends. */
function loseWebhooks(): void {
  paas.github.deliverTo([]);
  onTestFinished(() => paas.github.deliverTo(paas.gateways.map((gateway) => gateway.hookUrl())));
}

test("a push enqueues the objects that follow its branch, each once, and no others", async () => {
  await syncs.branch("followed");
  await Promise.all([
    syncs.start("one", { branch: "followed" }),
    syncs.start("two", { branch: "followed", owner: "ACME" }),
    syncs.start("other"),
  ]);
  await paas.untilQuiet();
  for (let push = 1; push <= replicas; push++) {
    syncs.asked();
    const revision = await syncs.push("followed");
    await Promise.all(["one", "two"].map((name) => syncs.ready(name, revision)));
    await paas.untilQuiet();
    // Each reconcile also reads the repository, because a branch does not name it.
    const branches = syncs.asked().filter((one) => one.includes("/branches/"));
    expect(branches).toEqual([at("followed"), at("followed")]);
  }
  const pushes = paas.github.deliveries().filter(({ event }) => event === "push");
  expect(new Set(pushes.map(({ status_code }) => status_code))).toEqual(new Set([202]));
  expect(new Set(pushes.map(({ url }) => url)).size).toBe(paas.gateways.length);
});

test("the sweep finds a push without a webhook, and costs nothing when nothing has changed", async () => {
  await syncs.start("swept");
  for (const { metadata } of await paas.environment.list(Application)) await syncs.rolledOut(metadata.name);
  await paas.untilQuiet();
  const asked = () => paas.github.requests().filter(({ path }) => path.endsWith("/branches/swept"));
  const [before, writes] = [asked().length, await paas.writes()];
  const sweeps = sized(4, 6);
  for (let count = 1; count <= sweeps; count++) {
    await sweep(paas, fn);
    await expect.poll(() => asked().length, { timeout }).toBe(before + count);
    await paas.untilQuiet();
  }
  const statuses = asked()
    .slice(before)
    .map(({ status }) => status);
  // Each worker reads the branch in full once.
  expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(paas.workers.length);
  expect(statuses.filter((status) => status === 304).length).toBeGreaterThanOrEqual(
    sweeps - paas.workers.length,
  );
  expect((await paas.writes()) - writes).toBe(0);

  loseWebhooks();
  const revision = await syncs.push("swept");
  await sweep(paas, fn);
  await syncs.ready("swept", revision);
});

test("an undetermined mergeability is read again after the bus has lost the timer", async () => {
  const { number } = await paas.github.openPullRequest({ repository: "acme/web", branch: "timer" });
  paas.github.mergeability("acme/web", number, "pending");
  await paas.application("timer");
  await paas.remoteSync("timer", { pullRequest: number });
  await syncs.until("timer", "MergeabilityUnknown");
  paas.github.mergeability("acme/web", number, "clean");
  for (const worker of paas.workers) await worker.kill();
  await loseTimers(paas, fn);
  for (const worker of paas.workers) await worker.start();
  // Any event will do, because the due time is in the status.
  await expect
    .poll(
      async () => {
        await paas.touch(RemoteSync, "timer");
        return (await syncs.get("timer")).status?.revision;
      },
      { timeout, interval: 250 },
    )
    .toBeDefined();
  await syncs.ready("timer");
});

test("workers killed during a sync leave one Image each, with the digest of the last push", async () => {
  const names = Array.from({ length: sized(2, 4) }, (_, at) => `killed-${at + 1}`);
  await Promise.all(names.map((name) => syncs.start(name)));
  const uids = async () =>
    (await Promise.all(names.map((name) => syncs.image(name)))).map((one) => one?.metadata.uid);
  const before = await uids();
  const wanted = new Map<string, string>();
  let begun = 0;
  const ended = (async () => {
    do {
      for (let round = 0; round < sized(2, 3); round++)
        for (const name of names) wanted.set(name, await syncs.push(name));
      for (const name of names)
        await paas.environment.until(
          RemoteSync,
          { name },
          (sync) => has("Ready", "True")(sync) && sync.status?.revision === wanted.get(name),
          200_000,
        );
      // The third wave has started, so two are complete.
    } while (begun < 3);
  })();
  await Promise.all([
    killAtRandom(paas.workers, ended, {
      pauseMillis: sized(800, 1500),
      mayKill: changedSince(paas.bus),
      onKill: () => {
        begun++;
      },
    }),
    replayInnocents(paas.bus, ["modoki-remotesync", "modoki-application"], ended),
  ]);
  await ended;
  await paas.untilQuiet();
  expect(await uids()).toEqual(before);
  expect(
    (await paas.environment.list(Image)).filter(({ metadata }) => metadata.name.startsWith("modoki-killed-")),
  ).toHaveLength(names.length);
  for (const name of names) {
    const last = (await syncs.builds(name)).at(-1);
    expect(last && revisionOf(last)).toBe(wanted.get(name));
    const numbers = (await syncs.builds(name)).map(numberOf);
    expect(new Set(numbers).size).toBe(numbers.length);
    const app = await syncs.application(name);
    expect(app.spec.image).toBe(last?.status?.latestImage);
    expect(app.metadata.annotations?.["modoki.tsuzu.dev/revision"]).toBe(wanted.get(name));
  }
}, 300_000);

test("a worker that dies between GitHub's response and the first write loses nothing", async () => {
  await syncs.start("torn");
  await paas.untilQuiet();
  const fault = paas.github.fault({ path: /\/branches\/torn$/ }, { delayMillis: 3000 }, 1);
  const revision = await syncs.push("torn");
  await expect.poll(() => fault.hits, { timeout }).toBe(1);
  for (const worker of paas.workers) await worker.kill();
  for (const worker of paas.workers) await worker.start();
  await syncs.ready("torn", revision);
  expect((await syncs.builds("torn")).map(revisionOf).at(-1)).toBe(revision);
});
