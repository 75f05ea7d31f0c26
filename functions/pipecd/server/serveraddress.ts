/** Addresses of a control plane's server. */
import { BlockedError, type Outbound, type Stored } from "denrei";
import { partName } from "../controlplane/partobjects.ts";
import { retryMillis } from "../intervals.ts";
import type { ControlPlane } from "../kinds.ts";
import { serverPorts } from "../names.ts";

/** gRPC services of the server that Denrei calls. */
export type ServiceName = "web" | "api";

const services = {
  web: { port: serverPorts.web, variable: "DENREI_PIPECD_WEB_ADDRESS" },
  api: { port: serverPorts.api, variable: "DENREI_PIPECD_API_ADDRESS" },
} as const;

/** The `outbound` declaration of every function that calls the server. */
export const outbound: Outbound = { podPorts: Object.values(services).map(({ port }) => port) };

type Env = Readonly<Record<string, string | undefined>>;

/** Whether an environment variable sets the address of a service. */
export const isElsewhere = (service: ServiceName, env: Env = process.env): boolean =>
  Boolean(env[services[service].variable]);

/**
 * `host:port`. Defaults to the server's Service. For workers outside the cluster, `DENREI_PIPECD_WEB_ADDRESS` and
 * `DENREI_PIPECD_API_ADDRESS` replace it; `{namespace}` and `{name}` stand for those of the control plane. Throws a
 * `BlockedError` if the variable is not an address.
 */
export function addressOf(
  service: ServiceName,
  { metadata: { name, namespace = "" } }: Pick<Stored<ControlPlane>, "metadata">,
  env: Env = process.env,
): string {
  const { port, variable } = services[service];
  const template = env[variable];
  if (!template) return `${partName(name, "server")}.${namespace}.svc:${port}`;
  const address = template.replaceAll("{namespace}", namespace).replaceAll("{name}", name);
  const [, digits] = /^(?:\[[0-9a-fA-F:]+\]|[^\s:/{}[\]]+):(\d{1,5})$/.exec(address) ?? [];
  if (Number(digits) >= 1 && Number(digits) <= 65_535) return address;
  throw new BlockedError(
    "AddressInvalid",
    `expected ${variable} to be host:port, optionally with {namespace} and {name}, found "${template}". Correct the worker's environment.`,
    retryMillis,
  );
}
