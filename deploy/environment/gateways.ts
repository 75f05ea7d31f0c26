/** Gateways of an environment, and the secrets of their hooks. */
import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { github, type WebhookProvider } from "denrei";
import { type Child, freePort } from "../local/index.ts";
import { type ReplicaOptions, startReplica } from "./replicas.ts";

/** A hook: the addresses that receive its webhooks, and their secret. */
export interface Hook {
  /** One URL per gateway. */
  readonly urls: readonly string[];
  /** The secret that senders sign with. */
  readonly secret: string;
}

/** A hook for the webhooks of one provider, and the file with its secret. */
export interface ProviderHook extends Hook {
  readonly secretPath: string;
}

const hookName = "app";

/** Hooks with new secrets, and the settings of a gateway that serves them. */
export interface MadeHooks {
  /** One for each provider, in their order. */
  readonly hooks: readonly [ProviderHook, ...ProviderHook[]];
  readonly env: Readonly<Record<string, string>>;
}

/** Providers; the first one counts where only one does. */
export type Providers = readonly [WebhookProvider, ...WebhookProvider[]];

/** The provider of functions that subscribe to none. */
export const usualProviders: Providers = [github];

/** Creates hooks for gateways at these addresses, `host:port`. The secrets are written to the folder of the run. */
export async function makeHooks(
  directory: string,
  addresses: readonly string[],
  providers: Providers = usualProviders,
): Promise<MadeHooks> {
  const folder = join(directory, "webhooks");
  await mkdir(folder);
  const make = async ({ name, signature }: WebhookProvider): Promise<ProviderHook> => {
    const secretPath = join(folder, `${name}.${hookName}`);
    const secret = secretFor(signature);
    await writeFile(secretPath, `${secret}\n`, { mode: 0o600 });
    return { urls: addresses.map((address) => `http://${address}/${name}/${hookName}`), secret, secretPath };
  };
  const [first, ...others] = providers;
  const hooks: MadeHooks["hooks"] = [await make(first), ...(await Promise.all(others.map(make)))];
  return { hooks, env: { DENREI_WEBHOOK_SECRETS: folder } };
}

/** A secret that the scheme can use. Standard Webhooks wants a prefix and base64. */
function secretFor(signature: WebhookProvider["signature"]): string {
  const bytes = randomBytes(24);
  const usual = bytes.toString("base64url");
  return signature.problemOf(usual) === undefined ? usual : `whsec_${bytes.toString("base64")}`;
}

/** Gateways before they run, so that a sender of webhooks can start first. */
export interface PreparedGateways extends Pick<MadeHooks, "hooks"> {
  /** Starts `gateway-1` and so on, and resolves when all of them are ready. */
  start(options: ReplicaOptions): Promise<readonly Child[]>;
}

/** Reserves ports for this many gateways, and writes their secrets to the folder of the run. */
export async function prepareGateways(
  count: number,
  directory: string,
  providers?: Providers,
): Promise<PreparedGateways> {
  // A gateway keeps its port when it restarts.
  const ports = await Promise.all(Array.from({ length: count }, freePort));
  const addresses = ports.map((port) => `127.0.0.1:${port}`);
  const { hooks, env: received } = await makeHooks(directory, addresses, providers);
  return {
    hooks,
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

/** Lines that say where webhooks arrive. */
export const guideToHooks = (hooks: readonly ProviderHook[]): string[] =>
  hooks.flatMap(({ urls: [url], secretPath }) =>
    url === undefined ? [] : [`Send webhooks to ${url}, with the secret in ${secretPath}.`],
  );
