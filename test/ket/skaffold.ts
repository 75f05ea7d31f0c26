/** Deploys to a run's cluster with skaffold, and connects to what was deployed. */
import { mkdir, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { describeExit, type LocalProcesses } from "@denrei/cli/local/index";
import { lastLines } from "@denrei/cli/local/run/child";
import type { BusAddress } from "denrei/bus";
import { Pod, Secret } from "denrei/kinds";
import { isNotFound, type KubeClient } from "denrei/kubernetes";
import type { Forward, ForwardTarget } from "./forward.ts";
import type { SkaffoldPlan } from "./kindoptions.ts";
import { openKubectl } from "./kubectl.ts";

/** The label, with the run's ID, of everything that a run has deployed. */
export const runLabel = "test.denrei.dev/ket-run";

/** skaffold could not build or deploy. The message contains its last output. */
export class DeployError extends Error {
  override readonly name = "DeployError";
}

/** Options of a deployment. */
export interface DeployOptions {
  readonly plan: SkaffoldPlan;
  /** The run's ID. */
  readonly id: string;
  readonly processes: LocalProcesses;
  readonly client: KubeClient;
  readonly kubeconfigPath: string;
  readonly context: string;
  /** Paths of programs that skaffold runs; they precede others of the same name. */
  readonly programs: { readonly skaffold: string; readonly kind: string; readonly kubectl: string };
}

const defaultDeadline = 900_000;

/** Applies what the deployment needs, and runs `skaffold run`. Throws {@link DeployError}. */
export async function deploy(options: DeployOptions): Promise<void> {
  const { plan, client } = options;
  const kubectl = openKubectl(
    { client, namespace: "default", deadlineMillis: 60_000, propagation: "Foreground" },
    { add: () => undefined, gone: () => undefined },
  );
  await kubectl.apply(...plan.before);
  await skaffoldRun(options);
}

/** Removes the user's settings: skaffold reads each such variable as an option, such as a repository to push to. */
const noSettings = (): Record<string, undefined> =>
  Object.fromEntries(
    Object.keys(process.env)
      .filter((name) => name.startsWith("SKAFFOLD_"))
      .map((name) => [name, undefined]),
  );

async function skaffoldRun({
  plan,
  id,
  processes,
  kubeconfigPath,
  context,
  programs,
}: DeployOptions): Promise<void> {
  const { deadlineMillis = defaultDeadline } = plan;
  const own = join(processes.directory, "skaffold");
  await mkdir(own);
  const child = processes.prepare({
    name: "skaffold",
    command: programs.skaffold,
    args: [
      ...["run", "--filename", plan.file, "--kubeconfig", kubeconfigPath, "--kube-context", context],
      // Neither this user's default repository nor images that another run has built.
      ...["--config", join(own, "config"), "--cache-file", join(own, "cache")],
      ...["--label", `${runLabel}=${id}`, "--interactive=false", "--tail=false"],
    ],
    env: {
      ...noSettings(),
      PATH: [dirname(programs.kind), dirname(programs.kubectl), process.env.PATH].join(delimiter),
      KUBECONFIG: kubeconfigPath,
      KIND_EXPERIMENTAL_PROVIDER: "docker",
      SKAFFOLD_UPDATE_CHECK: "false",
    },
  });
  const signal = AbortSignal.timeout(deadlineMillis);
  const stop = () => void child.stop();
  signal.addEventListener("abort", stop);
  try {
    await child.start();
    const exit = (await child.exited()) ?? { code: null, signal: null };
    if (exit.code === 0) return;
    const why = signal.aborted ? `did not end within ${deadlineMillis} ms` : describeExit(exit);
    const lines = await lastLines(child.logPath, 20);
    throw new DeployError(`skaffold run --filename ${plan.file} ${why}:\n  ${lines.join("\n  ")}`);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Connects to the deployed bus through a forwarded port, as the user of the certificate in the Secret. */
export async function deployedBus(
  { plan, client, processes }: Pick<DeployOptions, "plan" | "client" | "processes">,
  forwarded: (target: ForwardTarget) => Promise<Forward>,
): Promise<Omit<BusAddress, "name">> {
  const {
    namespace = "denrei",
    service = "nats",
    port = 4222,
    secret = "denrei-operator-tls",
  } = plan.bus ?? {};
  const { data = {} } = await client.get(Secret, { namespace, name: secret }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    throw new DeployError(
      `no Secret ${namespace}/${secret}: a run needs its certificate to connect to the bus. Apply it with ` +
        "skaffold.before (npx denrei certificates), or name another one with skaffold.bus.",
    );
  });
  const folder = join(processes.directory, "bus");
  await mkdir(folder);
  const file = async (name: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, Buffer.from(data[name] ?? "", "base64"), { mode: 0o600 });
    return path;
  };
  const [ca, certificate, key] = await Promise.all(["ca.crt", "tls.crt", "tls.key"].map(file));
  const { port: local } = await forwarded({ namespace, resource: `service/${service}`, port });
  return { url: `tls://127.0.0.1:${local}`, ca, certificate, key };
}

/** The last lines of every container that the run has deployed. */
export async function deployedLog(client: KubeClient, id: string): Promise<string[]> {
  const { items } = await client.list(Pod, undefined, { labelSelector: `${runLabel}=${id}` });
  const logs = items.flatMap(({ metadata, spec }) =>
    (spec as PodSpec).containers.map(({ name }) => client.podLog(metadata, { container: name, lines: 500 })),
  );
  return (await Promise.all(logs)).flatMap((text) => text?.split("\n") ?? []);
}

interface PodSpec {
  readonly containers: readonly { readonly name: string }[];
}
