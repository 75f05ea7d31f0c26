/** PipeCD on a real control plane: replicas, simulated nodes, and stand-ins for the programs in the pods. */
import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import { type Kind, Secret } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { type PipecdPods, type PodsOptions, startPipecdPods } from "../../deploy/simulators/pipecd/pods.ts";
import { functions } from "../../functions/index.ts";
import {
  Application,
  ControlPlane,
  Environment,
  Minio,
  Mongo,
  Mysql,
  Piped,
} from "../../functions/pipecd/kinds.ts";
import { administrators, openAccounts } from "./accounts.ts";
import {
  type LocalTestEnvironment,
  type Replica,
  startLocalTestEnvironment,
  type TestEnvironment,
} from "./environment.ts";
import { createNamespace } from "./namespaces.ts";
import { openTestObjects, type TestObjects } from "./testobjects.ts";
import { startWorkers, type WorkerCount } from "./workers.ts";

const ours = functions.filter(({ name }) => name.startsWith("pipecd-"));
/** The namespace that the accounts take for the platform's own. */
const platformNamespace = "denrei";

/** Kinds of the samples, in the order of their deletion. */
export const stackKinds = [
  Application,
  Piped,
  Environment,
  ControlPlane,
  Mongo,
  Mysql,
  Minio,
] as unknown as readonly Kind[];

/** The parts to start. */
export interface PipecdOptions extends Omit<PodsOptions, "client"> {
  /** Two by default. */
  readonly workers?: WorkerCount;
  /** Additional environment of the bridge and the workers. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The environment. */
export interface Pipecd extends Omit<TestObjects, "close"> {
  readonly environment: TestEnvironment;
  readonly pods: PipecdPods;
  readonly workers: readonly Replica[];
  /** The environment variables of workers. */
  readonly env: Readonly<Record<string, string>>;
  readonly bridge: Replica;
  /** Creates a namespace that is opted in. */
  namespace(name: string): Promise<void>;
  /** Creates the objects of a sample, or those of some kinds, optionally changed. */
  apply(
    profile: "l0" | "c" | "v1",
    namespace: string,
    change?: (object: SampleObject) => SampleObject | undefined,
  ): Promise<void>;
  stop(): Promise<void>;
}

/** An object of a sample. */
// biome-ignore lint/suspicious/noExplicitAny: tests change arbitrary fields
export type SampleObject = { kind: string; metadata: { name: string }; spec: any };

/** The objects of a sample, unchanged. */
export const sample = (profile: "l0" | "c" | "v1"): readonly SampleObject[] =>
  parseAllDocuments(
    readFileSync(new URL(`../../functions/pipecd/samples/${profile}.yaml`, import.meta.url), "utf8"),
  ).map((document) => document.toJS());

/** PipeCD in the local cluster. */
export type LocalPipecd = Pipecd & { readonly environment: LocalTestEnvironment };

/** Starts everything. */
export async function startPipecd({
  workers: count = 2,
  env = {},
  ...options
}: PipecdOptions = {}): Promise<LocalPipecd> {
  const environment = await startLocalTestEnvironment();
  const { client } = environment;
  const pods = await startPipecdPods({ client, ...options });
  const workers: Replica[] = [];
  const objects = await openTestObjects(environment, ours, workers);
  const names = ours.map(({ name }) => name);
  if (count !== 0) await createNamespace(client, platformNamespace);
  const accounts =
    count === 0 ? administrators(client) : await openAccounts(environment, ours, platformNamespace);
  const bridge = await environment.bridge("bridge-1", { env: { ...(await accounts.env("bridge")), ...env } });
  const workerEnv = {
    DENREI_PIPECD_WEB_ADDRESS: pods.web,
    DENREI_PIPECD_API_ADDRESS: pods.api,
    ...env,
  };
  workers.push(...(await startWorkers(environment, accounts, { functions: names, count, env: workerEnv })));
  return {
    ...objects,
    environment,
    pods,
    workers,
    env: workerEnv,
    bridge,
    async namespace(name) {
      await createNamespace(client, name);
      await accounts.optIn(name);
    },
    async apply(profile, namespace, change = (object) => object) {
      for (const found of sample(profile)) {
        const object = change(found);
        if (object === undefined) continue;
        const kind = [...stackKinds, Secret as Kind].find((one) => one.kind === object.kind) as Kind;
        const metadata = { ...object.metadata, namespace };
        await client.create(kind, { ...object, metadata } as unknown as KubeObject, {
          fieldManager: "kubectl",
        });
      }
    },
    async stop() {
      await objects.close();
      await pods.stop();
      try {
        await accounts.assertEnough();
      } finally {
        await environment.stop();
      }
    },
  };
}
