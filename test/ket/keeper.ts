/** The process that removes the nodes of a run's cluster when the run ends for any reason. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const script = fileURLToPath(new URL("./keeper.sh", import.meta.url));

/** Selects the nodes: those of a cluster that carry the mark of the run. */
export interface Kept {
  readonly name: string;
  /** The path in the node at which the run's folder is mounted. */
  readonly mark: string;
  /** The folder of the run. Once it is removed, the run's processes have ended. */
  readonly directory: string;
}

/** The options of `docker ps` that select them. */
export const filtersOf = ({ name, mark }: Kept): string[] => [
  ...["--filter", `label=io.x-k8s.kind.cluster=${name}`],
  ...["--filter", `volume=${mark}`],
];

/** The ids of the nodes' containers. */
export async function nodesOf(kept: Kept): Promise<string[]> {
  const args = ["ps", "--all", "--quiet", "--no-trunc", ...filtersOf(kept)];
  const { stdout } = await promisify(execFile)("docker", args, { timeout: 30_000 });
  return stdout.split("\n").filter(Boolean);
}

/** Starts the keeper. Its standard input is a pipe that ends with this process. */
export function keep({ name, mark, directory }: Kept): ChildProcess {
  const keeper = spawn("/bin/sh", [script, name, mark, directory], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    cwd: "/",
  });
  keeper.unref();
  return keeper;
}

/** Makes the keeper remove the nodes. Resolves when they are removed. */
export async function dismiss(keeper: ChildProcess, kept: Kept): Promise<void> {
  if (keeper.exitCode === null && keeper.signalCode === null) {
    keeper.ref();
    const ended = once(keeper, "exit");
    keeper.stdin?.end("stopped\n");
    await ended;
  }
  if (keeper.exitCode !== 0)
    throw new Error(
      `the cluster ${kept.name} may still exist: removing its nodes failed. ` +
        `Look: docker ps --all ${filtersOf(kept).join(" ")}`,
    );
}
