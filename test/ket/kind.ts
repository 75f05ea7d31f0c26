/** A cluster for one run, created by kind in Docker. However this process ends, this cluster is removed, and no other. */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  describeExit,
  type LocalProcesses,
  obtainBinaries,
  startLocalNats,
  startLocalProcesses,
} from "@denrei/cli/local/index";
import { lastLines } from "@denrei/cli/local/run/child";
import { busRoles } from "denrei/bus";
import { connectCluster } from "denrei/kubernetes";
import { stringify } from "yaml";
import { install } from "./crds.ts";
import type { KetEnvironment, KetEnvironmentOptions } from "./environment.ts";
import { forward } from "./forward.ts";
import { dismiss, type Kept, keep, nodesOf } from "./keeper.ts";
import { type KindPlan, planOf } from "./kindoptions.ts";
import type { KindCluster } from "./options.ts";
import { deploy, deployedBus, deployedLog, runLabel } from "./skaffold.ts";
import { disposingOnError } from "./starting.ts";

const run = promisify(execFile);

/** The keeper queries Docker for the nodes, so kind must not choose another engine. */
const provider = { KIND_EXPERIMENTAL_PROVIDER: "docker" };

/** Docker does not run, kind failed, or a cluster of that name exists. */
export class KindUnavailableError extends Error {
  override readonly name = "KindUnavailableError";
}

/**
 * Creates the cluster, and starts a bus next to it or deploys with skaffold. Throws a `KetOptionError`, {@link KindUnavailableError}, or
 * `DeployError`.
 */
export const kindEnvironment = (options: KetEnvironmentOptions): Promise<KetEnvironment> =>
  disposingOnError((starting) => start(options, starting));

async function start(
  options: KetEnvironmentOptions,
  starting: AsyncDisposableStack,
): Promise<KetEnvironment> {
  const plan = await planOf(options.options);
  await expectDocker();
  // Before the cluster, which takes minutes.
  const programs = await obtainPrograms(plan);
  const beside = plan.skaffold
    ? undefined
    : await startLocalNats({ roles: busRoles(options.subscriptions, "default") });
  const processes = beside ?? (await startLocalProcesses());
  starting.defer(() => processes.stop());
  const kubeconfigPath = await createCluster(plan, programs.kind, processes, starting);
  const client = await connectCluster({ path: kubeconfigPath });
  starting.defer(() => client.connection.close());
  await install(client, options.crds);
  const ending = new AbortController();
  starting.defer(() => ending.abort());
  const { kubectl } = programs;
  const cluster = openCluster({ plan, processes, kubectl, kubeconfigPath, signal: ending.signal });
  const environment = { kubeconfigPath, owned: "all", kind: cluster } as const;
  if (plan.skaffold === undefined) {
    const closing = starting.move();
    return { ...environment, platform: beside, stop: () => closing.disposeAsync() };
  }
  const { id, skaffold: deployed } = plan;
  const { context } = cluster;
  await deploy({ plan: deployed, id, processes, client, kubeconfigPath, context, programs });
  const bus = await deployedBus({ plan: deployed, client, processes }, cluster.forward);
  const closing = starting.move();
  return {
    ...environment,
    deployed: { bus, log: () => deployedLog(client, id) },
    stop: () => closing.disposeAsync(),
  };
}

/** Paths of the programs of a run; empty for skaffold when the run does not use it. */
async function obtainPrograms({ kindVersion, skaffold }: KindPlan) {
  const found = await obtainBinaries(["kind", "kubectl"], { versions: { kind: kindVersion } });
  const deploying =
    skaffold && (await obtainBinaries(["skaffold"], { versions: { skaffold: skaffold.version } }));
  return { kind: found.kind.path, kubectl: found.kubectl.path, skaffold: deploying?.skaffold.path ?? "" };
}

/**
 * Creates the cluster, whose nodes are removed when the stack is disposed or this process ends. Resolves with the path of its kubeconfig.
 */
async function createCluster(
  plan: KindPlan,
  kind: string,
  processes: LocalProcesses,
  starting: AsyncDisposableStack,
): Promise<string> {
  const { name, image, id } = plan;
  await expectNone(kind, name);
  const { directory } = processes;
  const kept: Kept = { name, mark: `/etc/denrei/ket/${id}`, directory };
  const [configuration, kubeconfigPath] = [join(directory, "kind.yaml"), join(directory, "kubeconfig")];
  const hostPath = join(directory, "mark");
  await mkdir(hostPath);
  await writeFile(configuration, configurationOf(plan, { hostPath, containerPath: kept.mark }));
  const keeper = keep(kept);
  starting.defer(() => dismiss(keeper, kept));
  const child = processes.prepare({
    name: "kind",
    command: kind,
    args: [
      ...["create", "cluster", "--name", name, "--config", configuration, "--kubeconfig", kubeconfigPath],
      // Without it, a failing kind removes every node of that name, even of a cluster that another process created meanwhile.
      ...["--image", image, "--retain", "--wait", "180s"],
    ],
    env: provider,
  });
  // Stops kind before the keeper looks for nodes.
  starting.defer(() => child.stop("SIGKILL"));
  await child.start();
  const exit = (await child.exited()) ?? { code: null, signal: null };
  if (exit.code !== 0) {
    const lines = await lastLines(child.logPath, 20);
    throw new KindUnavailableError(
      `kind could not create the cluster ${name} of ${image} and ${describeExit(exit)}:\n  ${lines.join("\n  ")}`,
    );
  }
  if ((await nodesOf(kept)).length === 0)
    throw new KindUnavailableError(
      `the cluster ${name} cannot be recognized as this run's: no node of it has the mount ${kept.mark}. It was left ` +
        `alone. If it is yours, delete it: kind delete cluster --name ${name}`,
    );
  return kubeconfigPath;
}

/** One node with the mark of the run: a mount for the keeper, and a label for people. */
export const configurationOf = (
  { id, image }: KindPlan,
  mark: { readonly hostPath: string; readonly containerPath: string },
): string =>
  stringify({
    apiVersion: "kind.x-k8s.io/v1alpha4",
    kind: "Cluster",
    nodes: [
      {
        role: "control-plane",
        image,
        labels: { [runLabel]: id },
        extraMounts: [{ ...mark, readOnly: true }],
      },
    ],
  });

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

/** An existing cluster belongs to another run or person, even if that run has crashed. */
async function expectNone(kind: string, name: string): Promise<void> {
  const { stdout } = await run(kind, ["get", "clusters"], { env: { ...process.env, ...provider } });
  if (stdout.split("\n").includes(name))
    throw new KindUnavailableError(
      `a cluster named ${name} exists, and this run did not create it. Choose another clusterName, or, if it is yours and ` +
        `not in use, delete it: kind delete cluster --name ${name}`,
    );
}

function openCluster(options: {
  readonly plan: KindPlan;
  readonly processes: LocalProcesses;
  readonly kubectl: string;
  readonly kubeconfigPath: string;
  readonly signal: AbortSignal;
}): KindCluster {
  const { plan, kubectl, kubeconfigPath } = options;
  const context = `kind-${plan.name}`;
  return {
    name: plan.name,
    context,
    async kubectl(...args) {
      const at = ["--kubeconfig", kubeconfigPath, "--context", context];
      return (await run(kubectl, [...at, ...args], { maxBuffer: 1 << 28 })).stdout;
    },
    forward: ({ namespace = "default", ...target }) => forward({ ...options, ...target, namespace, context }),
  };
}
