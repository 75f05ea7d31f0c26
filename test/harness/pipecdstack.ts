/** A sample of PipeCD in its own namespace, with helpers that change and read it. */
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
import { conditionOf, has } from "./testobjects.ts";

const manager = { fieldManager: "test" };

/** The longest wait of tests, with five in parallel on a busy machine. Milliseconds. */
export const deadlineMillis = 120_000;

/** The same for conditions outside of Kubernetes objects. */
export const polling = { timeout: deadlineMillis, interval: 50 };

/** For tests that run in parallel, and hooks that start several stacks. */
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

/** A namespace with a sample. */
export interface Stack {
  readonly namespace: string;
  /** The stand-in for its server. */
  server(): Server;
  at(name: string): { readonly namespace: string; readonly name: string };
  get<T extends KubeObject>(kind: Kind<T>, name: string): Promise<Stored<T>>;
  list<T extends KubeObject>(kind: Kind<T>): Promise<Stored<T>[]>;
  /** Creates another object. */
  create(kind: Kind, object: SampleObject): Promise<void>;
  /** Applies a merge patch to the whole object. */
  patch(kind: Kind, name: string, patch: object): Promise<void>;
  /** Applies a merge patch to the spec. */
  edit(kind: Kind, name: string, spec: object): Promise<void>;
  delete(kind: Kind, name: string, propagation?: "Background" | "Foreground" | "Orphan"): Promise<void>;
  until<T extends KubeObject>(
    kind: Kind<T>,
    name: string,
    condition: (object: Stored<T>) => boolean,
  ): Promise<Stored<T>>;
  untilGone(kind: Kind, name: string): Promise<void>;
  /** Resolves when the current generation is ready and satisfies the condition, if there is one. */
  ready<T extends KubeObject>(
    kind: Kind<T>,
    name: string,
    condition?: (object: Stored<T>) => boolean,
  ): Promise<Stored<T>>;
  /** Resolves with the message of the condition Ready when it is false for this reason. */
  refused(kind: Kind, name: string, reason: string): Promise<string>;
  /** Notes of the Events about an object with this reason. */
  notes(kind: Kind, name: string, reason: string): Promise<string[]>;
  /** Successful calls of these methods on the server. */
  calls(...methods: string[]): Call[];
  /** A client with the rights of a user of PipeCD's console. */
  console(projectID?: string): Promise<PipecdClient>;
}

/** A stack of each profile, shared by tests of edits: each test starts from the result of the one before. */
export interface EditedStacks {
  readonly pipecd: Pipecd;
  readonly c: Stack;
  readonly l0: Stack;
}

/** Corrects the sample of v0.9.0, whose Application names a repository that its piped does not have. */
export const corrected = (object: SampleObject): SampleObject =>
  object.kind === "Application" ? { ...object, spec: { ...object.spec, repository: "examples" } } : object;

/** Creates an opted-in, empty namespace. */
export async function emptyStack(pipecd: Pipecd, namespace: string): Promise<Stack> {
  await pipecd.namespace(namespace);
  return stackIn(pipecd, namespace);
}

/** Starts a sample and waits until it is ready. */
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

/** Helpers for a namespace, whatever it contains. */
export function stackIn(pipecd: Pipecd, namespace: string): Stack {
  const { environment, pods } = pipecd;
  const { client } = environment;
  const at = (name: string) => ({ namespace, name });
  const stack: Stack = {
    namespace,
    at,
    server: () => pods.plane(namespace),
    get: (kind, name) => client.get(kind, at(name)),
    list: (kind) => environment.list(kind, namespace),
    async create(kind, { metadata, ...object }) {
      await pipecd.create(kind, { ...object, metadata: { ...metadata, namespace } });
    },
    async patch(kind, name, patch) {
      await client.mergePatch(kind, at(name), patch, manager);
    },
    edit: (kind, name, spec) => stack.patch(kind, name, { spec }),
    delete: (kind, name, propagation) =>
      client.delete(kind, at(name), propagation === undefined ? {} : { propagation }),
    until: (kind, name, condition) => environment.until(kind, at(name), condition, deadlineMillis),
    untilGone: (kind, name) => environment.untilGone(kind, at(name), deadlineMillis),
    async ready(kind, name, condition = () => true) {
      const found = await environment.until(
        kind,
        at(name),
        (object) =>
          has("Ready", "True")(object) &&
          (object.status as { observedGeneration?: number }).observedGeneration ===
            object.metadata.generation &&
          condition(object),
        deadlineMillis,
      );
      // A pod is reported as running slightly before its program starts.
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
        signal: AbortSignal.timeout(polling.timeout),
      });
    },
  };
  return stack;
}

/** The Deployment fields that these tests read. */
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

/** The digest of everything that the pods have read; a new digest rolls them. */
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

/** The key of a piped, and the piped that the key's Secret names. */
export async function keyOf(stack: Stack, name: string = names.piped) {
  const { data, metadata } = await stack.get(Secret, name);
  return {
    key: Buffer.from(data?.[secretKeys.pipedKey] ?? "", "base64").toString(),
    id: metadata.annotations?.[annotations.pipedID],
  };
}

/** The status code of the server's answer to a piped that reports with a key. */
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

/** Enabled pipeds in PipeCD. */
export const enabledPipeds = (stack: Stack) =>
  stack
    .server()
    .pipeds()
    .filter(({ disabled }) => !disabled);

/** Applications in PipeCD that are neither disabled nor deleted. */
export const enabledApplications = (stack: Stack) =>
  stack
    .server()
    .applications()
    .filter(({ disabled, deleted }) => !disabled && !deleted);

/** Resolves when the server has accepted a piped that started after the given number of calls. */
export const untilLetIn = (stack: Stack, since: number): Promise<void> =>
  vi.waitFor(() => {
    const reports = stack
      .server()
      .calls.slice(since)
      .filter(({ method, code }) => method === "ReportPipedMeta" && code === 0);
    expect(reports).not.toEqual([]);
  }, polling);

/** Whether an object is a piped's Deployment. */
export const isPiped = ({ metadata }: KubeObject): boolean => metadata.labels?.[labels.piped] !== undefined;

/** Every version of an object that was stored after `from`, up to `to`. */
export async function versionsBetween(
  { environment }: Pick<Pipecd, "environment">,
  kind: Kind,
  { metadata: { resourceVersion } }: Stored<KubeObject>,
  to: Stored<KubeObject>,
): Promise<Stored<KubeObject>[]> {
  const { name, namespace } = to.metadata;
  const versions: Stored<KubeObject>[] = [];
  const path = resourcePath(kind, namespace);
  const signal = AbortSignal.timeout(deadlineMillis);
  for await (const { object } of await environment.client.watch({
    path,
    query: { resourceVersion },
    signal,
  })) {
    if (object.metadata.name === name) versions.push(object as Stored<KubeObject>);
    if (object.metadata.resourceVersion === to.metadata.resourceVersion) return versions;
  }
  throw new Error(`the watch ended before it reached ${kind.kind} ${name}`);
}
