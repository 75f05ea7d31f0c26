/** Misbehaving servers, and processes that connect to them. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, type TestContext } from "vitest";
import { stringify } from "yaml";
import {
  type LocalNats,
  type LocalProcesses,
  startLocalNats,
  startLocalProcesses,
} from "../../deploy/local/index.ts";
import { createCertificateAuthority, type Validity } from "../../deploy/local/pki.ts";
import { programs } from "../harness/programs.ts";
import type { runHere } from "./here.ts";
import { run, start } from "./program.ts";

const binaries = await programs("nats-server");

/** Time limit for a log line, because many processes start at once. Milliseconds. */
export const sayMillis = 200_000;

export const folder = mkdtempSync(join(tmpdir(), "test-cli-"));
export const authority = createCertificateAuthority();
export const servers: Server[] = [];
export let bus: LocalNats;
let processes: LocalProcesses;
/** Raises the authorization timeout of 2 s, which is too short on a busy machine. All servers share the file. */
const patient = join(folder, "patient.conf");
writeFileSync(patient, "authorization { timeout: 30 }");
/** A NATS server without JetStream. */
export let plainUrl: string;
/** A NATS server without authorization. */
export let openUrl: string;

export async function listening<S extends Server>(server: S, at = 0): Promise<{ server: S; port: number }> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(at, "127.0.0.1", resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

/** An API server that answers every request with one status, and records the requests. */
export async function apiServer(
  status: number,
  { names = ["127.0.0.1"], validity = {} as Validity, port = 0 } = {},
) {
  const { cert, key } = authority.server(names, validity);
  const asked: string[] = [];
  const https = createHttpsServer({ cert, key }, (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const body = { kind: "Status", message: "so it is", reason: "Because" };
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  const listener = await listening(https as unknown as Server, port);
  return { url: `https://127.0.0.1:${listener.port}`, asked };
}

/** Writes a kubeconfig and returns its path. */
export function kubeconfig(
  server: string,
  { ca = authority.cert as string | undefined, user = {} as object } = {},
): string {
  const path = join(folder, randomUUID());
  const text = stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: "test",
        cluster: {
          server,
          ...(ca && { "certificate-authority-data": Buffer.from(ca).toString("base64") }),
        },
      },
    ],
    users: [{ name: "test", user: { token: "a-secret-token", ...user } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
    "current-context": "test",
  });
  writeFileSync(path, text);
  return path;
}

/** Starts a NATS server with these arguments; returns host and port. */
export async function natsServer(name: string, ...args: string[]): Promise<string> {
  let port = "";
  await processes.spawn({
    name,
    command: binaries["nats-server"].path,
    args: [
      "--config",
      patient,
      "--addr",
      "127.0.0.1",
      ...(args.includes("--port") ? [] : ["--port", "-1"]),
      ...args,
    ],
    onLine(line) {
      port ||= /Listening for client connections on 127.0.0.1:(\d+)/.exec(line)?.[1] ?? "";
    },
    ready: async () => expect(port).not.toBe(""),
  });
  return `127.0.0.1:${port}`;
}

/** Starts and stops the servers that all tests of a file use. */
export function withServers(): void {
  beforeAll(async () => {
    [bus, processes] = await Promise.all([startLocalNats(), startLocalProcesses()]);
    plainUrl = `nats://${await natsServer("plain")}`;
    openUrl = `nats://${await natsServer("open", "--jetstream", "--store_dir", join(folder, "open"))}`;
  });

  afterAll(async () => {
    for (const server of servers) server.close();
    await Promise.all([bus?.stop(), processes?.stop()]);
    rmSync(folder, { recursive: true, force: true });
  });
}

/** The message of a failed command. */
export async function failure(
  args: string,
  env: Record<string, string> = {},
  runIt: typeof runHere = run,
): Promise<string> {
  const { code, stderr } = await runIt(args.split(" "), { env });
  expect(stderr).not.toMatch(/^ +at /m);
  expect(code).toBe(1);
  return stderr.trim();
}

/** Starts a process that waits for a server; reads its log and its probes. */
export async function waiting(
  args: string,
  { onTestFinished }: Pick<TestContext, "onTestFinished">,
  settings: Record<string, string>,
) {
  // Other tests expect that the default cluster has not used the bus.
  const env = { DENREI_CLUSTER: "waiting", ...settings };
  const running = start(args.split(" "), { env, onTestFinished });
  const starting = await running.lines.until((line) => line.includes('"msg":"starting"'), sayMillis);
  const probes = (JSON.parse(starting) as { probes: string }).probes;
  return {
    ...running,
    async probe(path: string) {
      const answer = await fetch(`${probes}${path}`);
      return { status: answer.status, text: await answer.text() };
    },
    /** The message of the first logged error with these words. */
    async logged(words: string): Promise<string> {
      const line = await running.lines.until(
        (text) => text.includes('"level":"error"') && text.includes(words),
        sayMillis,
      );
      const { msg, err, retryInMillis } = JSON.parse(line) as Record<string, unknown>;
      expect(err, "a stack does not help an operator").toBe(undefined);
      expect(retryInMillis).toBeGreaterThan(0);
      return String(msg);
    },
    async stop() {
      running.process.kill("SIGTERM");
      const { code, stderr } = await running.ended;
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    },
  };
}
