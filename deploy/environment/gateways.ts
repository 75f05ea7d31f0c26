/** Gateways beside the workers, and the secret of the webhook that they receive. */
import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Child, freePort } from "../local/index.ts";
import { type ReplicaOptions, startReplica } from "./replicas.ts";

/** Where a hook's webhooks are received. */
export interface Hook {
  /** One of each gateway. */
  readonly urls: readonly string[];
  /** What they have to be signed with. */
  readonly secret: string;
}

const hookName = "app";
const path = "/github";

/** A hook with a secret of its own, and the settings of a gateway that receives it. */
export interface MadeHook {
  readonly hook: Hook;
  /** The file with the secret. */
  readonly secretPath: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Makes the hook that is received at these addresses, `host:port`. Its secret is kept in the folder of a run. */
export async function makeHook(directory: string, addresses: readonly string[]): Promise<MadeHook> {
  const folder = join(directory, "webhooks");
  const secretPath = join(folder, hookName);
  const secret = randomBytes(24).toString("base64url");
  await mkdir(folder);
  await writeFile(secretPath, `${secret}\n`, { mode: 0o600 });
  return {
    hook: { urls: addresses.map((address) => `http://${address}${path}/${hookName}`), secret },
    secretPath,
    env: { DENREI_WEBHOOK_PATH: path, DENREI_WEBHOOK_SECRETS: folder },
  };
}

/** Gateways before they run: what sends webhooks may be started first. */
export interface PreparedGateways {
  /** Where they will be; nowhere if there are none. */
  readonly hook: Hook;
  /** Starts `gateway-1` and so on, and resolves when all of them are ready. */
  start(options: ReplicaOptions): Promise<readonly Child[]>;
}

/** Prepares so many of them. What they need is kept in the folder of a run. */
export async function prepareGateways(count: number, directory: string): Promise<PreparedGateways> {
  // One that is started again is to be found where it was.
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
            // It tells of a webhook that it has taken in its log for debugging only.
            DENREI_LOG_LEVEL: options.env.DENREI_LOG_LEVEL ?? "debug",
            ...received,
            DENREI_WEBHOOK_ADDRESS: address,
          };
          return startReplica(`gateway-${at + 1}${options.suffix}`, "gateway", [], { ...options, env });
        }),
      ),
  };
}
