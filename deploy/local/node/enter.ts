/**
 * Runs a command in namespaces of its own, where `startNodeCluster` can start a node. Network, mounts, processes and the name of the
 * machine are its own: what it starts ends with it, whatever happens, and the machine keeps its network as it is.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { obtainBinaries } from "../binaries/obtain.ts";
import { openRun } from "../run/run.ts";
import { prepareCgroups } from "./cgroups.ts";
import { insideVariable, nodeBinaries } from "./cluster.ts";
import { containerPrograms } from "./debian.ts";
import { obstacles } from "./machine.ts";

const say = (line: string) => console.error(line);

/**
 * Gets whatever comes from outside, since inside there is no way out, and runs the command inside. Returns its exit code; 1, with
 * the reasons on standard error, where the machine can not run real pods.
 */
export async function enter(command: readonly string[]): Promise<number> {
  const problems = await obstacles();
  if (problems.length > 0) {
    say(`This machine can not run real pods:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
    return 1;
  }
  let building = "";
  await obtainBinaries([...nodeBinaries, "nats-server"], {
    onProgress({ binary, phase, detail }) {
      if (phase === "building" && building === binary) return;
      building = phase === "building" ? binary : "";
      if (phase !== "found") say(`  ${binary}: ${phase} ${detail}`);
    },
  });
  await containerPrograms(process.env, say);
  // Whatever is made inside is below this folder, and goes with it, also when this process is killed.
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
      // Should this process be killed, all of it ends.
      "--pdeathsig",
      "KILL",
      "unshare",
      ...namespaces,
      "sh",
      "-c",
      // A name of its own: pids inside mean other processes than outside.
      'hostname "denrei-node-$0" && exec "$@"',
      String(process.pid),
      ...command,
    ],
    { stdio: "inherit", env },
  );
  // All of it at once: unshare heeds no gentler signal. A terminal's Ctrl-C reaches the command as well, which may end in order;
  // the second one does not wait for that.
  const stop = () => void child.kill("SIGKILL");
  process.on("SIGTERM", stop);
  process.once("SIGINT", () => process.on("SIGINT", stop));
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}
