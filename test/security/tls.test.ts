/** The bus as the kustomize base configures it, with the certificates of `denrei certificates`. */
import { X509Certificate } from "node:crypto";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { busSettings, readSettings } from "../../bus/config/config.ts";
import { type Bus, busAddress, connectBus } from "../../bus/nats/connect.ts";
import { BusPermissionError } from "../../bus/nats/permissionerror.ts";
import { createCertificateAuthority, type KeyPair } from "../../deploy/local/pki.ts";
import { functions } from "../../functions/index.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { runHere } from "../cli/here.ts";
import { startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { expectFinishedSongs, hikawa, isFinished } from "../harness/song.ts";
import { type Secret, secretWith, startTlsBus, type TlsBus } from "../harness/tlsbus.ts";

const roles = [
  "bridge",
  "gateway",
  "dashboard",
  "operator",
  "backup",
  "restore",
  ...functions.map(({ name }) => name),
];
const words = { DENREI_ZUNDOKO_WORDS: "Doko,Zun,Zun,Zun,Zun,Doko" };
let environment: TestEnvironment;
let tls: TlsBus;
let secrets: Secret[];

async function certificates(...args: string[]): Promise<Secret[]> {
  const { code, stdout, stderr } = await runHere(["certificates", "--json", ...args]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout).items;
}

beforeAll(async () => {
  secrets = await certificates();
  environment = await startTestEnvironment();
  tls = await startTlsBus(environment.platform, secrets);
});
afterAll(() => environment?.stop());

/** Connects with a mounted Secret until the test ends. */
async function connected(secret: string): Promise<Bus> {
  const bus = await connectBus(busAddress(readSettings(busSettings, {}, tls.env(secret)), "test"));
  onTestFinished(() => bus.nc.close());
  return bus;
}

const text = (secret: Secret | undefined, name: string): string =>
  Buffer.from(secret?.data[name] ?? "", "base64").toString();

describe("denrei certificates", () => {
  test("prints a Secret for the bus, for the routes between its servers, and for each user, signed by one authority", () => {
    const names = secrets.map(({ metadata, type }) => `${metadata.namespace}/${metadata.name} ${type}`);
    expect(names).toEqual(
      ["nats", ...["nats", ...roles].map((role) => `denrei-${role}`)].map(
        (name) => `denrei/${name}-tls kubernetes.io/tls`,
      ),
    );
    const ca = new X509Certificate(text(secrets[0], "ca.crt"));
    for (const secret of secrets) {
      const leaf = new X509Certificate(text(secret, "tls.crt"));
      expect(leaf.verify(ca.publicKey)).toBe(true);
      expect(text(secret, "ca.crt")).toBe(text(secrets[0], "ca.crt"));
      expect(`${leaf.subject.slice("CN=".length)}-tls`).toBe(secret.metadata.name);
    }
    expect(new Set(secrets.map((secret) => text(secret, "tls.key"))).size).toBe(secrets.length);
  });

  test("names the bus by its Service in the requested namespace", async () => {
    const [nats] = await certificates("--namespace", "elsewhere");
    const certificate = new X509Certificate(text(nats, "tls.crt"));
    for (const name of ["nats", "nats.elsewhere.svc", "nats-0.nats-headless.elsewhere.svc", "localhost"])
      expect([name, certificate.checkHost(name)]).toEqual([name, expect.any(String)]);
    expect(certificate.checkHost("nats.denrei.svc")).toBeUndefined();
    expect(nats?.metadata.namespace).toBe("elsewhere");
  });
});

describe("with the certificate of a role", () => {
  test("bridge and worker work with their roles' permissions", async () => {
    await environment.bridge("bridge-1", { env: tls.env("denrei-bridge-tls") });
    const worker = await environment.worker("worker-1", ["hikawa"], {
      env: { ...words, ...tls.env("denrei-hikawa-tls") },
    });
    await environment.client.create(Hikawa, hikawa("over-tls", 0), { fieldManager: "test" });
    await environment.until(Hikawa, { namespace: "default", name: "over-tls" }, isFinished);
    await expectFinishedSongs(environment, ["over-tls"]);
    expect(worker.log.all.filter((line) => line.includes("ermission"))).toEqual([]);
    const status = () => runHere(["status"], { env: tls.env("denrei-operator-tls") });
    // The last events of the song may not have arrived yet.
    await expect.poll(status).toMatchObject({ code: 0, stdout: expect.stringMatching(/^hikawa +0 /m) });
  });

  test.for(roles)("%s is exactly the user that its certificate names", async (role) => {
    const bus = await connected(`denrei-${role}-tls`);
    expect(bus.identity).toEqual({ user: `denrei-${role}`, inboxPrefix: `_INBOX_denrei-${role}` });
    await expect(bus.inbox.request("$JS.API.STREAM.DELETE.OBJECTS", "")).rejects.toBeInstanceOf(
      BusPermissionError,
    );
  });

  test("a password for another user has no effect", async () => {
    const { NATS_URL, ...files } = tls.env("denrei-hikawa-tls");
    const url = NATS_URL.replace("//", "//CN=denrei-bridge:x@");
    const settings = readSettings(busSettings, {}, { ...files, NATS_URL: url });
    await expect(connectBus(busAddress(settings, "test"))).rejects.toThrow("Authorization Violation");
  });

  test("a renewed certificate is used for the next connection", async () => {
    const authority = createCertificateAuthority();
    const mounted = (name: string, keys: KeyPair) => secretWith(name, authority.cert, keys);
    const server = mounted("nats-tls", authority.server(["localhost", "127.0.0.1"]));
    const operator = mounted("denrei-operator-tls", authority.client({ user: "denrei-operator" }));
    const bus = await connected("denrei-operator-tls");
    await tls.mount(server);
    await tls.mount(operator);
    const nats = tls.servers[0]?.child;
    await nats?.stop("SIGKILL");
    await nats?.start();
    const about = async () => (await bus.inbox.request("$JS.API.INFO", "")).json();
    await expect
      .poll(() => about().catch(String), { timeout: 60_000 })
      .toMatchObject({ type: "io.nats.jetstream.api.v1.account_info_response" });
    for (const secret of secrets) await tls.mount(secret);
    await nats?.stop("SIGKILL");
    await nats?.start();
  });
});

describe("an error with instructions is returned to a client", () => {
  const stderrOf = async (env: Record<string, string>, exitCode = 1): Promise<string> => {
    const { code, stderr } = await runHere(["status"], { env });
    expect(code).toBe(exitCode);
    return stderr;
  };

  test("without a certificate", async () => {
    const { NATS_URL, NATS_CA } = tls.env("denrei-operator-tls");
    expect(await stderrOf({ NATS_URL, NATS_CA })).toMatch(
      /^denrei: expected a NATS server at tls:.*It requires a client certificate: set --nats-cert and --nats-key/,
    );
  });

  test("with a certificate without its key", async () => {
    const { NATS_KEY: _, ...env } = tls.env("denrei-operator-tls");
    expect(await stderrOf(env, 2)).toMatch(/^denrei: .*found no private key \(NATS_KEY\)/);
  });

  test("with an existing user's certificate of another authority", async () => {
    const foreign = createCertificateAuthority().client({ user: "denrei-operator" });
    await tls.mount(secretWith("foreign", text(secrets[0], "ca.crt"), foreign));
    expect(await stderrOf(tls.env("foreign"))).toMatch(
      /^denrei: .*seems to reject the one of denrei-operator .*foreign.tls\.crt/,
    );
  });

  test("that does not trust the server's authority", async () => {
    const { NATS_URL, NATS_CERT, NATS_KEY } = tls.env("denrei-operator-tls");
    expect(await stderrOf({ NATS_URL, NATS_CERT, NATS_KEY })).toMatch(/^denrei: .*set --nats-ca or NATS_CA/);
  });

  test("that expects TLS from a server without it", async () => {
    const NATS_URL = environment.platform.natsUrl.replace("nats://", "tls://");
    expect(await stderrOf({ NATS_URL })).toMatch(
      /^denrei: expected a NATS server at tls:.*does not support 'tls'/,
    );
  });
});
