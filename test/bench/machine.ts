/** The machine and the versions of a run, without which figures mean nothing. */
import { cpus, totalmem, type } from "node:os";
import { request } from "undici";
import type { Bus } from "../../bus/nats/connect.ts";
import type { BenchEnvironment } from "./environment.ts";
import type { PeerVersions } from "./gopeer.ts";

/** Names and values. */
export type Machine = ReadonlyMap<string, string>;

export function describeMachine(): Machine {
  const cores = cpus();
  return new Map([
    ["CPU", `${cores.length} × ${cores[0]?.model.trim() ?? "unknown"}`],
    ["memory", `${Math.round(totalmem() / 2 ** 30)} GiB`],
    ["operating system", `${type()} ${process.arch}`],
    ["Node.js", process.version.replace(/^v/, "")],
  ]);
}

/** Asks the server, which may come from the user's PATH. */
export const describeBus = ({ nc }: Bus): Machine => new Map([["NATS", nc.info?.version ?? "unknown"]]);

/** The versions and settings of the platform. */
export async function describePlatform(
  { client, platform, bus, signal }: BenchEnvironment,
  peer: PeerVersions | undefined,
): Promise<Machine> {
  const kubernetes = await client.request<{ gitVersion: string }>({
    method: "GET",
    path: "/version",
    signal,
  });
  const { body } = await request(`${platform.etcd.url}/version`, { signal });
  const etcd = (await body.json()) as { etcdserver: string };
  return new Map([
    ...(peer
      ? ([
          ["Go", peer.go],
          ["controller-runtime", peer.controllerRuntime],
        ] as const)
      : []),
    ["Kubernetes", kubernetes.gitVersion.replace(/^v/, "")],
    ["etcd", etcd.etcdserver],
    ...describeBus(bus),
    ["controller manager", "not started, for either side"],
    ["etcd's fsync", "off, for either side"],
  ]);
}
