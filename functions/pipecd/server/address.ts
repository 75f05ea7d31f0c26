/** Where the server of a control plane is reached. */
import type { Stored } from "../../../bus/kube/object.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import type { Outbound } from "../../../bus/worker/function.ts";
import { partName } from "../controlplane/component.ts";
import type { ControlPlane } from "../kinds.ts";
import { serverPorts } from "../names.ts";
import { patience } from "../pace.ts";

/** The services that are called. */
export type ServiceName = "web" | "api";

const services = {
  web: { port: serverPorts.web, variable: "DENREI_PIPECD_WEB_ADDRESS" },
  api: { port: serverPorts.api, variable: "DENREI_PIPECD_API_ADDRESS" },
} as const;

/** What a function that calls them declares. */
export const outbound: Outbound = { podPorts: Object.values(services).map(({ port }) => port) };

type Env = Readonly<Record<string, string | undefined>>;

/** Whether a service is reached at an address that the worker was told. */
export const isElsewhere = (service: ServiceName, env: Env = process.env): boolean =>
  Boolean(env[services[service].variable]);

/**
 * `host:port`. Within the cluster that is the server's Service. A worker outside of it is told by an environment variable,
 * `DENREI_PIPECD_WEB_ADDRESS` or `DENREI_PIPECD_API_ADDRESS`, in which `{namespace}` and `{name}` stand for the control plane's.
 * Throws a `BlockedError` when that is no address.
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
    `expected ${variable} to be host:port, in which {namespace} and {name} may stand, found "${template}". Correct the worker's environment.`,
    patience,
  );
}
