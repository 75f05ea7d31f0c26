/** Where `denrei dev` receives webhooks: at an address that stays the same, whichever code answers there. */

import type { Environment } from "../../environment/environment.ts";
import { type MadeHook, makeHook } from "../../environment/gateways.ts";
import { openRelay, type Relay } from "./relay.ts";

/** Receives webhooks. */
export interface Receiver extends MadeHook {
  readonly relay: Relay;
}

/** What the gateway of a cluster has, and what skaffold forwards. */
const usualPort = 8080;

/** Opens the address, at a port or at the first free one from the usual one on. Throws a `UsageError`. */
export const openHookRelay = (port: number | undefined): Promise<Relay> =>
  openRelay({ for: "webhooks", port, usualPort, before: "left alone" });

/** Makes a hook there, with a secret of its own. */
export async function openReceiver(
  { processes }: Pick<Environment, "processes">,
  relay: Relay,
): Promise<Receiver> {
  const made = await makeHook(processes.directory, [`127.0.0.1:${relay.port}`]);
  // Any port: webhooks come by the one that stays.
  return { ...made, relay, env: { ...made.env, DENREI_WEBHOOK_ADDRESS: "127.0.0.1:0" } };
}
