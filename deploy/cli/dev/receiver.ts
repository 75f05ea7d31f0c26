/** The address at which `denrei dev` receives webhooks. It stays the same across reloads. */

import { github } from "denrei";
import type { Environment } from "../../environment/environment.ts";
import { type MadeHooks, makeHooks } from "../../environment/gateways.ts";
import { webhookProviders } from "../named.ts";
import { openRelay, type Relay } from "./relay.ts";

/** Receives webhooks. */
export interface Receiver extends MadeHooks {
  readonly relay: Relay;
}

/** The port of the gateway in a cluster, which skaffold forwards. */
const usualPort = 8080;

/** Opens the address at the port, or at the first free port from the usual one on. Throws a `UsageError`. */
export const openHookRelay = (port: number | undefined): Promise<Relay> =>
  openRelay({ for: "webhooks", port, usualPort, onChange: "keep" });

/** Creates hooks at the address, each with its own secret: of GitHub first, and of the providers that the functions have now. */
export async function openReceiver(
  { processes }: Pick<Environment, "processes">,
  relay: Relay,
): Promise<Receiver> {
  // Functions that do not load are reported when the workers start.
  const found = await webhookProviders().catch(() => []);
  const others = found.filter(({ name }) => name !== github.name);
  const made = await makeHooks(processes.directory, [`127.0.0.1:${relay.port}`], [github, ...others]);
  // Any port: webhooks arrive at the relay.
  return { ...made, relay, env: { ...made.env, DENREI_WEBHOOK_ADDRESS: "127.0.0.1:0" } };
}
