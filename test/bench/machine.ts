/** What the benchmark ran on: figures without it mean nothing. */
import { cpus, totalmem, type } from "node:os";
import { request } from "undici";
import type { Arena } from "./arena.ts";
import type { PeerVersions } from "./gopeer.ts";

/** Rows of a table: what, and which. */
export type Machine = readonly (readonly [what: string, which: string])[];

/** Asks the parts themselves: they may come from the user's PATH. */
export async function describeMachine(
  { client, platform, bus, signal }: Arena,
  peer: PeerVersions | undefined,
): Promise<Machine> {
  const kubernetes = await client.request<{ gitVersion: string }>({
    method: "GET",
    path: "/version",
    signal,
  });
  const { body } = await request(`${platform.etcd.url}/version`, { signal });
  const etcd = (await body.json()) as { etcdserver: string };
  const cores = cpus();
  return [
    ["CPU", `${cores.length} × ${cores[0]?.model.trim() ?? "unknown"}`],
    ["memory", `${Math.round(totalmem() / 2 ** 30)} GiB`],
    ["operating system", `${type()} ${process.arch}`],
    ["Node.js", process.version.replace(/^v/, "")],
    ...(peer
      ? ([
          ["Go", peer.go],
          ["controller-runtime", peer.controllerRuntime],
        ] as const)
      : []),
    ["Kubernetes", kubernetes.gitVersion.replace(/^v/, "")],
    ["etcd", etcd.etcdserver],
    ["NATS", bus.nc.info?.version ?? "unknown"],
    ["controller manager", "not started, for either side"],
    ["etcd's fsync", "off, for either side"],
  ];
}
