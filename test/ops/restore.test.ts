/** Losing the data of the bus: what the platform recovers itself, and what a backup restores. */
import { execFile } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import { inboxPrefixOf, userOf } from "../../bus/nats/identity.ts";
import { keptStreams } from "../../bus/permissions.ts";
import { kindSubjects, streams } from "../../bus/subjects.ts";
import hikawaFunction from "../../functions/zundoko/hikawa.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { run } from "../cli/program.ts";
import {
  type GatewayReplica,
  type LocalTestEnvironment,
  type Replica,
  startLocalTestEnvironment,
} from "../harness/environment.ts";
import { programs } from "../harness/programs.ts";
import { untilQuiet } from "../harness/quiet.ts";
import { expectFinishedSongs, hikawa, isFinished } from "../harness/song.ts";
import { hookOf, post, push } from "../harness/webhooks.ts";
import { operator } from "./operator.ts";

const nats = (await programs("nats")).nats.path;

const words = { DENREI_ZUNDOKO_WORDS: "Doko,Zun,Zun,Zun,Zun,Doko" };
/** An object that always fails: the names of its children would be too long. */
const hopeless = "long".padEnd(250, "g");
const polling = { timeout: 90_000, interval: 200 };
let environment: LocalTestEnvironment;
let admin: Bus;
let bridge: Replica;
let worker: Replica;
let gateway: GatewayReplica;
let backups: string;

const as = (role: string) => ({ NATS_URL: environment.platform.natsUrlFor(role) });
const { letters, deliveries } = operator(() => as("operator"));

/** Runs the NATS command line as in docs/operations.md. */
const natsAs = (role: string, ...args: string[]) =>
  promisify(execFile)(nats, ["--inbox-prefix", inboxPrefixOf(userOf(role)), ...args], {
    env: { ...process.env, ...as(role) },
  });

const sing = (name: string, intervalMillis = 0) =>
  environment.client.create(Hikawa, hikawa(name, intervalMillis), { fieldManager: "test" });
const finished = (name: string) =>
  environment.until(Hikawa, { namespace: "default", name }, isFinished, 90_000);

/**
 * Waits until all songs and all work have ended. An earlier song looks incomplete until the bridge has published all of its words
 * again.
 */
async function allFinished(names: readonly string[]): Promise<void> {
  await Promise.all(names.map(finished));
  await untilQuiet({ bus: admin, client: environment.client, functions: [hikawaFunction] });
  await expectFinishedSongs(environment, names);
}

/** Kills the server and starts it again without data. */
async function loseTheBus(): Promise<void> {
  await environment.platform.nats.stop("SIGKILL");
  await rm(join(environment.platform.directory, "nats"), { recursive: true });
  await environment.platform.nats.start();
}

beforeAll(async () => {
  environment = await startLocalTestEnvironment();
  admin = await connectBus({ url: environment.platform.natsUrl, name: "test" });
  backups = join(environment.platform.directory, "backups");
  await mkdir(backups);
  [bridge, worker, gateway] = await Promise.all([
    environment.bridge("bridge-1"),
    environment.worker("worker-1", ["hikawa"], { env: words }),
    environment.gateway("gateway-1"),
  ]);
  await sing("before");
  await finished("before");
  await sing(hopeless);
});
afterAll(async () => {
  await admin?.nc.close();
  await environment?.stop();
});

describe("a bus that restarts empty", () => {
  test("is filled again while all processes keep running, and new and unfinished work completes", async () => {
    await expect.poll(letters, polling).toEqual([hopeless]);
    await sing("half-done", 3000);
    await environment.until(Hikawa, { namespace: "default", name: "half-done" }, ({ status }) =>
      Boolean(status?.numZundokosSaid),
    );
    await loseTheBus();
    await sing("after");
    await allFinished(["before", "half-done", "after"]);
  });

  test("a dead-lettered object is retried once and dead-lettered again", async () => {
    await expect.poll(letters, polling).toEqual([hopeless]);
  });

  test("every kind is watched again", async () => {
    const lagging = async () =>
      (await bridge.probe("/metrics")).text
        .split("\n")
        .filter((line) => /^denrei_bridge_(leading\{.*\} 0|behind_seconds\{.*\} [1-9])/.test(line));
    await expect.poll(lagging, polling).toEqual([]);
  });
});

test("objects that the bus lost, while it kept the bridge's position, are published again (power failure)", async () => {
  await bridge.stop();
  const objects = kindSubjects("default", Hikawa);
  const known = async () =>
    (await admin.jsm.streams.info(streams.objects, { subjects_filter: objects })).state.subjects;
  const before = Object.keys((await known()) ?? {}).length;
  await admin.jsm.streams.purge(streams.objects, { filter: objects });
  await bridge.start();
  await expect.poll(async () => Object.keys((await known()) ?? {}).length, polling).toBe(before);
});

describe("a backup", () => {
  let delivery: string;

  test("covers the streams that exist only on the bus, with a user who has no other rights", async () => {
    const hook = hookOf("push", push("owner/repository", "main"));
    expect(await post(gateway.hookUrl(), hook)).toBe(202);
    [delivery = ""] = await deliveries();
    for (const stream of keptStreams)
      await natsAs("backup", "backup", "stream", stream, join(backups, stream));
    await expect(natsAs("backup", "backup", "stream", "OBJECTS", join(backups, "no"))).rejects.toThrow();
    await expect(
      natsAs("backup", "backup", "restore", "stream", join(backups, "DEADLETTERS")),
    ).rejects.toThrow();
  });

  test("is restored to an empty bus before the bridge creates the streams", async () => {
    await Promise.all([bridge.stop(), worker.stop(), gateway.stop()]);
    await loseTheBus();
    for (const stream of keptStreams)
      await natsAs("restore", "backup", "restore", "stream", join(backups, stream));
    expect(await letters()).toEqual([hopeless]);
    expect(await deliveries()).toEqual([delivery]);
  });

  test("is followed by normal operation", async () => {
    await bridge.start();
    await Promise.all([worker.start(), gateway.start()]);
    await sing("restored");
    await allFinished(["before", "half-done", "after", "restored"]);
    expect(await deliveries()).toEqual([delivery]);
    const { code } = await run(["webhooks", "replay", delivery], { env: as("operator") });
    expect(code).toBe(0);
  });
});
