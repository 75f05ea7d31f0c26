/** What is lost with the bus, what comes back by itself, and what a backup brings back. */
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
import { type GatewayReplica, type LocalKit, type Replica, startLocalKit } from "../harness/kit.ts";
import { programs } from "../harness/programs.ts";
import { untilQuiet } from "../harness/quiet.ts";
import { expectFinishedSongs, hikawa, isFinished } from "../harness/song.ts";
import { hookOf, post, push } from "../harness/webhooks.ts";
import { operator } from "./operator.ts";

const nats = (await programs("nats")).nats.path;

const words = { DENREI_ZUNDOKO_WORDS: "Doko,Zun,Zun,Zun,Zun,Doko" };
/** Its children's names would be too long, which no retry changes. */
const hopeless = "long".padEnd(250, "g");
const patience = { timeout: 90_000, interval: 200 };
let kit: LocalKit;
let admin: Bus;
let bridge: Replica;
let worker: Replica;
let gateway: GatewayReplica;
let backups: string;

const as = (role: string) => ({ NATS_URL: kit.platform.natsUrlFor(role) });
const { letters, deliveries } = operator(() => as("operator"));

/** The client of NATS, as docs/operations.md says how. */
const natsAs = (role: string, ...args: string[]) =>
  promisify(execFile)(nats, ["--inbox-prefix", inboxPrefixOf(userOf(role)), ...args], {
    env: { ...process.env, ...as(role) },
  });

const sing = (name: string, intervalMillis = 0) =>
  kit.client.create(Hikawa, hikawa(name, intervalMillis), { fieldManager: "test" });
const finished = (name: string) => kit.until(Hikawa, { namespace: "default", name }, isFinished, 90_000);

/**
 * Waits for the end of all songs and of all work. An earlier song looks shorter than it is until the bridge has published all of its
 * words again.
 */
async function allFinished(names: readonly string[]): Promise<void> {
  await Promise.all(names.map(finished));
  await untilQuiet({ bus: admin, client: kit.client, functions: [hikawaFunction] });
  await expectFinishedSongs(kit, names);
}

/** The server is killed, and comes back without anything. */
async function loseTheBus(): Promise<void> {
  await kit.platform.nats.stop("SIGKILL");
  await rm(join(kit.platform.directory, "nats"), { recursive: true });
  await kit.platform.nats.start();
}

beforeAll(async () => {
  kit = await startLocalKit();
  admin = await connectBus({ url: kit.platform.natsUrl, name: "test" });
  backups = join(kit.platform.directory, "backups");
  await mkdir(backups);
  [bridge, worker, gateway] = await Promise.all([
    kit.bridge("bridge-1"),
    kit.worker("worker-1", ["hikawa"], { env: words }),
    kit.gateway("gateway-1"),
  ]);
  await sing("before");
  await finished("before");
  await sing(hopeless);
});
afterAll(async () => {
  await admin?.nc.close();
  await kit?.stop();
});

describe("a bus that comes back empty", () => {
  test("is filled again while everybody runs on, and what is created then and what was half done is done", async () => {
    await expect.poll(letters, patience).toEqual([hopeless]);
    await sing("half-done", 3000);
    await kit.until(Hikawa, { namespace: "default", name: "half-done" }, ({ status }) =>
      Boolean(status?.numZundokosSaid),
    );
    await loseTheBus();
    await sing("after");
    await allFinished(["before", "half-done", "after"]);
  });

  test("what was given up is tried once more, and given up again", async () => {
    await expect.poll(letters, patience).toEqual([hopeless]);
  });

  test("every kind is watched again", async () => {
    const lagging = async () =>
      (await bridge.probe("/metrics")).text
        .split("\n")
        .filter((line) => /^denrei_bridge_(leading\{.*\} 0|behind_seconds\{.*\} [1-9])/.test(line));
    await expect.poll(lagging, patience).toEqual([]);
  });
});

test("objects that the bus has lost, and not how far the bridge was, are there again: a power cut", async () => {
  await bridge.stop();
  const objects = kindSubjects("default", Hikawa);
  const known = async () =>
    (await admin.jsm.streams.info(streams.objects, { subjects_filter: objects })).state.subjects;
  const before = Object.keys((await known()) ?? {}).length;
  await admin.jsm.streams.purge(streams.objects, { filter: objects });
  await bridge.start();
  await expect.poll(async () => Object.keys((await known()) ?? {}).length, patience).toBe(before);
});

describe("a backup", () => {
  let delivery: string;

  test("is taken of what nobody else has, by a user who may do nothing else", async () => {
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

  test("brings it back to an empty bus, before the bridge makes the streams", async () => {
    await Promise.all([bridge.stop(), worker.stop(), gateway.stop()]);
    await loseTheBus();
    for (const stream of keptStreams)
      await natsAs("restore", "backup", "restore", "stream", join(backups, stream));
    expect(await letters()).toEqual([hopeless]);
    expect(await deliveries()).toEqual([delivery]);
  });

  test("is followed by the platform as it was", async () => {
    await bridge.start();
    await Promise.all([worker.start(), gateway.start()]);
    await sing("restored");
    await allFinished(["before", "half-done", "after", "restored"]);
    expect(await deliveries()).toEqual([delivery]);
    const { code } = await run(["webhooks", "replay", delivery], { env: as("operator") });
    expect(code).toBe(0);
  });
});
