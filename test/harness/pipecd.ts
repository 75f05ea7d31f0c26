/** PipeCD on a real control plane: replicas, nodes that run anything, and stand-ins for what runs there. */
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
import { type Kit, type LocalKit, type Replica, startLocalKit } from "./kit.ts";
import { createNamespace } from "./namespaces.ts";
import { openWorld, type World } from "./world.ts";

const ours = functions.filter(({ name }) => name.startsWith("pipecd-"));
/** Where the platform is, as far as accounts know. */
const platformNamespace = "denrei";

/** Kinds of the samples, in the order in which they go. */
export const stackKinds = [
  Application,
  Piped,
  Environment,
  ControlPlane,
  Mongo,
  Mysql,
  Minio,
] as unknown as readonly Kind[];

/** What there is. */
export interface PipecdOptions extends Omit<PodsOptions, "client"> {
  /** How many workers of all functions, two unless given; or one of each function, which has its rights alone. */
  readonly workers?: number | "one each";
  /** Further environment variables of the bridge and the workers. */
  readonly env?: Readonly<Record<string, string>>;
}

/** All that runs. */
export interface Pipecd extends Omit<World, "close"> {
  readonly kit: Kit;
  readonly pods: PipecdPods;
  readonly workers: readonly Replica[];
  /** What workers are told. */
  readonly env: Readonly<Record<string, string>>;
  readonly bridge: Replica;
  /** Makes a namespace that is opted in. */
  namespace(name: string): Promise<void>;
  /** Creates the objects of a sample, all of them or those of some kinds, changed as it is wanted. */
  apply(
    profile: "l0" | "c" | "v1",
    namespace: string,
    change?: (object: SampleObject) => SampleObject | undefined,
  ): Promise<void>;
  stop(): Promise<void>;
}

/** An object of a sample. */
// biome-ignore lint/suspicious/noExplicitAny: tests change what they like
export type SampleObject = { kind: string; metadata: { name: string }; spec: any };

/** The objects of a sample, as their authors wrote them. */
export const sample = (profile: "l0" | "c" | "v1"): readonly SampleObject[] =>
  parseAllDocuments(
    readFileSync(new URL(`../../functions/pipecd/samples/${profile}.yaml`, import.meta.url), "utf8"),
  ).map((document) => document.toJS());

/** With a control plane of its own. */
export type LocalPipecd = Pipecd & { readonly kit: LocalKit };

/** Starts all of it. */
export async function startPipecd({
  workers: wanted = 2,
  env = {},
  ...options
}: PipecdOptions = {}): Promise<LocalPipecd> {
  const kit = await startLocalKit();
  const { client } = kit;
  const pods = await startPipecdPods({ client, ...options });
  const workers: Replica[] = [];
  const world = await openWorld(kit, ours, workers);
  const names = ours.map(({ name }) => name);
  if (wanted === "one each") await createNamespace(client, platformNamespace);
  const accounts =
    wanted === "one each" ? await openAccounts(kit, ours, platformNamespace) : administrators(client);
  const bridge = await kit.bridge("bridge-1", { env: { ...(await accounts.env("bridge")), ...env } });
  const told = {
    DENREI_PIPECD_WEB_ADDRESS: pods.web,
    DENREI_PIPECD_API_ADDRESS: pods.api,
    ...env,
  };
  const groups =
    wanted === "one each" ? names.map((name) => [name]) : Array.from({ length: wanted }, () => names);
  workers.push(
    ...(await Promise.all(
      groups.map(async (group, at) =>
        kit.worker(`worker-${at + 1}`, group, { env: { ...told, ...(await accounts.env(group)) } }),
      ),
    )),
  );
  return {
    ...world,
    kit,
    pods,
    workers,
    env: told,
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
      await world.close();
      await pods.stop();
      try {
        await accounts.assertEnough();
      } finally {
        await kit.stop();
      }
    },
  };
}
