/**
 * What runs in PipeCD's pods, of which kwok only says that they run: servers, as stand-ins in this process, and pipeds, as far
 * as they tell a server who they are and what repositories they have. They read what is mounted in their pods, when they start.
 */
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { parse } from "yaml";
import type { KubeClient } from "../../bus/kube/client.ts";
import { ConfigMap, Secret } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { Deployment } from "../../bus/kube/workloads.ts";
import { configKeys, labels, objectNames, secretKeys } from "../../functions/pipecd/names.ts";
import { profileOf } from "../../functions/pipecd/profile.ts";
import { startInformer } from "../kpack/informer.ts";
import { type ControlPlane, openControlPlane } from "./controlplane.ts";
import { PipedService as PipedServiceC } from "./generated/c/pipedservice_pb.ts";
import { PipedService as PipedServiceL0 } from "./generated/l0/pipedservice_pb.ts";
import { type Served, type ServeOptions, serve } from "./server.ts";

/** How to start. */
export interface PodsOptions {
  /** An administrator's. */
  readonly client: KubeClient;
  /** How often a piped says that it is there; each minute unless given, as the real one does. */
  readonly statMillis?: number;
  /** Where a server runs already: then the pods of servers run nothing. */
  readonly server?: Pick<Served, "web" | "api" | "piped">;
  /** In PEM: with it servers speak TLS alone. */
  readonly tls?: ServeOptions["tls"];
}

/** All that runs. */
export interface PipecdPods extends Pick<Served, "web" | "api"> {
  /** The server of a namespace. Throws where none has ever started. */
  plane(namespace: string): ControlPlane;
  /** How many connections to the WebService are open. */
  connections(): number;
  /** How often workers have called the server of a namespace: pipeds report to it as well. */
  callsOfWorkers(namespace: string): number;
  /** The server of a namespace, as soon as its pod runs for the first time. */
  started(namespace: string): Promise<ControlPlane>;
  /** What the server of a namespace keeps is lost, as with a database that was made anew. */
  lose(namespace: string): void;
  stop(): Promise<void>;
}

const component = "app.kubernetes.io/component";
const againMillis = 200;

const keyOf = ({ metadata }: Stored): string => `${metadata.namespace}/${metadata.name}`;

/** What the pods of a Deployment were made from, if one of them runs. */
function running({ metadata, spec, status = {} }: Stored<Deployment>): string | undefined {
  const { observedGeneration = 0, updatedReplicas = 0, availableReplicas = 0 } = status;
  if (metadata.deletionTimestamp || availableReplicas === 0) return undefined;
  if (observedGeneration < (metadata.generation ?? 0) || updatedReplicas === 0) return undefined;
  return `${metadata.uid} ${JSON.stringify(spec.template)}`;
}

const imageOf = ({ spec }: Stored<Deployment>): string => spec.template?.spec?.containers?.[0]?.image ?? "";

function profileIn(deployment: Stored<Deployment>): "C" | "L0" {
  const found = profileOf(imageOf(deployment).split(":").at(-1) ?? "");
  if (found.problem !== undefined) throw new Error(found.problem);
  return found.profile;
}

/** Starts it; resolves when what is there is known. */
export async function startPipecdPods({
  client,
  statMillis = 60_000,
  tls,
  server,
}: PodsOptions): Promise<PipecdPods> {
  const over = new AbortController();
  const planes = new Map<string, ControlPlane>();
  /** By Deployment: what runs, and what ends it. */
  const pods = new Map<string, { readonly made: string; readonly end: AbortController }>();
  const served = server
    ? { ...server, connections: () => Number.NaN, stop: async () => undefined }
    : await serve({ controlPlanes: () => planes.values(), ...(tls && { tls }) });

  const textIn = async (namespace: string, name: string, key: string): Promise<string> =>
    (await client.get(ConfigMap, { namespace, name })).data?.[key] ?? "";
  const bytesIn = async (namespace: string, name: string, key: string): Promise<Buffer> =>
    Buffer.from((await client.get(Secret, { namespace, name })).data?.[key] ?? "", "base64");

  async function runServer(deployment: Stored<Deployment>, signal: AbortSignal): Promise<void> {
    const { namespace = "" } = deployment.metadata;
    const { spec } = parse(await textIn(namespace, objectNames.config, configKeys.controlPlane));
    const encryptionKey = await bytesIn(namespace, objectNames.secret, secretKeys.encryptionKey);
    const projects = (spec.projects as { id: string }[]).map(({ id }) => id);
    if (signal.aborted) return;
    const options = { profile: profileIn(deployment), projects, encryptionKey };
    const before = planes.get(namespace);
    const plane = before ?? openControlPlane(options);
    if (before) plane.restart(encryptionKey);
    planes.set(namespace, plane);
    for (const project of projects) plane.addProject(project);
    signal.addEventListener("abort", () => planes.get(namespace)?.die());
    empty.set(namespace, () => openControlPlane(options));
    firstOf(namespace).resolve(plane);
  }

  /** What makes a server that has nothing yet. */
  const empty = new Map<string, () => ControlPlane>();
  const firsts = new Map<string, PromiseWithResolvers<ControlPlane>>();
  function firstOf(namespace: string): PromiseWithResolvers<ControlPlane> {
    const first = firsts.get(namespace) ?? Promise.withResolvers<ControlPlane>();
    firsts.set(namespace, first);
    return first;
  }

  async function runPiped(deployment: Stored<Deployment>, signal: AbortSignal): Promise<void> {
    const { namespace = "", name } = deployment.metadata;
    const { spec } = parse(await textIn(namespace, name, configKeys.piped));
    const key = await bytesIn(namespace, name, secretKeys.pipedKey);
    const headers = { authorization: `PIPED-TOKEN ${spec.projectID},${spec.pipedID},${key}` };
    // The gateway that is between them has seen to it that it is the right server.
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
    await persistently(() => service.reportPipedMeta({ repositories }, { headers, signal }), signal);
    while (await lasted(statMillis, signal))
      await persistently(() => service.reportStat({}, { headers, signal }), signal);
  }

  function changed(deployment: Stored<Deployment>, now: "present" | "gone"): void {
    const { metadata } = deployment;
    const isServer =
      !server && metadata.labels?.[component] === "server" && metadata.labels[labels.controlPlane];
    const isPiped = metadata.labels?.[labels.piped] !== undefined;
    if (!isServer && !isPiped) return;
    const key = keyOf(deployment);
    const made = now === "gone" ? undefined : running(deployment);
    if (pods.get(key)?.made === made) return;
    pods.get(key)?.end.abort();
    pods.delete(key);
    if (made === undefined) return;
    const end = new AbortController();
    pods.set(key, { made, end });
    const run = isServer ? runServer : runPiped;
    run(deployment, end.signal).catch((error: unknown) => {
      // What was mounted is gone: so is the pod, in a moment.
      if (pods.get(key)?.end === end) pods.delete(key);
      if (!over.signal.aborted && !end.signal.aborted) console.error(`${key}: ${error}`);
    });
  }

  await startInformer(client, Deployment, { signal: over.signal, changed });

  return {
    started: (namespace) => firstOf(namespace).promise,
    web: served.web,
    api: served.api,
    connections: () => served.connections("web"),
    plane(namespace) {
      const plane = planes.get(namespace);
      if (plane) return plane;
      throw new Error(
        `expected a server in ${namespace}, found those of ${[...planes.keys()].join(", ") || "none"}`,
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
      over.abort();
      for (const { end } of pods.values()) end.abort();
      await served.stop();
    },
  };
}

/** Whether so much time has passed before it was over. */
const lasted = (millis: number, signal: AbortSignal): Promise<boolean> =>
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

/** A piped asks again and again, until it is let in. */
async function persistently(call: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await call();
      return;
    } catch {
      await lasted(againMillis, signal);
    }
  }
}
