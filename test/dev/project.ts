/** Runs `denrei dev` in a separate project for each test. */
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { launcher } from "../../bus/command/launcher.ts";
import { type KubeClient, kubeClient } from "../../bus/kube/client.ts";
import { loadKubeconfig, openConnection } from "../../bus/kube/connection.ts";
import { type Running, start, type TestFolder } from "../cli/program.ts";
import { startLocalTestEnvironment } from "../harness/environment.ts";
import { platformPrograms, programs } from "../harness/programs.ts";
import { quickly } from "../harness/start/quick.ts";
import { makeStoneCode, type StoneCode } from "./stonecode.ts";

await programs(...platformPrograms);

/** A project. */
export interface Project extends StoneCode {
  /** Runs the command line of this project. */
  start(args: readonly string[], env?: Readonly<Record<string, string | undefined>>): Running;
}

/** Creates a project with the function `pebble`. */
export function project(here: TestFolder): Project {
  const code = makeStoneCode(join(here.folder, "project"));
  const { folder } = code;
  return {
    ...code,
    start: (args, env = {}) =>
      start(args, {
        command: [process.execPath, launcher],
        cwd: folder,
        // Its child processes load the bundles too.
        env: { ...here.env, NODE_OPTIONS: quickly().join(" ") || undefined, ...env },
      }),
  };
}

/** A running `denrei dev`. */
export interface Dev {
  readonly running: Running;
  readonly env: { readonly KUBECONFIG: string; readonly NATS_URL: string };
  readonly client: KubeClient;
  /** Port for debuggers. */
  readonly inspectorPort: number | undefined;
  /** Port for webhooks. */
  readonly gatewayPort: number | undefined;
  /** Resolves with the first matching line after the line of the previous call. */
  printed(text: string | RegExp): Promise<string>;
}

/** Starting a platform takes seconds, or minutes on a busy machine. */
const printedMillis = 180_000;

/** Starts it on a local platform, unless `env` selects an existing cluster; resolves when the guide is printed. */
export async function startDev(
  { start: begin }: Partial<Project> & Pick<Project, "start">,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<Dev> {
  const running = begin(["dev", ...args], env);
  let nextLine = 0;
  async function printed(text: string | RegExp): Promise<string> {
    const fits = (line: string) => (typeof text === "string" ? line.includes(text) : text.test(line));
    const line = await running.lines.until(fits, printedMillis, nextLine);
    nextLine = running.lines.all.indexOf(line, nextLine) + 1;
    return line;
  }
  const isExisting = env.KUBECONFIG !== undefined;
  const exported = await printed(isExisting ? "with the same KUBECONFIG and NATS_URL" : "export KUBECONFIG=");
  const [, KUBECONFIG = "", NATS_URL = ""] = isExisting
    ? ["", env.KUBECONFIG, env.NATS_URL]
    : (/KUBECONFIG=(\S+) NATS_URL=(\S+)/.exec(exported) ?? []);
  await printed("Ctrl-C stops everything");
  const portIn = (pattern: RegExp): number | undefined => {
    const found = running.lines.all.map((line) => pattern.exec(line)?.[1]).find(Boolean);
    return found === undefined ? undefined : Number(found);
  };
  const connection = await openConnection(loadKubeconfig({ path: KUBECONFIG }));
  onTestFinished(() => connection.close());
  return {
    running,
    env: { KUBECONFIG, NATS_URL },
    client: kubeClient(connection),
    inspectorPort: portIn(/attach to 127\.0\.0\.1:(\d+)/),
    gatewayPort: portIn(/Send webhooks to http:\/\/127\.0\.0\.1:(\d+)/),
    printed,
  };
}

/** Starts it in the cluster that the test files share, with its own bus. Resets the cluster after the test. */
export async function startDevThere(
  mine: Project,
  args: readonly string[] = [],
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<Dev> {
  const environment = await startLocalTestEnvironment();
  onTestFinished(() => environment.stop());
  const { kubeconfigPath: KUBECONFIG, natsUrl: NATS_URL } = environment.platform;
  return startDev(mine, args, { ...env, KUBECONFIG, NATS_URL });
}
