/**
 * A cluster of one real node, without Docker and without a registry: kubelet and containerd run pods from imported images.
 * It has to be started inside the namespaces that `enter.ts` creates.
 */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { obtainBinaries } from "../binaries/obtain.ts";
import { type ControlPlane, startControlPlane } from "../controlplane.ts";
import { openRun, type Run } from "../run/run.ts";
import { type Containerd, startContainerd } from "./containerd.ts";
import { containerPrograms } from "./debian.ts";
import { makePauseImage } from "./images.ts";
import { startKubelet, startProxy } from "./kubelet.ts";
import { addresses, raiseNetwork, writeCniConfiguration } from "./network.ts";
import { nodeName, untilNodeIsReady } from "./ready.ts";

/** The platform's programs that a real node needs. */
export const nodeBinaries = [
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kubelet",
  "kube-proxy",
] as const;

/** A cluster with real pods. */
export interface NodeCluster extends ControlPlane, Pick<Containerd, "importImage"> {
  /** Directory for logs and data, removed by `stop`. */
  readonly directory: string;
  stop(): Promise<void>;
}

/** Set by `enter.ts` for processes inside the namespaces: the parent cgroup of pods. */
export const insideVariable = "DENREI_NODE_CGROUP";

/** Starts the cluster and waits until its node is ready. Throws, with nothing left running, when that fails. */
export async function startNodeCluster(log: (line: string) => void = () => undefined): Promise<NodeCluster> {
  const cgroupRoot = process.env[insideVariable];
  if (cgroupRoot === undefined) {
    throw new Error(
      `not in the namespaces of a node, but of the machine ${hostname()}. Start the command with node deploy/local/node/main.ts <command>`,
    );
  }
  const binaries = await obtainBinaries(nodeBinaries);
  const programs = await containerPrograms(process.env, log);
  const run = await openRun();
  try {
    await raiseNetwork();
    const cni = join(run.directory, "cni");
    await writeCniConfiguration(cni);
    const [containerd, controlPlane] = await Promise.all([
      startContainerd(run, programs, cni),
      startControlPlane(
        run,
        {
          etcd: binaries.etcd.path,
          apiserver: binaries["kube-apiserver"].path,
          controllerManager: binaries["kube-controller-manager"].path,
        },
        { pods: { address: addresses.node, scheduler: binaries["kube-scheduler"].path } },
      ),
    ]);
    log("control plane and containerd are ready");
    const pause = join(run.directory, "images", "pause.tar");
    await makePauseImage(pause, process.env);
    await containerd.importImage(pause);
    const kubeletConfig = await controlPlane.kubeconfigFor(`system:node:${nodeName}`, ["system:nodes"]);
    await startKubelet(run, {
      binary: binaries.kubelet.path,
      kubeconfigPath: kubeletConfig,
      env: programs.env,
      ca: join(run.directory, "pki", "ca.crt"),
      socket: containerd.socket,
      cgroupRoot,
    });
    await startProxy(run, {
      binary: binaries["kube-proxy"].path,
      kubeconfigPath: await controlPlane.kubeconfigFor("system:kube-proxy"),
      env: programs.env,
    });
    await untilNodeIsReady(controlPlane.kubeconfigPath);
    log("the node is ready");
    return {
      ...controlPlane,
      directory: run.directory,
      importImage: containerd.importImage,
      stop: () => close(run),
    };
  } catch (error) {
    await close(run);
    throw error;
  }
}

/** Containers outlive kubelet and containerd, and end with the namespaces. Before that, their mounts block the removal of the run's directory. */
async function close(run: Run): Promise<void> {
  const { directory } = run;
  const mounts = (await readFile("/proc/self/mounts", "utf8"))
    .split("\n")
    .map((line) => line.split(" ")[1] ?? "");
  const unmount = async () => {
    for (const path of mounts.filter((mount) => mount.startsWith(directory)).reverse())
      await promisify(execFile)("umount", ["--lazy", path]).catch(() => undefined);
  };
  await unmount();
  await run.close();
}
