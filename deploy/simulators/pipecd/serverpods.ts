/** Simulates the servers in PipeCD's pods: one control plane per namespace, with a process per pod template. */
import { configKeys, objectNames, secretKeys } from "@denrei/functions/pipecd/names";
import type { Deployment, Stored } from "denrei/kinds";
import type { KubeClient } from "denrei/kubernetes";
import { parse } from "yaml";
import { type ControlPlane, openControlPlane } from "./controlplane.ts";
import { profileIn } from "./deploymentstate.ts";
import { configText, secretBytes } from "./mountedconfig.ts";
import type { ServerProcess } from "./serverprocess.ts";
import { waited } from "./wait.ts";

/** The running program of a Deployment. */
export interface Runner {
  /** Identity of the pod template. */
  readonly template: string;
  readonly lingers: boolean;
  readonly end: AbortController;
  /** Resolves when no pods of an earlier template are left. */
  readonly alone: PromiseWithResolvers<void>;
}

/** All control planes, by namespace. */
export class ServerPods {
  readonly #planes = new Map<string, ControlPlane>();
  /** By namespace: creates an empty control plane. */
  readonly #empty = new Map<string, () => ControlPlane>();
  readonly #started = new Map<string, PromiseWithResolvers<ControlPlane>>();
  readonly #client: KubeClient;
  readonly #lingerMillis: number;

  constructor(client: KubeClient, lingerMillis: number) {
    this.#client = client;
    this.#lingerMillis = lingerMillis;
  }

  planes(): Iterable<ControlPlane> {
    return this.#planes.values();
  }

  /** Runs the server of a Deployment. It replaces that of the former pod template, if there was one. */
  async run(deployment: Stored<Deployment>, runner: Runner, former: Runner | undefined): Promise<void> {
    const { signal } = runner.end;
    const { namespace = "" } = deployment.metadata;
    const { spec } = parse(
      await configText(this.#client, namespace, objectNames.config, configKeys.controlPlane),
    );
    const { secret } = objectNames;
    const encryptionKey = await secretBytes(this.#client, namespace, secret, secretKeys.encryptionKey);
    const projects = (spec.projects as { id: string }[]).map(({ id }) => id);
    if (signal.aborted) return;
    const options = { profile: profileIn(deployment), projects, encryptionKey };
    const plane = this.#planes.get(namespace) ?? openControlPlane(options);
    if (!this.#planes.has(namespace)) this.#planes.set(namespace, plane);
    else if (former === undefined || !plane.isUp) plane.restart(options);
    else void this.#retire(plane.replace(options), runner, former);
    signal.addEventListener("abort", () => this.#planes.get(namespace)?.die());
    this.#empty.set(namespace, () => openControlPlane(options));
    this.#startOf(namespace).resolve(plane);
  }

  /** Resolves to the control plane of a namespace when its pod first runs. */
  started(namespace: string): Promise<ControlPlane> {
    return this.#startOf(namespace).promise;
  }

  /** The control plane of a namespace. Throws if none has started there. */
  plane(namespace: string): ControlPlane {
    const plane = this.#planes.get(namespace);
    if (plane) return plane;
    const others = [...this.#planes.keys()].join(", ");
    throw new Error(`no server in ${namespace}: servers run in ${others || "no namespace"}`);
  }

  /** Replaces the control plane's database with an empty one. */
  lose(namespace: string): void {
    this.#planes.get(namespace)?.die();
    const created = this.#empty.get(namespace)?.();
    if (created) this.#planes.set(namespace, created);
  }

  /** Number of calls to a namespace's control plane, except those of pipeds. */
  callsOfWorkers(namespace: string): number {
    const calls = this.#planes.get(namespace)?.calls ?? [];
    return calls.filter(({ service }) => !service.endsWith("PipedService")).length;
  }

  /** A deleted pod keeps running while its preStop hook sleeps. */
  async #retire(replaced: ServerProcess, { alone, end }: Runner, { lingers }: Runner): Promise<void> {
    await alone.promise;
    if (lingers) await waited(this.#lingerMillis, end.signal);
    replaced.end();
  }

  #startOf(namespace: string): PromiseWithResolvers<ControlPlane> {
    const start = this.#started.get(namespace) ?? Promise.withResolvers<ControlPlane>();
    this.#started.set(namespace, start);
    return start;
  }
}
