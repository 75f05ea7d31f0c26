/**
 * The node's network: a separate network namespace, which also contains the control plane and has no route out. Pods reach
 * each other, Services, and the API server, but neither the machine nor any other network.
 */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** Addresses of the node and of its pods. */
export const addresses = { node: "10.245.0.1", pods: "10.244.0.0/24" } as const;

/** Brings up the loopback device and gives the node an address that pods can use. */
export async function raiseNetwork(): Promise<void> {
  const ip = (...args: string[]) => promisify(execFile)("ip", args);
  await ip("link", "set", "lo", "up");
  // Both ends of the pair stay here. Unlike dummy devices, every kernel that runs pods has veth devices.
  await ip("link", "add", "denrei0", "type", "veth", "peer", "name", "denrei1");
  await ip("address", "add", `${addresses.node}/24`, "dev", "denrei0");
  for (const end of ["denrei0", "denrei1"]) await ip("link", "set", end, "up");
  // The route leads nowhere, but the kernel looks up a route for a Service address before translating it.
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
        // A pod must be able to reach itself through its own Service.
        hairpinMode: true,
        ipMasq: false,
        ipam: { type: "host-local", ranges: [[{ subnet: addresses.pods }]], routes: [{ dst: "0.0.0.0/0" }] },
      },
      { type: "portmap", capabilities: { portMappings: true } },
    ],
  };
  await writeFile(join(folder, "10-denrei.conflist"), JSON.stringify(list));
}
