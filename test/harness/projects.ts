/** Projects outside the checkout, which share a bus and a cluster. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { launcher } from "../../bus/command/launcher.ts";
import type { LocalNats } from "../../deploy/local/index.ts";
import { type Ended, type Environment, run } from "../cli/program.ts";
import {
  type GatewayReplica,
  gatewayOf,
  gatewaySettings,
  launchReplica,
  type Replica,
} from "../ket/replica.ts";
import { hookSecret } from "./environment.ts";
import { quickly } from "./start/quick.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Where the processes of projects run. */
export interface SharedPlatform {
  readonly kubeconfigPath: string;
  readonly nats: LocalNats;
}

/** A project in a folder of its own. */
export interface ProjectFolder {
  /** Runs a command that needs neither bus nor cluster. */
  command(...args: readonly string[]): Promise<Ended>;
  on(platform: SharedPlatform): TestProject;
}

/** A project on a bus and a cluster. */
export interface TestProject {
  /** Starts the bridge; resolves when it is ready. */
  bridge(name: string): Promise<Replica>;
  /** Starts a worker as the user of its function or group; resolves when it is ready. */
  worker(name: string, set: string): Promise<Replica>;
  gateway(name: string): Promise<GatewayReplica>;
  /** Runs another command to its end, as the administrator of the bus. */
  command(...args: readonly string[]): Promise<Ended>;
}

/** Writes a project with these functions, by name, and with the packages of the checkout. */
export function makeProject(
  folder: string,
  name: string,
  functions: Readonly<Record<string, string>>,
): ProjectFolder {
  mkdirSync(join(folder, "functions"), { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name, type: "module" }));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  for (const [fn, source] of Object.entries(functions))
    writeFileSync(join(folder, "functions", `${fn}.ts`), source);
  const modules = Object.keys(functions).map((fn) => `${fn}: () => import("./functions/${fn}.ts"),`);
  writeFileSync(
    join(folder, "denrei.config.ts"),
    [
      'import { defineConfig } from "denrei/project";',
      `export default defineConfig({ functions: { ${modules.join(" ")} } });`,
      "",
    ].join("\n"),
  );
  return projectIn(folder);
}

/** The project in a folder. */
export const projectIn = (folder: string): ProjectFolder => ({
  command: (...args) => commandIn(folder, args),
  on: (platform) => projectOn(folder, platform),
});

const program = (): [string, ...string[]] => [process.execPath, ...quickly(), launcher];

const commandIn = (folder: string, args: readonly string[], env: Environment = {}): Promise<Ended> =>
  run(args, { command: program(), cwd: folder, env: { NODE_NO_WARNINGS: "1", ...env } });

function projectOn(folder: string, { kubeconfigPath: KUBECONFIG, nats }: SharedPlatform): TestProject {
  const start = (
    { name, role, user = role, args = [] }: { name: string; role: string; user?: string; args?: string[] },
    env: Environment = {},
  ): Promise<Replica> =>
    launchReplica(nats, {
      name,
      cwd: folder,
      args: [...program().slice(1), role, ...args],
      env: {
        KUBECONFIG,
        NATS_URL: nats.natsUrlFor(user),
        DENREI_REPLICA: name,
        NODE_NO_WARNINGS: "1",
        VITEST: undefined,
        ...env,
      },
    });
  return {
    bridge: (name) => start({ name, role: "bridge" }),
    worker: (name, set) => start({ name, role: "worker", user: set, args: [set] }),
    gateway: async (name) =>
      gatewayOf(await start({ name, role: "gateway" }, await gatewaySettings(nats, name, [hookSecret]))),
    command: (...args) => commandIn(folder, args, { KUBECONFIG, NATS_URL: nats.natsUrl }),
  };
}
