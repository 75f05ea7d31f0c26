/** The environment of `denrei dev`. */
import { redacted } from "denrei";
import { type Environment, type EnvironmentOptions, openEnvironment } from "../../environment/environment.ts";
import { lostFieldsVariable } from "./protocol.ts";

/** How to open it. */
export interface DevEnvironmentOptions
  extends Pick<EnvironmentOptions, "display" | "say" | "signal" | "dashboard"> {
  /** Whether a debugger may stop a worker, which then does not answer for any length of time. */
  readonly isDebugged: boolean;
  readonly nodes: number;
}

/** The bus disconnects a client after three missed pings. */
const debuggedPingSeconds = 24 * 3600;

/** Opens it. A local bus has no roles, because bus permissions follow from the declarations, which change while it runs. */
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
