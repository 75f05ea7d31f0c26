/** A cluster of the run's own in Docker, made by kind. Whatever ends this process, the cluster goes; and no other does. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse } from "yaml";
import { busRoles } from "../../../bus/permissions.ts";
import { connectCluster } from "../../../bus/process/cluster.ts";
import { obtainBinaries, startLocalNats } from "../../../deploy/local/index.ts";
import { install } from "./crds.ts";
import type { GroundOptions, KetGround } from "./ground.ts";

const run = promisify(execFile);

const configuration = new URL("../../../deploy/kind.yaml", import.meta.url);

/** What nodes are made of: the image that belongs to the version of kind, and no other that has its tag. */
async function nodeImage(): Promise<string> {
  const { nodes } = parse(await readFile(configuration, "utf8")) as { nodes: { image: string }[] };
  return nodes[0]?.image ?? "";
}

/** Something that a cluster in Docker needs is not there. */
export class KindUnavailableError extends Error {
  override readonly name = "KindUnavailableError";
}

/** Makes the cluster, and starts a bus beside it. Throws {@link KindUnavailableError}. */
export async function kindGround({ interests, crds }: GroundOptions): Promise<KetGround> {
  await expectDocker();
  const { kind } = await obtainBinaries(["kind"]);
  await using starting = new AsyncDisposableStack();
  const platform = await startLocalNats({ roles: busRoles(interests, "default") });
  starting.defer(() => platform.stop());
  const name = `ket-${randomBytes(6).toString("hex")}`;
  const kubeconfigPath = join(platform.directory, "kubeconfig");
  const place = ["--name", name, "--kubeconfig", kubeconfigPath];
  await expectNone(kind.path, name);
  const keeper = keep(kind.path, name);
  starting.defer(() => dismiss(keeper));
  const image = await nodeImage();
  await run(kind.path, ["create", "cluster", ...place, "--image", image, "--wait", "180s"]).catch(
    (error: Error & { readonly stderr?: string }) => {
      throw new KindUnavailableError(
        `expected kind to make the cluster ${name} of ${image}, but ${error.stderr?.trim() || error.message}`,
        { cause: error },
      );
    },
  );
  const client = await connectCluster({ path: kubeconfigPath });
  starting.defer(() => client.connection.close());
  await install(client, crds);
  const closing = starting.move();
  return { platform, kubeconfigPath, owned: "all", stop: () => closing.disposeAsync() };
}

async function expectDocker(): Promise<void> {
  try {
    await run("docker", ["version", "--format", "{{.Server.Version}}"], { timeout: 20_000 });
  } catch (error) {
    const { code, stderr, message } = error as NodeJS.ErrnoException & { readonly stderr?: string };
    const found = code === "ENOENT" ? "there is no docker in PATH" : stderr?.trim() || message;
    throw new KindUnavailableError(
      `expected Docker for the cluster "kind", but ${found}. Start Docker, or use the cluster "local", which needs none.`,
      { cause: error },
    );
  }
}

/** A name that somebody has is not ours to delete, however unlikely it is. */
async function expectNone(kind: string, name: string): Promise<void> {
  const { stdout } = await run(kind, ["get", "clusters"]);
  if (stdout.split("\n").includes(name))
    throw new KindUnavailableError(
      `expected no cluster named ${name}, found one. Try again: the name is made up.`,
    );
}

/** Deletes the cluster when this process ends or lets go of it: the end of its standard input tells. */
function keep(kind: string, name: string): ChildProcess {
  const script =
    'trap "" HUP INT TERM; cat >/dev/null; "$1" delete cluster --name "$2" --kubeconfig /dev/null';
  const keeper = spawn("/bin/sh", ["-c", script, "sh", kind, name], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  keeper.unref();
  return keeper;
}

async function dismiss(keeper: ChildProcess): Promise<void> {
  if (keeper.exitCode !== null || keeper.signalCode !== null) return;
  keeper.ref();
  const ended = once(keeper, "exit");
  keeper.stdin?.end();
  const [code] = await ended;
  if (code !== 0)
    throw new Error(
      `expected kind to delete its cluster, but it ended with ${code}. Look: kind get clusters`,
    );
}
