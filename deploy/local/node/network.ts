/**
 * The network of the node: a network namespace of its own, which holds the control plane as well, and no way out of it. Pods
 * reach each other, the services, and the API server; not the machine, and nothing beyond.
 */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** Addresses: of the node, of its pods, of the service of the cluster's DNS. */
export const addresses = { node: "10.245.0.1", pods: "10.244.0.0/24" } as const;

/** Gives the namespace its loopback, and the node an address that pods can be told of. */
export async function raiseNetwork(): Promise<void> {
  const ip = (...args: string[]) => promisify(execFile)("ip", args);
  await ip("link", "set", "lo", "up");
  // Both ends stay here. A dummy would do, but not every kernel has one, and pods need this kind anyway.
  await ip("link", "add", "denrei0", "type", "veth", "peer", "name", "denrei1");
  await ip("address", "add", `${addresses.node}/24`, "dev", "denrei0");
  for (const end of ["denrei0", "denrei1"]) await ip("link", "set", end, "up");
  // Not to go anywhere: addresses of services are looked up in the routes before they are translated.
  await ip("route", "add", "default", "via", addresses.node);
  await writeFile("/proc/sys/net/ipv4/ip_forward", "1");
}

/** https://www.cni.dev/docs/spec/#configuration-format */
export async function writeCniConfiguration(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const list = {
    cniVersion: "1.0.0",
    name: "denrei",
    plugins: [
      {
        type: "bridge",
        bridge: "cni0",
        isGateway: true,
        // A pod may be what its own service leads it to.
        hairpinMode: true,
        ipMasq: false,
        ipam: { type: "host-local", ranges: [[{ subnet: addresses.pods }]], routes: [{ dst: "0.0.0.0/0" }] },
      },
      { type: "portmap", capabilities: { portMappings: true } },
    ],
  };
  await writeFile(join(folder, "10-denrei.conflist"), JSON.stringify(list));
}
