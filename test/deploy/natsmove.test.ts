/** The move from one NATS server to three as in deploy/kubernetes/README.md keeps data that only the bus has. */
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inboxPrefixOf, userOf } from "../../bus/nats/identity.ts";
import { keptStreams } from "../../bus/permissions.ts";
import { peerName, peerNames, serverNames } from "../../deploy/generate/certificates.ts";
import { createCertificateAuthority } from "../../deploy/local/pki.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { programs } from "../harness/programs.ts";
import { expectFinishedSongs, hikawa, isFinished } from "../harness/song.ts";
import { type Secret, secretWith, startTlsBus, type TlsBus } from "../harness/tlsbus.ts";
import { hookOf, post, push } from "../harness/webhooks.ts";
import { operator } from "../ops/operator.ts";
import { groupsAt } from "./natsgroups.ts";

const nats = (await programs("nats")).nats.path;

const words = { DENREI_ZUNDOKO_WORDS: "Doko,Zun,Zun,Zun,Zun,Doko" };
const replicas = { DENREI_STREAM_REPLICAS: "3" };
/** Servers in this test connect by address instead of by name. */
const here = "127.0.0.1";
/** An object that always fails: the names of its children would be too long. */
const hopeless = "long".padEnd(250, "g");
const polling = { timeout: 90_000, interval: 200 };
let environment: TestEnvironment;
let secrets: Secret[];
let backups: string;
/** The current bus: one server, then three. */
let bus: TlsBus;

const as = (role: string) => bus.env(`${userOf(role)}-tls`);
const { letters, deliveries } = operator(() => as("operator"));

/** Runs the NATS command line. */
const natsAs = (role: string, ...args: string[]) =>
  promisify(execFile)(nats, ["--inbox-prefix", inboxPrefixOf(userOf(role)), "backup", ...args], {
    env: { ...process.env, ...as(role) },
  });
const replicasOf = async () =>
  (await groupsAt(bus.servers[0]?.monitorUrl ?? "")).streams.map(({ name, cluster }) => [
    name,
    (cluster.replicas ?? []).length + 1,
  ]);
const sing = async (name: string) => {
  await environment.client.create(Hikawa, hikawa(name, 0), { fieldManager: "test" });
  await environment.until(Hikawa, { name }, isFinished, 90_000);
};

beforeAll(async () => {
  const authority = createCertificateAuthority();
  const clients = ["bridge", "gateway", "hikawa", "operator", "backup", "restore"].map(userOf);
  secrets = [
    secretWith("nats-tls", authority.cert, authority.server(serverNames("denrei"))),
    secretWith(`${peerName}-tls`, authority.cert, authority.peer({ user: peerName }, [...peerNames, here])),
    ...clients.map((user) => secretWith(`${user}-tls`, authority.cert, authority.client({ user }))),
  ];
  environment = await startTestEnvironment();
  backups = join(environment.platform.directory, "backups");
  await mkdir(backups);
  bus = await startTlsBus(environment.platform, secrets, { name: "one" });
}, 300_000);
afterAll(() => environment?.stop());

test("one server becomes three, and its data is there in three replicas", async () => {
  const former = await Promise.all([
    environment.bridge("bridge-of-one", { env: as("bridge") }),
    environment.worker("worker-of-one", ["hikawa"], { env: { ...words, ...as("hikawa") } }),
    environment.gateway("gateway-of-one", { env: as("gateway") }),
  ]);
  const [bridge, worker, gateway] = former;
  await sing("before");
  await environment.client.create(Hikawa, hikawa(hopeless, 0), { fieldManager: "test" });
  await expect.poll(letters, polling).toEqual([hopeless]);
  expect(await post(gateway.hookUrl(), hookOf("push", push("owner/repository", "main")))).toBe(202);
  const kept = { letters: await letters(), deliveries: await deliveries() };
  expect(kept.deliveries).toHaveLength(1);

  await Promise.all([bridge.stop(), gateway.stop()]);
  for (const stream of keptStreams) await natsAs("backup", "stream", stream, join(backups, stream));
  await worker.stop();
  await Promise.all(bus.servers.map(({ child }) => child.stop()));

  bus = await startTlsBus(environment.platform, secrets, { name: "three", servers: 3 });
  for (const stream of keptStreams)
    await natsAs("restore", "restore", "stream", "--replicas", "3", join(backups, stream));
  expect({ letters: await letters(), deliveries: await deliveries() }).toEqual(kept);

  await environment.bridge("bridge-of-three", { env: { ...as("bridge"), ...replicas } });
  await environment.worker("worker-of-three", ["hikawa"], {
    env: { ...words, ...replicas, ...as("hikawa") },
  });
  await sing("after");
  await expectFinishedSongs(environment, ["before", "after"]);
  expect({ letters: await letters(), deliveries: await deliveries() }).toEqual(kept);
  const names = [...keptStreams, "OBJECTS", "KV_BRIDGE", "WORK_hikawa", "TIMERS_hikawa"];
  // A server may learn of a stream late. Until it knows the leader, it lists itself among the other replicas.
  const looked = async () => {
    const copies = await replicasOf();
    const missing = names.filter((name) => !copies.some(([one]) => one === name));
    return { missing, wrong: copies.filter(([, count]) => count !== 3) };
  };
  await expect.poll(looked, { timeout: 60_000 }).toEqual({ missing: [], wrong: [] });
});
