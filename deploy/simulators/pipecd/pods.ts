/**
 * Runs PipeCD's programs in this process for the pods that kwok reports as running: servers, and pipeds that report their
 * metadata, repositories, and statistics. Like real ones, they read their mounted configuration at start.
 */
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { parse } from "yaml";
import type { KubeClient } from "../../../bus/kube/client.ts";
import { ConfigMap, Secret } from "../../../bus/kube/kind.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import { Deployment } from "../../../bus/kube/workloads.ts";
import { configKeys, labels, objectNames, secretKeys } from "../../../functions/pipecd/names.ts";
import { isV1, profileOf } from "../../../functions/pipecd/profile.ts";
import { startInformer } from "../kpack/informer.ts";
import { type NewPod, startPodAdmission } from "./admission.ts";
import { type ControlPlane, openControlPlane } from "./controlplane.ts";
import { openEventWatcher } from "./eventwatcher.ts";
import { PipedService as PipedServiceC } from "./generated/c/pipedservice_pb.ts";
import { PipedService as PipedServiceL0 } from "./generated/l0/pipedservice_pb.ts";
import { reportedPlugins, v1Crash } from "./pipedv1.ts";
import type { Repository } from "./repository.ts";
import { type Served, type ServeOptions, serve } from "./server.ts";
import type { ServerProcess } from "./serverprocess.ts";
import { crashOf } from "./startup.ts";

/** Options of {@link startPipecdPods}. */
export interface PodsOptions {
  /** Client with administrator permissions. */
  readonly client: KubeClient;
  /** Interval of a piped's statistics reports. Defaults to one minute, like a real one. */
  readonly statMillis?: number;
  /** Repositories of v0.57.0 pipeds by remote URL; pipeds watch events for these. */
  readonly repositories?: ReadonlyMap<string, Repository>;
  /** Called with a message for each commit and each deployment of a piped. */
  readonly report?: (message: string) => void;
  /** Interval of a piped's event polling. Defaults to one minute, like a real one. */
  readonly eventMillis?: number;
  /** Addresses of a server that already runs; the pods of servers then run nothing. */
  readonly server?: Pick<Served, "web" | "api" | "piped">;
  /** PEM. With it, servers accept only TLS. */
  readonly tls?: ServeOptions["tls"];
  /**
   * How long a replaced server keeps serving its connections if its pod has a preStop sleep. Defaults to five seconds; a
   * real one sleeps as long as its pod specifies.
   */
  readonly lingerMillis?: number;
  /** Image version whose programs always crash at start. */
  readonly brokenVersion?: string;
}

/** The running programs. */
export interface PipecdPods extends Pick<Served, "web" | "api" | "piped"> {
  /** The control plane of a namespace. Throws if none has started there. */
  plane(namespace: string): ControlPlane;
  /** Number of open connections to the WebService. */
  connections(): number;
  /** Number of calls to a namespace's control plane, except those of pipeds. */
  callsOfWorkers(namespace: string): number;
  /** Resolves to the control plane of a namespace when its pod first runs. */
  started(namespace: string): Promise<ControlPlane>;
  /** Replaces the control plane's database with an empty one. */
  lose(namespace: string): void;
  stop(): Promise<void>;
}

const component = "app.kubernetes.io/component";
const retryMillis = 200;

const defaultLingerMillis = 5_000;

/** The running program of a Deployment. */
interface Runner {
  readonly made: string;
  readonly lingers: boolean;
  readonly end: AbortController;
  /** Resolves when no pods of an earlier template are left. */
  readonly alone: PromiseWithResolvers<void>;
}

const keyOf = ({ metadata }: Stored): string => `${metadata.namespace}/${metadata.name}`;

/** The running pods of a Deployment: none, those of an earlier template, both, or only those of the current template. */
type Running = "none" | "former" | "both" | "current";

function runningOf({ metadata, status = {} }: Stored<Deployment>): Running {
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status;
  if (metadata.deletionTimestamp || availableReplicas === 0) return "none";
  const formerReplicas = replicas - updatedReplicas;
  if (observedGeneration < (metadata.generation ?? 0) || availableReplicas <= formerReplicas) return "former";
  return formerReplicas > 0 ? "both" : "current";
}

/** An identity of a Deployment's pod template. */
const madeFrom = ({ metadata, spec }: Stored<Deployment>): string =>
  `${metadata.uid} ${JSON.stringify(spec.template)}`;

/** Whether the Deployment's pods sleep in a preStop hook. */
const lingers = ({ spec }: Stored<Deployment>): boolean =>
  spec.template?.spec?.containers?.some((container) => "lifecycle" in container) ?? false;

const imageOf = ({ spec }: Stored<Deployment>): string => spec.template?.spec?.containers?.[0]?.image ?? "";

const versionOfImage = (image: string): string => image.split(":").at(-1) ?? "";
const profileIn = (deployment: Stored<Deployment>) => profileOfImage(imageOf(deployment));

function profileOfImage(image: string): "C" | "L0" {
  const version = versionOfImage(image);
  if (isV1(version)) return "C";
  const found = profileOf(version);
  if (found.problem !== undefined) throw new Error(found.problem);
  return found.profile;
}

/** Starts the programs of all existing pods, and resolves when these are known. */
export async function startPipecdPods({
  client,
  statMillis = 60_000,
  lingerMillis = defaultLingerMillis,
  brokenVersion,
  repositories: contents = new Map(),
  eventMillis = 60_000,
  report,
  tls,
  server,
}: PodsOptions): Promise<PipecdPods> {
  const stopping = new AbortController();
  const planes = new Map<string, ControlPlane>();
  /** Runners by Deployment. */
  const pods = new Map<string, Runner>();
  const served = server
    ? { ...server, connections: () => Number.NaN, stop: async () => undefined }
    : await serve({ controlPlanes: () => planes.values(), ...(tls && { tls }) });

  const textIn = async (namespace: string, name: string, key: string): Promise<string> =>
    (await client.get(ConfigMap, { namespace, name })).data?.[key] ?? "";
  const bytesIn = async (namespace: string, name: string, key: string): Promise<Buffer> =>
    Buffer.from((await client.get(Secret, { namespace, name })).data?.[key] ?? "", "base64");

  async function runServer(
    deployment: Stored<Deployment>,
    { end: { signal }, alone }: Runner,
    former: Runner | undefined,
  ): Promise<void> {
    const { namespace = "" } = deployment.metadata;
    const { spec } = parse(await textIn(namespace, objectNames.config, configKeys.controlPlane));
    const encryptionKey = await bytesIn(namespace, objectNames.secret, secretKeys.encryptionKey);
    const projects = (spec.projects as { id: string }[]).map(({ id }) => id);
    if (signal.aborted) return;
    const options = { profile: profileIn(deployment), projects, encryptionKey };
    const plane = planes.get(namespace) ?? openControlPlane(options);
    if (!planes.has(namespace)) planes.set(namespace, plane);
    else if (former === undefined || !plane.isUp) plane.restart(options);
    else void retire(plane.replace(options), former, signal);
    signal.addEventListener("abort", () => planes.get(namespace)?.die());
    empty.set(namespace, () => openControlPlane(options));
    firstOf(namespace).resolve(plane);

    /** A deleted pod keeps running while its preStop hook sleeps. */
    async function retire(replaced: ServerProcess, { lingers }: Runner, over: AbortSignal): Promise<void> {
      await alone.promise;
      if (lingers) await waited(lingerMillis, over);
      replaced.end();
    }
  }

  /** Creates an empty control plane, by namespace. */
  const empty = new Map<string, () => ControlPlane>();
  const firsts = new Map<string, PromiseWithResolvers<ControlPlane>>();
  function firstOf(namespace: string): PromiseWithResolvers<ControlPlane> {
    const first = firsts.get(namespace) ?? Promise.withResolvers<ControlPlane>();
    firsts.set(namespace, first);
    return first;
  }

  async function runPiped(deployment: Stored<Deployment>, { end: { signal } }: Runner): Promise<void> {
    const { namespace = "", name } = deployment.metadata;
    const { spec } = parse(await textIn(namespace, name, configKeys.piped));
    const key = await bytesIn(namespace, name, secretKeys.pipedKey);
    const headers = { authorization: `PIPED-TOKEN ${spec.projectID},${spec.pipedID},${key}` };
    // The gateway in between has verified the server.
    const nodeOptions = { rejectUnauthorized: false };
    const transport = createGrpcTransport(
      tls ? { baseUrl: `https://${served.piped}`, nodeOptions } : { baseUrl: `http://${served.piped}` },
    );
    const repositories = ((spec.repositories ?? []) as Record<string, string>[]).map((repository) => ({
      id: repository.repoId ?? "",
      remote: repository.remote ?? "",
      branch: repository.branch ?? "",
    }));
    const service = createClient(
      profileIn(deployment) === "C" ? PipedServiceC : (PipedServiceL0 as unknown as typeof PipedServiceC),
      transport,
    );
    await untilSuccess(
      () => service.reportPipedMeta({ repositories, plugins: reportedPlugins(spec) }, { headers, signal }),
      signal,
    );
    if (profileIn(deployment) === "C") {
      const found = repositories.flatMap(({ id, remote }) => {
        const repository = contents.get(remote);
        return repository === undefined ? [] : [[id, repository] as const];
      });
      const { projectID, pipedID } = spec;
      const call = { headers, signal };
      const watched = { repositories: new Map(found), projectID, pipedID, report };
      const round = openEventWatcher({ service, call, ...watched });
      if (found.length > 0) watchEvents(round, eventMillis, signal);
    }
    while (await waited(statMillis, signal))
      await untilSuccess(() => service.reportStat({}, { headers, signal }), signal);
  }

  function changed(deployment: Stored<Deployment>, now: "present" | "deleted"): void {
    const { metadata } = deployment;
    const isServer =
      !server && metadata.labels?.[component] === "server" && metadata.labels[labels.controlPlane];
    const isPiped = metadata.labels?.[labels.piped] !== undefined;
    if (!isServer && !isPiped) return;
    const key = keyOf(deployment);
    const before = pods.get(key);
    const running = now === "deleted" ? "none" : runningOf(deployment);
    if (running === "none") {
      before?.end.abort();
      pods.delete(key);
    }
    if (running === "none" || running === "former") return;
    const made = madeFrom(deployment);
    const runner = before?.made === made ? before : start(deployment, made, before);
    if (running === "current") runner.alone.resolve();

    function start(of: Stored<Deployment>, made: string, former: Runner | undefined): Runner {
      const end = new AbortController();
      const runner = { made, lingers: lingers(of), end, alone: Promise.withResolvers<void>() };
      pods.set(key, runner);
      if (!isServer) former?.end.abort();
      const run = isServer ? runServer(of, runner, former) : runPiped(of, runner);
      run.catch((error: unknown) => {
        // The mounted object was deleted, and the pod will be soon.
        if (pods.get(key) === runner) pods.delete(key);
        if (!stopping.signal.aborted && !end.signal.aborted) console.error(`${key}: ${error}`);
      });
      return runner;
    }
  }

  /** The last log line of a pod that crashes at start, from its mounted configuration. */
  async function crashIn(pod: NewPod, namespace: string): Promise<string | undefined> {
    const [container] = pod.spec.containers;
    const program = container?.name;
    if (program !== "server" && program !== "ops" && program !== "piped") return undefined;
    if (brokenVersion && container?.image.endsWith(`:${brokenVersion}`)) return "panic: a broken release";
    const [name = objectNames.config, key] =
      program === "piped"
        ? [pod.metadata.labels?.[labels.piped], configKeys.piped]
        : [undefined, configKeys.controlPlane];
    const config = await textIn(namespace, name, key);
    if (program === "piped" && isV1(versionOfImage(container?.image ?? "")))
      return v1Crash({ args: container?.args ?? [], config });
    return crashOf({
      program,
      profile: profileOfImage(container?.image ?? ""),
      config,
      ...(program === "server" && {
        encryptionKey: await bytesIn(namespace, objectNames.secret, secretKeys.encryptionKey),
      }),
    });
  }

  const admission = await startPodAdmission(
    client,
    [labels.controlPlane, labels.piped].map((key) => ({ matchExpressions: [{ key, operator: "Exists" }] })),
    crashIn,
  );
  await startInformer(client, Deployment, { signal: stopping.signal, changed });

  return {
    started: (namespace) => firstOf(namespace).promise,
    web: served.web,
    api: served.api,
    piped: served.piped,
    connections: () => served.connections("web"),
    plane(namespace) {
      const plane = planes.get(namespace);
      if (plane) return plane;
      throw new Error(
        `no server in ${namespace}: servers run in ${[...planes.keys()].join(", ") || "no namespace"}`,
      );
    },
    lose(namespace) {
      planes.get(namespace)?.die();
      const made = empty.get(namespace)?.();
      if (made) planes.set(namespace, made);
    },
    callsOfWorkers: (namespace) =>
      planes.get(namespace)?.calls.filter(({ service }) => !service.endsWith("PipedService")).length ?? 0,
    async stop() {
      stopping.abort();
      for (const { end } of pods.values()) end.abort();
      await admission.stop();
      await served.stop();
    },
  };
}

/** Waits; resolves to whether the full time passed before the abort. */
const waited = (millis: number, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const done = (whole: boolean) => () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", ended);
      resolve(whole);
    };
    const ended = done(false);
    const timer = setTimeout(done(true), millis);
    signal.addEventListener("abort", ended);
    if (signal.aborted) ended();
  });

/** Runs a round at each interval. The next round makes up for a failed one. */
async function watchEvents(round: () => Promise<void>, millis: number, signal: AbortSignal): Promise<void> {
  while (await waited(millis, signal)) await round().catch(() => undefined);
}

/** Retries a call until it succeeds. */
async function untilSuccess(call: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await call();
      return;
    } catch {
      await waited(retryMillis, signal);
    }
  }
}
