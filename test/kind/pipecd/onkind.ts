/** Runs tests against a released PipeCD on a cluster of kind. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Stored } from "../../../bus/kube/object.ts";
import { Deployment } from "../../../bus/kube/workloads.ts";
import { pipecdClient } from "../../../functions/pipecd/api/client.ts";
import { startKet } from "../../harness/startket.ts";
import type { Ket } from "../../ket/index.ts";
import { readManifests } from "../../ket/manifest.ts";

/** The manifests of PipeCD and its stores. */
export const pipecdManifests = fileURLToPath(new URL("./pipecd.yaml", import.meta.url));
/** The namespace for the manifests. */
export const pipecdNamespace = "pipecd";

const project = "quickstart";
/** Generous, because images are pulled first. */
const startMillis = 900_000;

/** A program and its arguments. Its environment has the variables of `test/pipecd/contract/target.ts`. */
export type Command = readonly [string, ...string[]];

/**
 * Starts PipeCD on a cluster of kind, runs the commands one after the other, and removes the cluster. Resolves with the exit code
 * of the first failing command, or 0. The key must have at least 32 bytes and is random by default.
 */
export async function runOnPipecd(
  commands: readonly Command[],
  key = randomBytes(32).toString("hex"),
): Promise<number> {
  await using ending = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "pipecd-on-kind-"));
  ending.defer(() => rm(folder, { recursive: true }));
  const keyFile = join(folder, "encryption-key");
  await writeFile(keyFile, key, { mode: 0o600 });
  const ket = await startKet({ cluster: "kind", namespace: pipecdNamespace, crds: [] });
  ending.defer(() => ket.stop());
  const addresses = await deployPipecd(ket, key);
  const env = {
    PIPECD_CONTRACT_ADDRESS: Object.entries(addresses)
      .map(([name, address]) => `${name}=${address}`)
      .join(),
    PIPECD_CONTRACT_PROFILE: "C",
    PIPECD_CONTRACT_ENCRYPTION_KEY_FILE: keyFile,
  };
  let failed = 0;
  for (const command of commands) failed ||= await exitOf(command, env);
  return failed;
}

async function deployPipecd(
  ket: Ket,
  encryptionKey: string,
): Promise<Record<"web" | "api" | "piped", string>> {
  const keys = { "minio-access-key": "pipecd-access", "minio-secret-key": "pipecd-secret-key" };
  const metadata = { name: "pipecd-secret" };
  const stringData = { "encryption-key": encryptionKey, ...keys };
  await ket.kubectl.apply({ apiVersion: "v1", kind: "Secret", metadata, stringData });
  await ket.kubectl.applyFile(pipecdManifests);
  const names = (await readManifests(pipecdManifests))
    .filter(({ kind }) => kind === "Deployment")
    .map(({ metadata }) => metadata.name);
  const isAvailable = ({ status }: Stored<Deployment>) => status?.availableReplicas === 1;
  await Promise.all(names.map((name) => ket.waitFor({ kind: Deployment, name }, isAvailable, startMillis)));
  const forwarded = async (port: number) => {
    const found = await ket.kind?.forward({ resource: "service/pipecd-server", port });
    return `127.0.0.1:${found?.port}`;
  };
  const [piped, web, api] = await Promise.all([9080, 9081, 9083].map(forwarded));
  const addresses = { web: `${web}`, api: `${api}`, piped: `${piped}` };
  await untilAnswering(addresses, encryptionKey);
  return addresses;
}

/** Waits for a response from the API, because the probes do not check the tables, which ops creates. */
async function untilAnswering(
  { web, api }: Readonly<Record<"web" | "api", string>>,
  encryptionKey: string,
): Promise<void> {
  const signal = AbortSignal.timeout(180_000);
  const client = pipecdClient({
    profile: "C",
    projectID: project,
    web: { address: web, tls: undefined },
    api: { address: api, tls: undefined },
    encryptionKey: Buffer.from(encryptionKey),
    apiKey: undefined,
    signal,
  });
  for (;;) {
    try {
      await client.pipeds.list();
      return;
    } catch (error) {
      if (signal.aborted) throw error;
      await sleep(1000);
    }
  }
}

async function exitOf([program, ...args]: Command, env: Readonly<Record<string, string>>): Promise<number> {
  const child = spawn(program, args, { stdio: "inherit", env: { ...process.env, ...env } });
  const [code] = await once(child, "exit");
  return code ?? 1;
}
