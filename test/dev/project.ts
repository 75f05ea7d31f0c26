/** `denrei dev` in a project of a test's own. */
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type KubeClient, kubeClient } from "../../bus/kube/client.ts";
import { loadKubeconfig, openConnection } from "../../bus/kube/connection.ts";
import { type Place, type Running, start } from "../cli/program.ts";
import { startLocalKit } from "../harness/kit.ts";
import { platformPrograms, programs } from "../harness/programs.ts";
import { quickly } from "../harness/start/quick.ts";
import { makeStoneCode, type StoneCode } from "./stonecode.ts";

await programs(...platformPrograms);

/** A project in a place. */
export interface Project extends StoneCode {
  /** The command line of this project. */
  start(args: readonly string[], env?: Readonly<Record<string, string | undefined>>): Running;
}

/** Makes one with the function `pebble`. */
export function project(here: Place): Project {
  const code = makeStoneCode(join(here.folder, "project"));
  const { folder } = code;
  return {
    ...code,
    start: (args, env = {}) =>
      start(args, {
        command: [process.execPath, join(folder, "deploy/cli/denrei.js")],
        cwd: folder,
        // Its own children load the bundles as well.
        env: { ...here.env, NODE_OPTIONS: quickly().join(" ") || undefined, ...env },
      }),
  };
}

/** A `denrei dev` that runs. */
export interface Dev {
  readonly running: Running;
  readonly env: { readonly KUBECONFIG: string; readonly NATS_URL: string };
  readonly client: KubeClient;
  /** Where debuggers attach. */
  readonly inspectorPort: number | undefined;
  /** Where webhooks are received. */
  readonly gatewayPort: number | undefined;
  /** Resolves with the next line that holds the text, from those on that came since this was asked for last. */
  printed(text: string | RegExp): Promise<string>;
}

/** A whole start takes seconds, or minutes on a busy machine. */
const printedMillis = 180_000;

/** Starts it, on a platform of its own unless the environment names another, and waits until it says what to type. */
export async function startDev(
  { start: begin }: Project,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<Dev> {
  const running = begin(["dev", ...args], env);
  let heard = 0;
  async function printed(text: string | RegExp): Promise<string> {
    const fits = (line: string) => (typeof text === "string" ? line.includes(text) : text.test(line));
    const line = await running.lines.until(fits, printedMillis, heard);
    heard = running.lines.all.indexOf(line, heard) + 1;
    return line;
  }
  const given = env.KUBECONFIG !== undefined;
  const exported = await printed(given ? "with the same KUBECONFIG and NATS_URL" : "export KUBECONFIG=");
  const [, KUBECONFIG = "", NATS_URL = ""] = given
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
    gatewayPort: portIn(/received at http:\/\/127\.0\.0\.1:(\d+)/),
    printed,
  };
}

/** Starts it in the cluster that test files share, on its own bus. The cluster is reset after the test. */
export async function startDevThere(
  mine: Project,
  args: readonly string[] = [],
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<Dev> {
  const kit = await startLocalKit();
  onTestFinished(() => kit.stop());
  const { kubeconfigPath: KUBECONFIG, natsUrl: NATS_URL } = kit.platform;
  return startDev(mine, args, { ...env, KUBECONFIG, NATS_URL });
}
