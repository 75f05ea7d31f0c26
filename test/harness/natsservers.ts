/** A bus of one NATS server, or of three on one machine that form a JetStream cluster: streams with three copies. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Role } from "../../bus/permissions.ts";
import { authorizationText } from "../../deploy/authorization.ts";
import {
  type Child,
  type ChildSpec,
  type LocalProcesses,
  obtainBinaries,
  startLocalNats,
  startLocalProcesses,
} from "../../deploy/local/index.ts";
import { withFreePorts } from "../../deploy/local/parts/ports.ts";
import { adminRole, localUsers } from "../../deploy/local/users.ts";

/** The servers of a bus. */
export interface NatsServers {
  readonly processes: LocalProcesses;
  readonly servers: readonly Child[];
  /** The URLs of all servers, for a client with all permissions. */
  readonly natsUrl: string;
  /** The same for the user of a role. */
  natsUrlFor(role: string): string;
}

const size = 3;
const healthyMillis = 60_000;

/** Starts one or three servers with users for these roles. */
export const startNatsServers = (
  count: 1 | 3,
  signal: AbortSignal,
  roles: readonly Role[],
): Promise<NatsServers> => (count === 1 ? startNatsServer(signal, roles) : startNatsCluster(signal, roles));

async function startNatsServer(signal: AbortSignal, roles: readonly Role[]): Promise<NatsServers> {
  const { nats, natsUrl, natsUrlFor, ...processes } = await startLocalNats({ roles, signal });
  return { processes, servers: [nats], natsUrl, natsUrlFor };
}

/** Starts the cluster, and waits until it has elected its leader. */
async function startNatsCluster(signal: AbortSignal, roles: readonly Role[]): Promise<NatsServers> {
  const { "nats-server": binary } = await obtainBinaries(["nats-server"], { signal });
  const processes = await startLocalProcesses();
  const { users, urlFor } = localUsers(roles);
  try {
    return await withFreePorts(3 * size, async (ports) => {
      const members = membersOn(ports);
      const routes = members.map(({ routePort }) => `"nats://127.0.0.1:${routePort}"`);
      const start = async (member: Member): Promise<Child> => {
        const folder = join(processes.directory, member.name);
        await mkdir(folder);
        const config = join(folder, "nats.conf");
        await writeFile(config, configOf(member, routes, folder, authorizationText(users)));
        return processes.spawn(serverSpec(member, binary.path, config), signal);
      };
      const servers = await Promise.all(members.map(start));
      const url = members.map(({ port }) => `nats://127.0.0.1:${port}`).join(",");
      return {
        processes,
        servers,
        natsUrl: urlFor(adminRole.name, url),
        natsUrlFor: (role) => urlFor(role, url),
      };
    });
  } catch (error) {
    await processes.stop();
    throw error;
  }
}

/** A server of the cluster. */
interface Member {
  readonly name: string;
  readonly port: number;
  readonly monitorPort: number;
  readonly routePort: number;
}

const membersOn = (ports: readonly number[]): Member[] =>
  Array.from({ length: size }, (_, at) => ({
    name: `nats-${at + 1}`,
    port: ports[3 * at] ?? 0,
    monitorPort: ports[3 * at + 1] ?? 0,
    routePort: ports[3 * at + 2] ?? 0,
  }));

const configOf = (
  { name, port, monitorPort, routePort }: Member,
  routes: readonly string[],
  folder: string,
  authorization: string,
): string =>
  [
    `server_name: ${name}`,
    `listen: "127.0.0.1:${port}"`,
    `http: "127.0.0.1:${monitorPort}"`,
    `jetstream { store_dir: ${JSON.stringify(join(folder, "data"))} }`,
    `cluster { name: prove, listen: "127.0.0.1:${routePort}", routes: [${routes.join(", ")}] }`,
    authorization,
  ].join("\n");

const serverSpec = ({ name, monitorPort }: Member, command: string, config: string): ChildSpec => ({
  name,
  command,
  args: ["--config", config],
  // A server is healthy once it has caught up with every stream.
  ready: () => expectHealthy(monitorPort),
  readyMillis: healthyMillis,
  graceMillis: 2000,
  closingSignal: "SIGKILL",
});

async function expectHealthy(monitorPort: number): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${monitorPort}/healthz`, {
    signal: AbortSignal.timeout(2000),
  });
  if (!answer.ok) throw new Error(await answer.text());
}
