/**
 * Unavailable and misbehaving servers: the error says what to do. Commands exit with 1; a bridge and a worker are not ready, and
 * retry.
 */
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, type TestContext, test } from "vitest";
import { freePort } from "../../deploy/local/parts/ports.ts";
import { createCertificateAuthority } from "../../deploy/local/pki.ts";
import { runHere } from "./here.ts";
import { start } from "./program.ts";

import {
  apiServer,
  bus,
  failure,
  folder,
  kubeconfig,
  listening,
  natsServer,
  openUrl,
  plainUrl,
  sayMillis,
  servers,
  waiting,
  withServers,
} from "./servers.ts";

withServers();

const permanent = ["bridge", "worker hikawa"];

describe.concurrent("the bus", () => {
  test.for(permanent)(
    "not listening yet: %s is not ready, and becomes ready later",
    async (command, context) => {
      const port = await freePort();
      const url = `nats://127.0.0.1:${port}`;
      const { url: server } = await apiServer(403);
      const process = await waiting(command, context, { NATS_URL: url, KUBECONFIG: kubeconfig(server) });
      const reason = `the bus is not reachable: expected a NATS server at ${url}, but connection refused`;
      expect(await process.logged("the bus is not reachable")).toContain(reason);
      expect(await process.probe("/readyz")).toMatchObject({
        status: 503,
        text: expect.stringContaining(reason),
      });
      expect(await process.probe("/healthz")).toMatchObject({ status: 200 });
      const store = join(folder, randomUUID());
      await natsServer(`late-${port}`, "--jetstream", "--store_dir", store, "--port", String(port));
      await process.lines.until((line) => /"msg":"(bridge|worker) ready"/.test(line), sayMillis);
      // Some seconds later, the bridge is not ready for another reason: it may not watch.
      expect((await process.probe("/readyz")).text).not.toContain("the bus is not reachable");
      await process.stop();
    },
  );

  test("without JetStream: a worker is not ready, and stops on SIGTERM", async (context) => {
    const { url: server } = await apiServer(403);
    const worker = await waiting("worker hikawa", context, {
      NATS_URL: plainUrl,
      KUBECONFIG: kubeconfig(server),
    });
    const reason = `the bus is not reachable: the NATS server at ${plainUrl} answers, but JetStream does not`;
    expect(await worker.logged("the bus is not reachable")).toContain(reason);
    expect(await worker.probe("/readyz")).toMatchObject({
      status: 503,
      text: expect.stringContaining(reason),
    });
    await worker.stop();
  });
});

describe("the bus of an operator's command", () => {
  const failureOf = (args: string, env?: Record<string, string>) => failure(args, env, runHere);
  const commands = [
    "status",
    "deadletters list",
    "deadletters show hikawa default/x",
    "deadletters replay hikawa --all",
  ];

  test.for(commands)("not listening: %s", async (command) => {
    const url = `nats://127.0.0.1:${await freePort()}`;
    const message = await failureOf(`${command} --nats-url ${url}`);
    expect(message).toContain(`denrei: expected a NATS server at ${url}, but connection refused`);
    expect(message).toContain("set --nats-url or NATS_URL to a running one");
  });

  test("without JetStream", async () => {
    const message = await failureOf("status", { NATS_URL: plainUrl });
    expect(message).toContain(`the NATS server at ${plainUrl} answers, but JetStream does not`);
    expect(message).toContain("nats-server -js");
  });

  test.for([
    ["user-and-password", ["--user", "me:too", "--pass", "hunter@2"], "me%3Atoo:hunter%402"],
    ["token", ["--auth", "hunter2"], "hunter2"],
  ] as const)("with credentials in the address: %s", async ([name, args, who]) => {
    const store = join(folder, randomUUID());
    const host = await natsServer(name, "--jetstream", "--store_dir", store, ...args);
    const { code, stdout } = await runHere(["status"], { env: { NATS_URL: `nats://${who}@${host}` } });
    expect(stdout).toContain("has used this bus");
    expect(code).toBe(0);
    const message = await failureOf("status", { NATS_URL: `nats://not-${who}@${host}` });
    expect(message).toMatch(
      /expected a NATS server at nats:\/\/\*\*\*@127.0.0.1:\d+, but authorization violation/i,
    );
    expect(message).not.toContain("hunter");
  });

  test("reports an authorization timeout as overload, not as wrong credentials", async () => {
    const tooSlow = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.write(
        'INFO {"server_id":"test","version":"2.12.0","auth_required":true,"max_payload":1048576}\r\n',
      );
      socket.end("-ERR 'Authentication Timeout'\r\n");
    });
    const { port } = await listening(tooSlow);
    const message = await failureOf("status", { NATS_URL: `nats://user:pass@127.0.0.1:${port}` });
    expect(message).toMatch(/but Authentication Timeout.*overloaded/);
    expect(message).not.toContain("credentials: check them");
  });

  test("does not show a password in the address", async () => {
    const message = await failureOf("status", {
      NATS_URL: `nats://user:hunter2@127.0.0.1:${await freePort()}`,
    });
    expect(message).toContain("nats://***@127.0.0.1:");
    expect(message).not.toContain("hunter2");
  });

  test("the flag takes precedence over the variable", async () => {
    const { code, stdout } = await runHere(["status", "--nats-url", bus.natsUrl], {
      env: { NATS_URL: "nats://127.0.0.1:1" },
    });
    expect(stdout).toContain('No worker or bridge of the cluster "default" has used this bus');
    expect(code).toBe(0);
  });
});

describe.concurrent("a kubeconfig", () => {
  const bridge = (env: Record<string, string>, args = "") =>
    failure(`bridge${args}`, { NATS_URL: bus.natsUrl, ...env });

  test("that does not exist", async () => {
    expect(await bridge({ KUBECONFIG: "/no/such/file" })).toContain(
      "denrei: expected a kubeconfig at /no/such/file, found no file",
    );
    expect(await bridge({}, " --kubeconfig /no/other/file")).toContain("at /no/other/file, found no file");
  });

  test("without the requested context", async () => {
    const path = kubeconfig("https://127.0.0.1:1");
    expect(await bridge({}, ` --kubeconfig ${path} --context other`)).toContain('context "other"');
  });
});

describe.concurrent("the API server", () => {
  const commands = ["demo", "up"];
  const ask = (command: string, path: string) =>
    failure(command, { KUBECONFIG: path, NATS_URL: bus.natsUrl });
  const wait = (command: string, context: TestContext, path: string) =>
    waiting(command, context, { KUBECONFIG: path, NATS_URL: bus.natsUrl });

  test.for(commands)("not listening: %s", async (command) => {
    const server = `https://127.0.0.1:${await freePort()}`;
    const message = await ask(command, kubeconfig(server));
    expect(message).toContain(
      `denrei: expected a Kubernetes API server at ${server} (context "test"), but connect ECONNREFUSED`,
    );
    expect(message).toContain("Check that it is running and is the cluster you mean;");
  });

  test.for(permanent)(
    "not listening yet: %s is not ready, and becomes ready later",
    async (command, context) => {
      const port = await freePort();
      const server = `https://127.0.0.1:${port}`;
      const process = await wait(command, context, kubeconfig(server));
      const reason = `expected a Kubernetes API server at ${server} (context "test"), but connect ECONNREFUSED`;
      expect(await process.logged("the API server is not reachable")).toContain(reason);
      expect(await process.probe("/readyz")).toMatchObject({
        status: 503,
        text: expect.stringContaining(`the API server is not reachable: ${reason}`),
      });
      expect(await process.probe("/healthz")).toMatchObject({ status: 200 });
      await apiServer(403, { port });
      await process.lines.until((line) => /"msg":"(bridge|worker) ready"/.test(line), sayMillis);
      expect((await process.probe("/readyz")).text).not.toContain("the API server is not reachable");
      await process.stop();
    },
  );

  test("with a certificate of another server: demo", async () => {
    const { url, asked } = await apiServer(200);
    const message = await ask("demo", kubeconfig(url, { ca: createCertificateAuthority().cert }));
    expect(message).toContain("its certificate is not trusted");
    expect(message).toContain("certificate-authority-data");
    expect(asked).toEqual([]);
  });

  test("with a certificate of another server: bridge, until the file has the right CA", async (context) => {
    const { url, asked } = await apiServer(403);
    const path = kubeconfig(url, { ca: createCertificateAuthority().cert });
    const process = await wait("bridge", context, path);
    expect(await process.logged("the API server is not reachable")).toContain(
      "its certificate is not trusted",
    );
    expect(asked).toEqual([]);
    writeFileSync(path, readFileSync(kubeconfig(url)));
    await process.lines.until((line) => /"msg":"(bridge|worker) ready"/.test(line), sayMillis);
    await process.stop();
  });

  test("with a certificate for another name", async () => {
    const { url } = await apiServer(200, { names: ["kubernetes.example"] });
    expect(await ask("demo", kubeconfig(url))).toContain("(ERR_TLS_CERT_ALTNAME_INVALID)");
  });

  test("with a certificate that has expired: worker hikawa", async (context) => {
    const { url, asked } = await apiServer(200, { validity: { from: new Date(0), to: new Date(1e12) } });
    const process = await wait("worker hikawa", context, kubeconfig(url));
    const reason = "its certificate has expired (CERT_HAS_EXPIRED). Renew the API server's certificate";
    expect(await process.logged("the API server is not reachable")).toContain(reason);
    expect(await process.probe("/readyz")).toMatchObject({
      status: 503,
      text: expect.stringContaining(reason),
    });
    expect(asked).toEqual([]);
    await process.stop();
  });

  test("that does not know the user", async (context) => {
    const { url, asked } = await apiServer(401);
    const worker = await wait("worker hikawa", context, kubeconfig(url));
    const message = await worker.logged("the API server is not reachable");
    expect(message).toContain("GET /version was answered 401");
    expect(message).toContain("Check the user of the kubeconfig's current context");
    expect(new Set(asked)).toEqual(new Set(["GET /version"]));
    await worker.stop();
  });

  test("forbids a request: the demo names the request", async () => {
    const { url } = await apiServer(403);
    expect(await ask("demo", kubeconfig(url))).toMatch(
      /GET \S+rolebindings was answered 403 Because: so it is/,
    );
  });
});

describe.concurrent("a process", () => {
  test("whose --http-address is in use", async () => {
    const [{ url }, { port }] = await Promise.all([apiServer(403), listening(createServer())]);
    const env = { KUBECONFIG: kubeconfig(url), NATS_URL: bus.natsUrl };
    const message = await failure(`worker hikawa --http-address 127.0.0.1:${port}`, env);
    expect(message).toContain(
      `denrei: expected to serve probes and metrics on 127.0.0.1:${port}, but listen EADDRINUSE`,
    );
    expect(message).toContain("Set --http-address to a free one");
  });
});

describe("a running process", () => {
  const env = async () => ({
    // A server without authorization accepts any password.
    NATS_URL: openUrl.replace("://", "://user:hunter2@"),
    KUBECONFIG: kubeconfig((await apiServer(403)).url),
    DENREI_LOG_LEVEL: "trace",
  });

  test.for([
    ["SIGTERM", 0],
    ["SIGINT", 130],
  ] as const)("stops on %s with exit code %i, and logs no secrets", async ([signal, code]) => {
    const bridge = start(["bridge"], { env: await env() });
    await bridge.lines.until((line) => line.includes('"msg":"bridge ready"'));
    bridge.process.kill(signal);
    // npm forwards signals that the terminal has already sent: both count as one request. They are sent one after the other,
    // because equal signals could be merged, and different ones could be reordered.
    await bridge.lines.until((line) => line.includes('"msg":"stopping"'));
    if (signal === "SIGINT") bridge.process.kill("SIGTERM");
    const ended = await bridge.ended;
    expect(bridge.lines.records().at(-1)).toMatchObject({ msg: "stopped" });
    expect(ended).toMatchObject({ code, signal: null, stderr: "" });
    expect(ended.stdout).toContain('"bus":"nats://***@127.0.0.1:');
    expect(ended.stdout).not.toContain("hunter2");
    expect(ended.stdout).not.toContain("a-secret-token");
  });

  test("exits at once when it is stopped during its start", async () => {
    // Accepts connections but never answers, as a server that hangs.
    const { port } = await listening(createServer());
    const connected = new Promise((resolve) => servers.at(-1)?.once("connection", resolve));
    const worker = start(["worker", "hikawa"], {
      env: { ...(await env()), KUBECONFIG: kubeconfig(`https://127.0.0.1:${port}`) },
    });
    await connected;
    worker.process.kill("SIGTERM");
    expect(await worker.ended).toMatchObject({ code: 0, signal: null });
    expect(worker.lines.records()).toMatchObject([
      { msg: "starting" },
      { msg: "stopped while starting", signal: "SIGTERM" },
    ]);
  });
});
