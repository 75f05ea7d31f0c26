/** The environment of `denrei dev`. */

import { redacted } from "../../../bus/values/redact.ts";
import { admissionEnv, prepareAdmission } from "../../environment/admission.ts";
import { type Environment, type EnvironmentOptions, openEnvironment } from "../../environment/environment.ts";
import { lostFieldsVariable, webhookVariable } from "./protocol.ts";
import { openRelay, type Relay } from "./relay.ts";

/** How to open it. */
export interface DevEnvironmentOptions
  extends Pick<EnvironmentOptions, "display" | "say" | "signal" | "dashboard"> {
  /** Whether a debugger may stop a worker, which then does not answer for any length of time. */
  readonly isDebugged: boolean;
  readonly nodes: number;
}

/** The bus disconnects a client after three missed pings. */
const debuggedPingSeconds = 24 * 3600;

/** The environment of `denrei dev`. */
export interface DevEnvironment extends Environment {
  /** Forwards calls of the API server to a worker, which serves the webhook; undefined for an existing cluster. */
  readonly webhookRelay: Relay | undefined;
}

/** The first port to try for the webhook. */
const webhookPort = 8443;

/** Opens it. A local bus has no roles, because bus permissions follow from the declarations, which change while it runs. */
export async function openDevEnvironment({
  isDebugged,
  nodes,
  ...options
}: DevEnvironmentOptions): Promise<DevEnvironment> {
  const environment = await openEnvironment({
    ...options,
    checkExisting: async ({ kubeconfig, natsUrl }) =>
      options.say(`Using the cluster of ${kubeconfig} and the bus at ${redacted(natsUrl)}.`),
    local: { nodes, roles: [], ...(isDebugged && { pingSeconds: debuggedPingSeconds }) },
  });
  const { origin, natsUrl } = environment;
  const isLocal = origin === "local";
  const webhook = isLocal ? await openWebhook(environment) : undefined;
  const env = {
    ...environment.env,
    ...webhook?.env,
    ...(isLocal && { NATS_URL: natsUrl }),
    [lostFieldsVariable]: isLocal ? "drop" : undefined,
  };
  return { ...environment, env, natsUrlFor: () => natsUrl, webhookRelay: webhook?.relay };
}

/** Opens an address for the webhook that remains the same across reloads, and so in the CRDs. */
async function openWebhook({ processes }: Environment) {
  const relay = await openRelay({
    for: "the API server",
    port: undefined,
    usualPort: webhookPort,
    onChange: "keep",
  });
  const { webhook, writeSettings } = await prepareAdmission(relay.port);
  const settings = await writeSettings(processes.directory);
  const env = {
    ...admissionEnv(settings),
    // Any port: calls arrive at the relay.
    DENREI_ADMISSION_ADDRESS: "127.0.0.1:0",
    [webhookVariable]: JSON.stringify(webhook),
  };
  return { relay, env };
}
