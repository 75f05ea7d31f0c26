/** Three NATS servers with the configuration of `components/nats-cluster` authenticate to each other, and one may fail. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { connect } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  certificateManifests,
  peerName,
  peerNames,
  serverNames,
} from "../../deploy/generate/certificates.ts";
import { separateLayout } from "../../deploy/generate/layout.ts";
import { createCertificateAuthority } from "../../deploy/local/pki.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { type Replica, startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { expectFinishedSongs, hikawa, isFinished } from "../harness/song.ts";
import { type Secret, secretWith, startTlsBus, type TlsBus } from "../harness/tlsbus.ts";
import type { Manifest } from "./manifests.ts";
import { groupsAt } from "./natsgroups.ts";
import { siteWith } from "./overlays.ts";
import { activeTriggers, look, scaledObjectOf } from "./triggers.ts";

const words = { DENREI_ZUNDOKO_WORDS: "Doko,Zun,Zun,Zun,Zun,Doko" };
const replicas = { DENREI_STREAM_REPLICAS: "3" };
/** Servers in this test connect by address instead of by name. */
const here = "127.0.0.1";
let environment: TestEnvironment;
let bus: TlsBus;
let objects: Manifest[];
let worker: Replica;

beforeAll(async () => {
  const authority = createCertificateAuthority();
  const client = (user: string): Secret =>
    secretWith(`${user}-tls`, authority.cert, authority.client({ user }));
  objects = await siteWith("keda");
  environment = await startTestEnvironment();
  bus = await startTlsBus(
    environment.platform,
    [
      secretWith("nats-tls", authority.cert, authority.server(serverNames("denrei"))),
      secretWith(`${peerName}-tls`, authority.cert, authority.peer({ user: peerName }, [...peerNames, here])),
      ...["denrei-bridge", "denrei-hikawa"].map(client),
    ],
    { servers: 3 },
  );
  // Without kubectl, kustomize may have to be built first.
}, 900_000);
afterAll(() => environment?.stop());

/** The server's response to a would-be peer with the certificate of this Secret. */
async function answerToPeer(secret: string): Promise<string> {
  const { NATS_CA, NATS_CERT, NATS_KEY } = bus.env(secret);
  const [ca, cert, key] = await Promise.all([NATS_CA, NATS_CERT, NATS_KEY].map((path) => readFile(path)));
  const socket = connect({ host: here, port: bus.servers[0]?.peerPort ?? 0, ca, cert, key });
  let said = "";
  socket.write(
    'CONNECT {"verbose":false,"pedantic":false,"tls_required":true,"name":"x","cluster":"denrei"}\r\nPING\r\n',
  );
  for await (const chunk of socket) {
    said += chunk;
    const answer = /^(-ERR .*|PONG)\r$/m.exec(said)?.[1];
    if (answer !== undefined) return answer;
  }
  return "nothing";
}

/** The monitoring endpoint as KEDA reaches it in a cluster: a name per server, and a common name that leads to any of them. */
const monitors = (any = bus.servers[0]) => ({
  urlOf: (address: string): string =>
    (bus.servers.find(({ name }) => address.startsWith(`${name}.`)) ?? any)?.monitorUrl ?? "",
  routeOf(address: string): string {
    const server = bus.servers.find(({ peerPort }) => address === `${here}:${peerPort}`);
    return `${server?.name}.nats-headless:6222`;
  },
});

test("`denrei certificates` has a peer certificate that is valid for the host names of the routes", async () => {
  const secrets = certificateManifests(separateLayout([]), "denrei") as unknown as Secret[];
  const secret = secrets.find(({ metadata }) => metadata.name === `${peerName}-tls`);
  const certificate = new X509Certificate(Buffer.from(secret?.data["tls.crt"] ?? "", "base64"));
  const path = new URL("../../deploy/kubernetes/components/nats-cluster/cluster.conf", import.meta.url);
  const text = await readFile(path, "utf8");
  const routes = [...text.matchAll(/tls:\/\/([^:\s]+):6222/g)].map(([, host = ""]) => host);
  expect(routes).toHaveLength(3);
  for (const host of routes) expect([host, certificate.checkHost(host)]).toEqual([host, expect.any(String)]);
  expect(text).toContain(`user: "${certificate.subject}"`);
});

test("servers accept only the peer certificate of other servers, not those of processes", async () => {
  expect(await answerToPeer("denrei-nats-tls")).toBe("PONG");
  for (const user of ["denrei-bridge", "denrei-hikawa"])
    expect([user, await answerToPeer(`${user}-tls`)]).toEqual([user, "-ERR 'Authorization Violation'"]);
});

test("streams have three replicas, and functions work, even without one of the servers", async () => {
  const bridge = await environment.bridge("bridge-1", {
    env: { ...bus.env("denrei-bridge-tls"), ...replicas },
  });
  worker = await environment.worker("worker-1", ["hikawa"], {
    env: { ...words, ...replicas, ...bus.env("denrei-hikawa-tls") },
  });
  await environment.client.create(Hikawa, hikawa("with-all", 0), { fieldManager: "test" });
  await environment.until(Hikawa, { name: "with-all" }, isFinished);
  const [first] = bus.servers;
  const groups = () => groupsAt(first?.monitorUrl ?? "");
  const names = [
    "OBJECTS",
    "WEBHOOKS",
    "INDEXES",
    "DEADLETTERS",
    "KV_BRIDGE",
    "WORK_hikawa",
    "TIMERS_hikawa",
  ];
  // A server may learn of a stream late. Until it knows the leader, it lists itself among the other replicas.
  await expect
    .poll(
      async () => {
        const { size, streams } = await groups();
        const missing = names.filter((name) => !streams.some((one) => one.name === name));
        const wrong = streams.filter(({ cluster }) => !cluster.leader || cluster.replicas?.length !== 2);
        return { size, missing, wrong };
      },
      { timeout: 60_000 },
    )
    .toEqual({ size: 3, missing: [], wrong: [] });
  const { streams } = await groups();
  await expect
    .poll(() => activeTriggers(objects, "hikawa", monitors()), { timeout: 60_000, interval: 100 })
    .toEqual([]);
  const leader = streams.find(({ name }) => name === "OBJECTS")?.cluster.leader;
  await bus.servers.find(({ name }) => name === leader)?.child.stop("SIGKILL");
  await environment.client.create(Hikawa, hikawa("without-one", 0), { fieldManager: "test" });
  await environment.until(Hikawa, { name: "without-one" }, isFinished, 120_000);
  await expectFinishedSongs(environment, ["with-all", "without-one"]);
  expect(bridge.log.all.filter((line) => line.includes("ermission"))).toEqual([]);
});

test("a function without a worker is woken while KEDA cannot read its triggers because a server is down", async () => {
  const [first, second] = bus.servers;
  // Running servers are not affected.
  for (const { child } of bus.servers) await child.start();
  await expect
    .poll(() => activeTriggers(objects, "hikawa", monitors()), { timeout: 60_000, interval: 100 })
    .toEqual([]);
  await worker.stop();
  // KEDA polls servers in the order of the routes and stops at the first that does not answer.
  await first?.child.stop("SIGKILL");
  await environment.client.create(Hikawa, hikawa("asleep", 0), { fieldManager: "test" });
  const { triggers } = scaledObjectOf(objects, "hikawa").spec;
  expect(await look(objects, "hikawa", monitors(second))).toEqual({
    active: [],
    unreadable: triggers.map(({ metadata: { stream, consumer } }) => `${stream}/${consumer}`),
    awake: true,
  });
  await worker.start();
  await environment.until(Hikawa, { name: "asleep" }, isFinished, 120_000);
});
