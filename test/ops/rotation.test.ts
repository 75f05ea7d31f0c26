/** Certificates and their authority are replaced during reconciles, as in docs/operations.md: two authorities side by side, no restart. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { busSettings, readSettings } from "../../bus/config/config.ts";
import { busAddress, connectBus } from "../../bus/nats/connect.ts";
import { type CertificateAuthority, createCertificateAuthority } from "../../deploy/local/pki.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { type Replica, startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { expectFinishedSongs, hikawa, isFinished } from "../harness/song.ts";
import { type Secret, secretWith, startTlsBus, type TlsBus, type TlsServer } from "../harness/tlsbus.ts";

const words = { DENREI_ZUNDOKO_WORDS: "Doko,Zun,Zun,Zun,Zun,Doko" };
const [former, next] = [createCertificateAuthority("former"), createCertificateAuthority("next")];
const both = former.cert + next.cert;
let environment: TestEnvironment;
let bus: TlsBus;
let replicas: Replica[];

/** The Secrets of all processes, signed by one authority and trusting the authorities in `ca`. */
const secretsOf = (authority: CertificateAuthority, ca: string): Secret[] => [
  secretWith("nats-tls", ca, authority.server(["localhost", "127.0.0.1"])),
  ...["denrei-bridge", "denrei-hikawa", "denrei-operator"].map((user) =>
    secretWith(`${user}-tls`, ca, authority.client({ user })),
  ),
];

/** Replaces the mounted Secrets, and makes the server reload its configuration and certificates. */
async function rotate(secrets: readonly Secret[]): Promise<void> {
  await Promise.all(secrets.map(bus.mount));
  const [server] = bus.servers as readonly [TlsServer];
  const reloads = async () => {
    const about = (await (await fetch(`${server.monitorUrl}/varz`)).json()) as { config_load_time: string };
    return about.config_load_time;
  };
  const before = await reloads();
  process.kill(server.child.pid ?? Number.NaN, "SIGHUP");
  await expect.poll(reloads, { timeout: 30_000 }).not.toBe(before);
}

/** Whether the server accepts a new connection with the operator's mounted certificate. */
async function connects(): Promise<boolean> {
  try {
    const address = busAddress(readSettings(busSettings, {}, bus.env("denrei-operator-tls")), "test");
    const { nc } = await connectBus(address);
    await nc.close();
    return true;
  } catch {
    return false;
  }
}

const sing = (name: string) => environment.client.create(Hikawa, hikawa(name, 300), { fieldManager: "test" });
const finished = (name: string) =>
  environment.until(Hikawa, { namespace: "default", name }, isFinished, 90_000);

beforeAll(async () => {
  environment = await startTestEnvironment();
  bus = await startTlsBus(environment.platform, secretsOf(former, former.cert));
  replicas = await Promise.all([
    environment.bridge("bridge-1", { env: bus.env("denrei-bridge-tls") }),
    environment.worker("worker-1", ["hikawa"], { env: { ...words, ...bus.env("denrei-hikawa-tls") } }),
  ]);
});
afterAll(() => environment?.stop());

test("first both authorities are trusted, then the certificates are replaced, then the former authority is removed", async () => {
  await sing("meanwhile");
  await rotate(secretsOf(former, both));
  expect(await connects()).toBe(true);
  await rotate(secretsOf(next, both));
  expect(await connects()).toBe(true);
  const second = await environment.worker("worker-2", ["hikawa"], {
    env: { ...words, ...bus.env("denrei-hikawa-tls") },
  });
  await rotate(secretsOf(next, next.cert));
  expect(await connects()).toBe(true);
  await bus.mount(secretWith("denrei-operator-tls", next.cert, former.client({ user: "denrei-operator" })));
  expect(await connects()).toBe(false);

  await sing("afterwards");
  await Promise.all(["meanwhile", "afterwards"].map(finished));
  await expectFinishedSongs(environment, ["meanwhile", "afterwards"]);
  for (const replica of [...replicas, second]) {
    expect((await replica.probe("/readyz")).status).toBe(200);
    expect(replica.log.all.filter((line) => line.includes("connection to the bus lost"))).toEqual([]);
  }
});

/** The expiry time of a certificate in a process's metrics, in seconds since the epoch. Absent while the server is slow. */
async function expiryOf(certificate: string): Promise<number> {
  const sample = new RegExp(
    `^denrei_certificate_expires_seconds\\{certificate="${certificate}"\\} (\\S+)$`,
    "m",
  );
  let expiry: string | undefined;
  const look = async () => {
    expiry = sample.exec((await replicas[1]?.probe("/metrics"))?.text ?? "")?.[1];
    return expiry;
  };
  await expect.poll(look).toBeDefined();
  return Number(expiry);
}

const soon = { to: new Date(Date.now() + 3 * 86_400_000) };

test("a process reports when the server's current certificate expires, not the one in its file", async () => {
  const before = await expiryOf("server");
  expect(before).toBeGreaterThan(soon.to.getTime() / 1000);
  const expiring = secretWith("nats-tls", next.cert, next.server(["localhost", "127.0.0.1"], soon));
  await bus.mount(expiring);
  expect(await expiryOf("server")).toBe(before);
  await rotate([expiring]);
  expect(await expiryOf("server")).toBe(Math.floor(soon.to.getTime() / 1000));
});

test("a process reports when its own certificate expires, from the current file", async () => {
  const expiry = () => expiryOf("user");
  const before = await expiry();
  expect(before).toBeGreaterThan(Date.now() / 1000);
  await bus.mount(secretWith("denrei-hikawa-tls", next.cert, next.client({ user: "denrei-hikawa" }, soon)));
  expect(await expiry()).toBeLessThan(before);
});
