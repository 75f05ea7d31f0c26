/** Gateways of an environment, and the secret of their hook. */
import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Child, freePort } from "../local/index.ts";
import { type ReplicaOptions, startReplica } from "./replicas.ts";

/** A hook: the addresses that receive its webhooks, and their secret. */
export interface Hook {
  /** One URL per gateway. */
  readonly urls: readonly string[];
  /** The secret that senders sign with. */
  readonly secret: string;
}

const provider = "github";
const hookName = "app";

/** A hook with a new secret, and the settings of a gateway that serves it. */
export interface MadeHook {
  readonly hook: Hook;
  readonly secretPath: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Creates a hook for gateways at these addresses, `host:port`. The secret is written to the folder of the run. */
export async function makeHook(directory: string, addresses: readonly string[]): Promise<MadeHook> {
  const folder = join(directory, "webhooks");
  const secretPath = join(folder, `${provider}.${hookName}`);
  const secret = randomBytes(24).toString("base64url");
  await mkdir(folder);
  await writeFile(secretPath, `${secret}\n`, { mode: 0o600 });
  return {
    hook: { urls: addresses.map((address) => `http://${address}/${provider}/${hookName}`), secret },
    secretPath,
    env: { DENREI_WEBHOOK_SECRETS: folder },
  };
}

/** Gateways before they run, so that a sender of webhooks can start first. */
export interface PreparedGateways {
  /** No addresses without gateways. */
  readonly hook: Hook;
  /** Starts `gateway-1` and so on, and resolves when all of them are ready. */
  start(options: ReplicaOptions): Promise<readonly Child[]>;
}

/** Reserves ports for this many gateways, and writes their secret to the folder of the run. */
export async function prepareGateways(count: number, directory: string): Promise<PreparedGateways> {
  // A gateway keeps its port when it restarts.
  const ports = await Promise.all(Array.from({ length: count }, freePort));
  const addresses = ports.map((port) => `127.0.0.1:${port}`);
  const { hook, env: received } = await makeHook(directory, addresses);
  return {
    hook,
    start: (options) =>
      Promise.all(
        addresses.map((address, at) => {
          const env = {
            ...options.env,
            // Gateways log accepted webhooks at debug level only.
            DENREI_LOG_LEVEL: options.env.DENREI_LOG_LEVEL ?? "debug",
            ...received,
            DENREI_WEBHOOK_ADDRESS: address,
          };
          return startReplica(`gateway-${at + 1}${options.suffix}`, "gateway", [], { ...options, env });
        }),
      ),
  };
}
