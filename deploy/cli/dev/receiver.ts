/** The address at which `denrei dev` receives webhooks. It stays the same across reloads. */

import type { Environment } from "../../environment/environment.ts";
import { type MadeHook, makeHook } from "../../environment/gateways.ts";
import { openRelay, type Relay } from "./relay.ts";

/** Receives webhooks. */
export interface Receiver extends MadeHook {
  readonly relay: Relay;
}

/** The port of the gateway in a cluster, which skaffold forwards. */
const usualPort = 8080;

/** Opens the address at the port, or at the first free port from the usual one on. Throws a `UsageError`. */
export const openHookRelay = (port: number | undefined): Promise<Relay> =>
  openRelay({ for: "webhooks", port, usualPort, onChange: "keep" });

/** Creates a hook at the address, with its own secret. */
export async function openReceiver(
  { processes }: Pick<Environment, "processes">,
  relay: Relay,
): Promise<Receiver> {
  const made = await makeHook(processes.directory, [`127.0.0.1:${relay.port}`]);
  // Any port: webhooks arrive at the relay.
  return { ...made, relay, env: { ...made.env, DENREI_WEBHOOK_ADDRESS: "127.0.0.1:0" } };
}
