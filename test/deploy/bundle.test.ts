/** The bundle of this repository, in a folder without its packages: what needs a cluster and a bus. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { openProject } from "../../bus/project/project.ts";
import { debuggedWarning } from "../../bus/worker/keeper.ts";
import { bundleProject } from "../../deploy/bundle/bundle.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { hookSecret, type LocalTestEnvironment, startLocalTestEnvironment } from "../harness/environment.ts";
import { expectFinishedSongs, hikawa, isFinished } from "../harness/song.ts";
import { Lines } from "../ket/lines.ts";
import { root } from "./manifests.ts";

let folder: string;
let environment: LocalTestEnvironment;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "test-bundle-"));
  const warnings: string[] = [];
  await bundleProject({
    project: await openProject(root),
    out: join(folder, "dist"),
    external: [],
    onWarning: (text) => warnings.push(text),
  });
  expect(warnings).toEqual([]);
  await mkdir(join(folder, "secrets"));
  await writeFile(join(folder, "secrets/github.app"), hookSecret);
  environment = await startLocalTestEnvironment();
});
afterAll(async () => {
  await environment?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Starts a process from the bundle, with arguments of Node before it. */
async function start(name: string, node: readonly string[], args: readonly string[], kubeconfig: string) {
  const log = new Lines();
  const child = await environment.platform.spawn({
    name,
    command: process.execPath,
    args: [...node, join(folder, "dist/denrei.js"), ...args],
    cwd: folder,
    env: {
      KUBECONFIG: kubeconfig,
      NATS_URL: environment.platform.natsUrl,
      DENREI_REPLICA: name,
      DENREI_WEBHOOK_ADDRESS: "127.0.0.1:0",
      DENREI_WEBHOOK_SECRETS: join(folder, "secrets"),
      VITEST: undefined,
    },
    onLine: (line) => log.push(line),
    ready: () => log.until((line) => /"msg":"(run|bridge|worker) ready"/.test(line)),
    graceMillis: 12_000,
  });
  return { child, log };
}

/** A kubeconfig whose user gets its certificate from a plugin: only `@kubernetes/client-node` reads it. */
async function withPlugin(): Promise<string> {
  const config = parse(await readFile(environment.platform.kubeconfigPath, "utf8"));
  const data = async (user: Record<string, string>, field: string) =>
    user[`${field}-data`] === undefined
      ? readFile(user[field] ?? "", "utf8")
      : Buffer.from(user[`${field}-data`] ?? "", "base64").toString();
  for (const entry of config.users) {
    const status = {
      clientCertificateData: await data(entry.user, "client-certificate"),
      clientKeyData: await data(entry.user, "client-key"),
    };
    const apiVersion = "client.authentication.k8s.io/v1";
    const value = JSON.stringify({ apiVersion, kind: "ExecCredential", status });
    entry.user = {
      exec: {
        apiVersion,
        command: process.execPath,
        args: ["-e", "console.log(process.env.CREDENTIAL)"],
        env: [{ name: "CREDENTIAL", value }],
        interactiveMode: "Never",
      },
    };
  }
  const path = join(folder, "kubeconfig");
  await writeFile(path, stringify(config));
  return path;
}

test("runs everything in one process, also as a user with a credentials plugin", async () => {
  const { child } = await start("bundled-run", [], ["run"], await withPlugin());
  await environment.client.create(Hikawa, hikawa("bundled", 0), { fieldManager: "test" });
  await environment.until(Hikawa, { namespace: "default", name: "bundled" }, isFinished);
  await expectFinishedSongs(environment, ["bundled"]);
  const ended = child.exited();
  await child.stop();
  expect(await ended).toEqual({ code: 0, signal: null });
});

test("starts the thread that keeps the tickets of a worker under a debugger", async () => {
  const path = environment.platform.kubeconfigPath;
  // Ensures the topology of the worker, from what the bundle has of the function.
  await start("bundled-bridge", [], ["bridge"], path);
  const { child, log } = await start("debugged", ["--inspect=127.0.0.1:0"], ["worker", "hikawa"], path);
  expect(log.records().map(({ msg }) => msg)).toContain(debuggedWarning);
  const ended = child.exited();
  await child.stop();
  expect(await ended).toEqual({ code: 0, signal: null });
});
