/** The processes of a run: a bridge, workers, and, on request, GitHub with a gateway. */
import type { LocalNats } from "@denrei/cli/local/index";
import type { SimulatedGitHub } from "@denrei/simulators/github/github";
import { allowedUrlsVariable } from "denrei/github";
import type { ReconcileFunction } from "denrei/runtime";
import type { KetEnvironment } from "./environment.ts";
import { argumentOf } from "./functions.ts";
import type { KetOptions } from "./options.ts";
import { gatewayOf, gatewaySettings, type Replica, startReplica } from "./replica.ts";

/** What the processes need. */
export interface ProcessesOptions {
  readonly environment: Pick<KetEnvironment, "kubeconfigPath" | "owned"> & { readonly platform: LocalNats };
  readonly options: KetOptions;
  readonly namespace: string;
  readonly functions: readonly ReconcileFunction[];
  /** Variables that give each process the rights of its account. */
  readonly rights: Readonly<Record<string, string | undefined>>;
  /** Stops GitHub at the end of the run. */
  readonly simulators: AsyncDisposableStack;
}

/** The started processes. */
export interface Processes {
  readonly workers: readonly Replica[];
  readonly github: SimulatedGitHub | undefined;
}

/** Starts them; resolves when all are ready. */
export async function startProcesses({
  environment: { platform, kubeconfigPath, owned },
  options: {
    functions: requested = [],
    github: seed,
    workers: count = 1,
    env,
    startProcess: start = startReplica,
  },
  namespace,
  functions,
  rights,
  simulators,
}: ProcessesOptions): Promise<Processes> {
  const github = seed && (await startGitHub(seed));
  if (github) simulators.defer(() => github.stop());
  if (functions.length === 0) return { workers: [], github };
  const args = requested.map(argumentOf);
  const as = (role: string) => ({ KUBECONFIG: kubeconfigPath, NATS_URL: platform.natsUrlFor(role) });
  // In an existing cluster, the functions watch only the run's namespace, and all cluster-scoped objects.
  const watched = owned === "all" ? {} : { DENREI_NAMESPACES: namespace };
  await start(platform, "bridge-1", ["bridge", ...args], {
    env: { ...as("bridge"), ...rights, ...watched },
  });
  const role = functions.length === 1 ? (functions[0]?.name ?? "") : "worker";
  const workers = await Promise.all(
    Array.from({ length: count }, (_, at) =>
      start(platform, `worker-${at + 1}`, ["worker", ...args], {
        env: { ...as(role), ...rights, ...(github && { [allowedUrlsVariable]: github.url }), ...env },
      }),
    ),
  );
  if (github?.apps.length && functions.some(({ webhooks }) => webhooks.length > 0)) {
    const secrets = github.apps.map(({ webhookSecret }) => webhookSecret);
    const name = "gateway-1";
    const gateway = await start(platform, name, ["gateway", ...args], {
      env: { ...as("gateway"), ...(await gatewaySettings(platform, name, secrets)) },
    });
    github.deliverTo([gatewayOf(gateway).hookUrl()]);
  }
  return { workers, github };
}

async function startGitHub(seed: NonNullable<KetOptions["github"]>): Promise<SimulatedGitHub> {
  const emulator = await import("@denrei/simulators/github/github").catch((error: Error) => {
    throw new Error(
      `the simulated GitHub needs more packages: ${error.message}. Install emulate and ` +
        "@octokit/webhooks-examples, or leave out the option github.",
      { cause: error },
    );
  });
  return emulator.startGitHub(seed);
}
