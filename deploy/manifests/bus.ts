/** Where the bus of another project is. */
import { natsName } from "../generate/certificates.ts";

/** `nats.denrei`, with the rest of the Service's name or without. */
const serviceHost = new RegExp(`^${natsName}\\.([a-z0-9-]+)(\\.svc(\\..+)?)?$`);

/**
 * The namespace of the Service in the URL of a bus, or in each of several with commas. Undefined for servers at another address, such as
 * those outside the cluster.
 */
export function namespaceOfBus(natsUrl: string): string | undefined {
  const hosts = natsUrl.split(",").map((one) =>
    one
      .trim()
      .replace(/^\w+:\/\//, "")
      .replace(/[:/].*$/, ""),
  );
  const [namespace, ...others] = new Set(hosts.map((host) => serviceHost.exec(host)?.[1]));
  return others.length === 0 ? namespace : undefined;
}
