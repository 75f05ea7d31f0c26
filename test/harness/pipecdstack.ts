/** A sample of PipeCD in a namespace of its own: what tests change in it, and what they look at. */
import { expect, vi } from "vitest";
import { resourcePath } from "../../bus/kube/client.ts";
import { type Kind, Secret } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import { Deployment } from "../../bus/kube/workloads.ts";
import type { Call } from "../../deploy/simulators/pipecd/call.ts";
import type { ControlPlane as Server } from "../../deploy/simulators/pipecd/controlplane.ts";
import { pipecdClient } from "../../functions/pipecd/api/client.ts";
import type { PipecdClient } from "../../functions/pipecd/api/services.ts";
import { Application } from "../../functions/pipecd/kinds.ts";
import { annotations, labels, secretKeys } from "../../functions/pipecd/names.ts";
import { simulatePiped } from "../pipecd/simulatedpiped.ts";
import type { Pipecd, SampleObject } from "./pipecd.ts";
import { conditionOf, has } from "./world.ts";

const manager = { fieldManager: "test" };

/** How long tests wait at most, five side by side on a busy machine. Milliseconds. */
export const deadlineMillis = 120_000;

/** The same for what is not an object. */
export const patience = { timeout: deadlineMillis, interval: 50 };

/** For tests that run side by side, and hooks that start several stacks. */
export const sideBySide = { timeout: 300_000 };

/** Names of the sample's objects. */
export const names = {
  plane: "controlplane-sample",
  environment: "environment-sample",
  piped: "piped-sample",
  application: "application-sample",
  minio: "minio-sample",
  mongo: "mongo-sample",
  mysql: "mysql-sample",
} as const;

/** One namespace with a sample in it. */
export interface Stack {
  readonly namespace: string;
  /** The stand-in of its server. */
  server(): Server;
  at(name: string): { readonly namespace: string; readonly name: string };
  get<T extends KubeObject>(kind: Kind<T>, name: string): Promise<Stored<T>>;
  list<T extends KubeObject>(kind: Kind<T>): Promise<Stored<T>[]>;
  /** Creates one more. */
  create(kind: Kind, object: SampleObject): Promise<void>;
  /** A merge patch on the whole object. */
  patch(kind: Kind, name: string, patch: object): Promise<void>;
  /** A merge patch on its spec. */
  edit(kind: Kind, name: string, spec: object): Promise<void>;
  delete(kind: Kind, name: string, propagation?: "Background" | "Foreground" | "Orphan"): Promise<void>;
  until<T extends KubeObject>(
    kind: Kind<T>,
    name: string,
    condition: (object: Stored<T>) => boolean,
  ): Promise<Stored<T>>;
  untilGone(kind: Kind, name: string): Promise<void>;
  /** Resolves when it is ready as it is now, and satisfies the condition if there is one. */
  ready<T extends KubeObject>(
    kind: Kind<T>,
    name: string,
    condition?: (object: Stored<T>) => boolean,
  ): Promise<Stored<T>>;
  /** Resolves to the message of its condition Ready, when that is false for the reason. */
  refused(kind: Kind, name: string, reason: string): Promise<string>;
  /** Notes of the Events about an object with that reason. */
  notes(kind: Kind, name: string, reason: string): Promise<string[]>;
  /** Calls of these methods that reached the server and were answered well. */
  calls(...methods: string[]): Call[];
  /** What a person does in PipeCD's own console. */
  console(projectID?: string): Promise<PipecdClient>;
}

/** A stack of each profile, which tests of edits share: each test begins where the one before it has left them. */
export interface EditedStacks {
  readonly pipecd: Pipecd;
  readonly c: Stack;
  readonly l0: Stack;
}

/** The sample as it should be: that of v0.9.0 names a repository that its piped does not have. */
export const corrected = (object: SampleObject): SampleObject =>
  object.kind === "Application" ? { ...object, spec: { ...object.spec, repository: "examples" } } : object;

/** A namespace, opted in, with nothing in it. */
export async function emptyStack(pipecd: Pipecd, namespace: string): Promise<Stack> {
  await pipecd.namespace(namespace);
  return stackIn(pipecd, namespace);
}

/** A sample that is up. */
export async function startStack(
  pipecd: Pipecd,
  profile: "l0" | "c",
  namespace: string,
  change: (object: SampleObject) => SampleObject | undefined = (object) => object,
): Promise<Stack> {
  const stack = await emptyStack(pipecd, namespace);
  await pipecd.apply(profile, namespace, (object) => change(corrected(object)));
  await stack.ready(Application, names.application);
  return stack;
}

/** Looks at a namespace, whatever is in it. */
export function stackIn(pipecd: Pipecd, namespace: string): Stack {
  const { kit, pods } = pipecd;
  const { client } = kit;
  const at = (name: string) => ({ namespace, name });
  const stack: Stack = {
    namespace,
    at,
    server: () => pods.plane(namespace),
    get: (kind, name) => client.get(kind, at(name)),
    list: (kind) => kit.list(kind, namespace),
    async create(kind, { metadata, ...object }) {
      await pipecd.create(kind, { ...object, metadata: { ...metadata, namespace } });
    },
    async patch(kind, name, patch) {
      await client.mergePatch(kind, at(name), patch, manager);
    },
    edit: (kind, name, spec) => stack.patch(kind, name, { spec }),
    delete: (kind, name, propagation) =>
      client.delete(kind, at(name), propagation === undefined ? {} : { propagation }),
    until: (kind, name, condition) => kit.until(kind, at(name), condition, deadlineMillis),
    untilGone: (kind, name) => kit.untilGone(kind, at(name), deadlineMillis),
    async ready(kind, name, condition = () => true) {
      const found = await kit.until(
        kind,
        at(name),
        (object) =>
          has("Ready", "True")(object) &&
          (object.status as { observedGeneration?: number }).observedGeneration ===
            object.metadata.generation &&
          condition(object),
        deadlineMillis,
      );
      // Its pod is said to run a moment before what runs in it does.
      if (kind.kind === "ControlPlane") await pods.started(namespace);
      return found;
    },
    async refused(kind, name, reason) {
      const found = await stack.until(kind, name, has("Ready", "False", reason));
      return conditionOf(found)?.message ?? "";
    },
    async notes(kind, name, reason) {
      const events = await pipecd.events(name, namespace);
      return events
        .filter((event) => event.regarding.kind === kind.kind && event.reason === reason)
        .map(({ note }) => note);
    },
    calls: (...methods) =>
      stack.server().calls.filter(({ method, code }) => code === 0 && methods.includes(method)),
    async console(projectID = "quickstart") {
      const { data } = await client.get(Secret, at("pipecd"));
      return pipecdClient({
        profile: stack.server().profile,
        projectID,
        web: { address: pods.web, tls: undefined },
        api: { address: pods.api, tls: undefined },
        encryptionKey: Buffer.from(data?.[secretKeys.encryptionKey] ?? "", "base64"),
        apiKey: undefined,
        signal: AbortSignal.timeout(patience.timeout),
      });
    },
  };
  return stack;
}

/** A Deployment, as far as these tests look at it. */
export type DeploymentObject = KubeObject<
  {
    readonly replicas: number;
    readonly template: {
      readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
      readonly spec: { readonly containers: readonly { readonly image: string }[] };
    };
  },
  { readonly replicas?: number; readonly availableReplicas?: number; readonly updatedReplicas?: number }
>;
export const DeploymentKind = Deployment as unknown as Kind<DeploymentObject>;

/** The image of a Deployment's pods. */
export const imageOf = ({ spec }: DeploymentObject): string | undefined =>
  spec.template.spec.containers[0]?.image;

/** What stands for all that its pods have read: another one rolls them. */
export const digestOf = ({ spec }: DeploymentObject): string | undefined =>
  spec.template.metadata.annotations[annotations.contentDigest];

/** Digests of the control plane's parts. */
export async function partDigests(stack: Stack): Promise<Record<string, string | undefined>> {
  const parts = ["gateway", "server", "cache", "ops"];
  const found = parts.map(
    async (part) => [part, digestOf(await stack.get(DeploymentKind, `${names.plane}-${part}`))] as const,
  );
  return Object.fromEntries(await Promise.all(found));
}

/** The key that a piped has, and whose it is said to be. */
export async function keyOf(stack: Stack, name: string = names.piped) {
  const { data, metadata } = await stack.get(Secret, name);
  return {
    key: Buffer.from(data?.[secretKeys.pipedKey] ?? "", "base64").toString(),
    id: metadata.annotations?.[annotations.pipedID],
  };
}

/** The status code with which the server answers a piped that reports with a key. */
export async function codeFor(
  pipecd: Pipecd,
  stack: Stack,
  { id = "", key }: { readonly id?: string | undefined; readonly key: string },
): Promise<number> {
  const { profile } = stack.server();
  const piped = simulatePiped({ profile, address: pipecd.pods.piped, project: "quickstart", id, key });
  try {
    return await piped.beat();
  } finally {
    piped.close();
  }
}

/** Pipeds at PipeCD that are enabled. */
export const enabledPipeds = (stack: Stack) =>
  stack
    .server()
    .pipeds()
    .filter(({ disabled }) => !disabled);

/** Applications at PipeCD that are neither disabled nor deleted. */
export const enabledApplications = (stack: Stack) =>
  stack
    .server()
    .applications()
    .filter(({ disabled, deleted }) => !disabled && !deleted);

/** Resolves when a piped that has started since the given count of calls was let in with the key that it has read. */
export const untilLetIn = (stack: Stack, since: number): Promise<void> =>
  vi.waitFor(() => {
    const reports = stack
      .server()
      .calls.slice(since)
      .filter(({ method, code }) => method === "ReportPipedMeta" && code === 0);
    expect(reports).not.toEqual([]);
  }, patience);

/** Whether an object is a piped's Deployment. */
export const isPiped = ({ metadata }: KubeObject): boolean => metadata.labels?.[labels.piped] !== undefined;

/** Every version of an object that was stored after `from`, up to `to`. */
export async function versionsBetween(
  { kit }: Pick<Pipecd, "kit">,
  kind: Kind,
  { metadata: { resourceVersion } }: Stored<KubeObject>,
  to: Stored<KubeObject>,
): Promise<Stored<KubeObject>[]> {
  const { name, namespace } = to.metadata;
  const versions: Stored<KubeObject>[] = [];
  const path = resourcePath(kind, namespace);
  const signal = AbortSignal.timeout(deadlineMillis);
  for await (const { object } of await kit.client.watch({ path, query: { resourceVersion }, signal })) {
    if (object.metadata.name === name) versions.push(object as Stored<KubeObject>);
    if (object.metadata.resourceVersion === to.metadata.resourceVersion) return versions;
  }
  throw new Error(`expected the watch to reach ${kind.kind} ${name}, but it ended`);
}
