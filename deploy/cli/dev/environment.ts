/** The environment of `denrei dev`. */

import { redacted } from "../../../bus/values/redact.ts";
import { type Environment, type EnvironmentOptions, openEnvironment } from "../../environment/environment.ts";
import { lostFieldsVariable } from "./protocol.ts";

/** How to open it. */
export interface DevEnvironmentOptions
  extends Pick<EnvironmentOptions, "display" | "say" | "signal" | "dashboard"> {
  /** A debugger may stop a worker, which then answers nothing for any length of time. */
  readonly isDebugged: boolean;
  /** Number of nodes of a local platform. */
  readonly nodes: number;
}

/** The bus takes a client for dead after three missed pings. */
const debuggedPingSeconds = 24 * 3600;

/** Opens it. Its local platform has no roles: permissions on the bus follow from declarations, and those change while it runs. */
export async function openDevEnvironment({
  isDebugged,
  nodes,
  ...options
}: DevEnvironmentOptions): Promise<Environment> {
  const environment = await openEnvironment({
    ...options,
    checkExisting: async ({ kubeconfig, natsUrl }) =>
      options.say(`Using the cluster of ${kubeconfig} and the bus at ${redacted(natsUrl)}.`),
    local: { nodes, roles: [], ...(isDebugged && { pingSeconds: debuggedPingSeconds }) },
  });
  const { origin, natsUrl } = environment;
  const isLocal = origin === "local";
  const env = {
    ...environment.env,
    ...(isLocal && { NATS_URL: natsUrl }),
    [lostFieldsVariable]: isLocal ? "drop" : undefined,
  };
  return { ...environment, env, natsUrlFor: () => natsUrl };
}
