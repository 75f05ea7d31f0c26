/**
 * Runs a command in its own namespaces, where `startNodeCluster` can start a node. Network, mounts, processes, and host name
 * are separate from the machine's: all processes end with the command, and the machine's network does not change.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { obtainBinaries } from "../binaries/obtain.ts";
import { openRun } from "../run/run.ts";
import { prepareCgroups } from "./cgroups.ts";
import { insideVariable, nodeBinaries } from "./cluster.ts";
import { containerPrograms } from "./debian.ts";
import { missingRequirements } from "./requirements.ts";

const log = (line: string) => console.error(line);

/**
 * Downloads everything first, since the namespaces have no network, and runs the command inside. Returns the command's exit code,
 * or 1 with the reasons on standard error when the machine cannot run real pods.
 */
export async function enter(command: readonly string[]): Promise<number> {
  const problems = await missingRequirements();
  if (problems.length > 0) {
    log(`This machine cannot run real pods:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
    return 1;
  }
  let building = "";
  await obtainBinaries([...nodeBinaries, "nats-server"], {
    onProgress({ binary, phase, detail }) {
      if (phase === "building" && building === binary) return;
      building = phase === "building" ? binary : "";
      if (phase !== "found") log(`  ${binary}: ${phase} ${detail}`);
    },
  });
  await containerPrograms(process.env, log);
  // Everything created inside is below the run's directory, which is removed even when this process is killed.
  const run = await openRun();
  const cgroups = await prepareCgroups();
  try {
    return await runInside(command, {
      ...process.env,
      TMPDIR: run.directory,
      [insideVariable]: cgroups.root,
    });
  } finally {
    await run.close();
    await cgroups.remove();
  }
}

const namespaces = ["--mount", "--net", "--pid", "--uts", "--ipc", "--fork", "--mount-proc", "--kill-child"];

async function runInside(command: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(
    "setpriv",
    [
      // Ends everything if this process is killed.
      "--pdeathsig",
      "KILL",
      "unshare",
      ...namespaces,
      "sh",
      "-c",
      // A different host name, because pids inside refer to other processes than outside.
      'hostname "denrei-node-$0" && exec "$@"',
      String(process.pid),
      ...command,
    ],
    { stdio: "inherit", env },
  );
  // Kill everything at once, because unshare ignores gentler signals. Ctrl-C also reaches the command itself, which may then
  // stop gracefully; a second Ctrl-C kills it.
  const stop = () => void child.kill("SIGKILL");
  process.on("SIGTERM", stop);
  process.once("SIGINT", () => process.on("SIGINT", stop));
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}
