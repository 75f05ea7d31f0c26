/** Three NATS servers on one machine that form a JetStream cluster: streams with three copies. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Role } from "../../bus/permissions.ts";
import { authorizationText } from "../../deploy/authorization.ts";
import {
  type Child,
  type LocalProcesses,
  obtainBinaries,
  startLocalProcesses,
} from "../../deploy/local/index.ts";
import { withFreePorts } from "../../deploy/local/parts/ports.ts";
import { adminRole, localUsers } from "../../deploy/local/users.ts";

/** A cluster of NATS servers. */
export interface NatsCluster {
  readonly processes: LocalProcesses;
  readonly servers: readonly Child[];
  /** The URLs of all servers, for a client with all permissions. */
  readonly natsUrl: string;
  /** The same for the user of a role. */
  natsUrlFor(role: string): string;
  /** Resolves when every running server has caught up with every stream. */
  untilHealthy(signal: AbortSignal): Promise<void>;
}

const size = 3;
const healthyMillis = 60_000;

/** Starts the cluster with users for these roles, and waits until it has elected its leader. */
export async function startNatsCluster(signal: AbortSignal, roles: readonly Role[]): Promise<NatsCluster> {
  const { "nats-server": binary } = await obtainBinaries(["nats-server"], { signal });
  const processes = await startLocalProcesses();
  const { users, urlFor } = localUsers(roles);
  try {
    return await withFreePorts(3 * size, async (ports) => {
      const members = Array.from({ length: size }, (_, at) => ({
        name: `nats-${at + 1}`,
        port: ports[3 * at] ?? 0,
        monitorPort: ports[3 * at + 1] ?? 0,
        routePort: ports[3 * at + 2] ?? 0,
      }));
      const routes = members.map(({ routePort }) => `"nats://127.0.0.1:${routePort}"`).join(", ");
      const healthy = async (monitorPort: number): Promise<void> => {
        const answer = await fetch(`http://127.0.0.1:${monitorPort}/healthz`, {
          signal: AbortSignal.timeout(2000),
        });
        if (!answer.ok) throw new Error(await answer.text());
      };
      const servers = await Promise.all(
        members.map(async ({ name, port, monitorPort, routePort }) => {
          const folder = join(processes.directory, name);
          await mkdir(folder);
          const config = join(folder, "nats.conf");
          await writeFile(
            config,
            [
              `server_name: ${name}`,
              `listen: "127.0.0.1:${port}"`,
              `http: "127.0.0.1:${monitorPort}"`,
              `jetstream { store_dir: ${JSON.stringify(join(folder, "data"))} }`,
              `cluster { name: prove, listen: "127.0.0.1:${routePort}", routes: [${routes}] }`,
              authorizationText(users),
            ].join("\n"),
          );
          return processes.spawn(
            {
              name,
              command: binary.path,
              args: ["--config", config],
              ready: () => healthy(monitorPort),
              readyMillis: healthyMillis,
              graceMillis: 2000,
              closingSignal: "SIGKILL",
            },
            signal,
          );
        }),
      );
      const url = members.map(({ port }) => `nats://127.0.0.1:${port}`).join(",");
      return {
        processes,
        servers,
        natsUrl: urlFor(adminRole.name, url),
        natsUrlFor: (role) => urlFor(role, url),
        async untilHealthy(stopping) {
          const until = performance.now() + healthyMillis;
          for (const [at, { monitorPort, name }] of members.entries()) {
            if (servers[at]?.pid === undefined) continue;
            for (;;) {
              stopping.throwIfAborted();
              const trouble = await healthy(monitorPort).then(
                () => undefined,
                (error: unknown) => error,
              );
              if (trouble === undefined) break;
              if (performance.now() > until)
                throw new Error(
                  `expected ${name} to catch up within ${healthyMillis} ms, found ${String(trouble)}`,
                );
              await new Promise((resolve) => setTimeout(resolve, 50));
            }
          }
        },
      };
    });
  } catch (error) {
    await processes.stop();
    throw error;
  }
}
