/** containerd: runs the containers of the node from imported images and never pulls any. */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Child } from "../run/child.ts";
import type { Run } from "../run/run.ts";
import type { ContainerPrograms } from "./debian.ts";
import { pauseImage } from "./images.ts";

/** A running containerd. */
export interface Containerd extends Child {
  readonly socket: string;
  /** Imports an OCI archive: https://github.com/opencontainers/image-spec/blob/main/image-layout.md */
  importImage(archive: string): Promise<void>;
}

/** The containerd namespace that kubelet uses. */
const namespace = "k8s.io";

/** Starts containerd and waits until it answers. */
export async function startContainerd(
  run: Run,
  { containerd, ctr, cni, env }: ContainerPrograms,
  cniConfiguration: string,
): Promise<Containerd> {
  const folder = join(run.directory, "containerd");
  const socket = join(folder, "containerd.sock");
  const config = join(folder, "config.toml");
  await mkdir(folder);
  await writeFile(config, configuration(folder, socket, cni, cniConfiguration));
  const ctrCommand = (...args: string[]) =>
    promisify(execFile)(ctr, ["--address", socket, "--namespace", namespace, ...args], {
      env: { ...process.env, ...env },
    });
  const child = run.child({
    name: "containerd",
    command: containerd,
    args: ["--config", config],
    env,
    ready: () => ctrCommand("version"),
    graceMillis: 5000,
  });
  await child.start();
  return Object.assign(child, {
    socket,
    async importImage(archive: string) {
      await ctrCommand("images", "import", archive);
    },
  });
}

/** https://github.com/containerd/containerd/blob/release/1.6/docs/cri/config.md */
const configuration = (folder: string, socket: string, plugins: string, cniConfiguration: string): string => `
version = 2
root = "${folder}/root"
state = "${folder}/state"
[grpc]
  address = "${socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  # Some machines do not let root lower the out-of-memory score.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${plugins}"
    conf_dir = "${cniConfiguration}"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
`;
