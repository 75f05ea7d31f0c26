/**
 * Runs PipeCD's programs in this process for the pods that kwok reports as running. Pipeds report their metadata,
 * repositories, and statistics. Like real programs, servers and pipeds read their mounted configuration at start.
 */
import { configKeys, labels, objectNames, secretKeys } from "@denrei/functions/pipecd/names";
import { isV1 } from "@denrei/functions/pipecd/profile";
import { Deployment, type Stored } from "denrei/kinds";
import type { KubeClient } from "denrei/kubernetes";
import { startInformer } from "../kpack/informer.ts";
import { type NewPod, startPodAdmission } from "./admission.ts";
import type { ControlPlane } from "./controlplane.ts";
import { lingers, profileOfImage, runningOf, templateOf, versionOfImage } from "./deploymentstate.ts";
import { configText, secretBytes } from "./mountedconfig.ts";
import { type PipedPodOptions, runPiped } from "./pipedpods.ts";
import { v1Crash } from "./pipedv1.ts";
import type { Repository } from "./repository.ts";
import { type Served, type ServeOptions, serve } from "./server.ts";
import { type Runner, ServerPods } from "./serverpods.ts";
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
  /** Addresses of a server that already runs. With it, server pods run nothing. */
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

const defaultLingerMillis = 5_000;

const keyOf = ({ metadata }: Stored): string => `${metadata.namespace}/${metadata.name}`;

/** Starts the programs of all running pods. Resolves when the existing Deployments are listed. */
export async function startPipecdPods(options: PodsOptions): Promise<PipecdPods> {
  const { client, server, tls, repositories = new Map(), report } = options;
  const stopping = new AbortController();
  const servers = new ServerPods(client, options.lingerMillis ?? defaultLingerMillis);
  const served = server
    ? { ...server, connections: () => Number.NaN, stop: async () => undefined }
    : await serve({ controlPlanes: () => servers.planes(), ...(tls && { tls }) });
  const { statMillis = 60_000, eventMillis = 60_000 } = options;
  const pipeds = {
    ...{ client, address: served.piped, isTls: tls !== undefined },
    ...{ statMillis, eventMillis, repositories, report },
  };
  const runners = new Runners(server === undefined ? servers : undefined, pipeds, stopping.signal);
  const admission = await startPodAdmission(
    client,
    [labels.controlPlane, labels.piped].map((key) => ({ matchExpressions: [{ key, operator: "Exists" }] })),
    (pod, namespace) => crashIn(pod, namespace, options),
  );
  await startInformer(client, Deployment, {
    signal: stopping.signal,
    changed: (deployment, now) => runners.changed(deployment, now),
  });

  return {
    started: (namespace) => servers.started(namespace),
    web: served.web,
    api: served.api,
    piped: served.piped,
    connections: () => served.connections("web"),
    plane: (namespace) => servers.plane(namespace),
    lose: (namespace) => servers.lose(namespace),
    callsOfWorkers: (namespace) => servers.callsOfWorkers(namespace),
    async stop() {
      stopping.abort();
      runners.end();
      await admission.stop();
      await served.stop();
    },
  };
}

/** Starts and ends the programs of Deployments. */
class Runners {
  /** Runners by Deployment. */
  readonly #runners = new Map<string, Runner>();
  readonly #servers: ServerPods | undefined;
  readonly #pipeds: PipedPodOptions;
  readonly #stopping: AbortSignal;

  /** Without `servers`, server pods run nothing. */
  constructor(servers: ServerPods | undefined, pipeds: PipedPodOptions, stopping: AbortSignal) {
    this.#servers = servers;
    this.#pipeds = pipeds;
    this.#stopping = stopping;
  }

  changed(deployment: Stored<Deployment>, now: "present" | "deleted"): void {
    const { labels: found } = deployment.metadata;
    const isServer = found?.[component] === "server" && Boolean(found[labels.controlPlane]);
    const servers = isServer ? this.#servers : undefined;
    if (!servers && found?.[labels.piped] === undefined) return;
    const key = keyOf(deployment);
    const before = this.#runners.get(key);
    const running = now === "deleted" ? "none" : runningOf(deployment);
    if (running === "none") {
      before?.end.abort();
      this.#runners.delete(key);
    }
    if (running === "none" || running === "former") return;
    const isSame = before?.template === templateOf(deployment);
    const runner = isSame ? before : this.#start(deployment, before, servers);
    if (running === "current") runner.alone.resolve();
  }

  end(): void {
    for (const { end } of this.#runners.values()) end.abort();
  }

  #start(
    deployment: Stored<Deployment>,
    former: Runner | undefined,
    servers: ServerPods | undefined,
  ): Runner {
    const key = keyOf(deployment);
    const end = new AbortController();
    const runner = {
      template: templateOf(deployment),
      lingers: lingers(deployment),
      end,
      alone: Promise.withResolvers<void>(),
    };
    this.#runners.set(key, runner);
    if (!servers) former?.end.abort();
    const run = servers
      ? servers.run(deployment, runner, former)
      : runPiped(deployment, end.signal, this.#pipeds);
    run.catch((error: unknown) => {
      // A mounted object no longer exists, so the pod is about to be deleted.
      if (this.#runners.get(key) === runner) this.#runners.delete(key);
      if (!this.#stopping.aborted && !end.signal.aborted) console.error(`${key}: ${error}`);
    });
    return runner;
  }
}

/** The last log line of a pod that crashes at start, from its mounted configuration. */
async function crashIn(
  pod: NewPod,
  namespace: string,
  { client, brokenVersion }: PodsOptions,
): Promise<string | undefined> {
  const [container] = pod.spec.containers;
  const program = container?.name;
  if (program !== "server" && program !== "ops" && program !== "piped") return undefined;
  if (brokenVersion && container?.image.endsWith(`:${brokenVersion}`)) return "panic: a broken release";
  const [name = objectNames.config, key] =
    program === "piped"
      ? [pod.metadata.labels?.[labels.piped], configKeys.piped]
      : [undefined, configKeys.controlPlane];
  const config = await configText(client, namespace, name, key);
  if (program === "piped" && isV1(versionOfImage(container?.image ?? "")))
    return v1Crash({ args: container?.args ?? [], config });
  return crashOf({
    program,
    profile: profileOfImage(container?.image ?? ""),
    config,
    ...(program === "server" && {
      encryptionKey: await secretBytes(client, namespace, objectNames.secret, secretKeys.encryptionKey),
    }),
  });
}
