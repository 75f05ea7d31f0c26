/** Simulates the piped in a pod: it reports its metadata and statistics, and watches events. */
import { type CallOptions, type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { configKeys, secretKeys } from "@denrei/functions/pipecd/names";
import type { Deployment, Stored } from "denrei/kinds";
import type { KubeClient } from "denrei/kubernetes";
import { parse } from "yaml";
import { profileIn } from "./deploymentstate.ts";
import { openEventWatcher } from "./eventwatcher.ts";
import { PipedService as PipedServiceC } from "./generated/c/pipedservice_pb.ts";
import { PipedService as PipedServiceL0 } from "./generated/l0/pipedservice_pb.ts";
import { configText, secretBytes } from "./mountedconfig.ts";
import { reportedPlugins } from "./pipedv1.ts";
import type { Repository } from "./repository.ts";
import { waited } from "./wait.ts";

/** Options of all pipeds. */
export interface PipedPodOptions {
  readonly client: KubeClient;
  /** Address of the server's port for pipeds. */
  readonly address: string;
  readonly isTls: boolean;
  readonly statMillis: number;
  readonly eventMillis: number;
  /** Repositories by remote URL. */
  readonly repositories: ReadonlyMap<string, Repository>;
  readonly report: ((message: string) => void) | undefined;
}

/** The fields of a piped's configuration that are read here. */
interface PipedSpec {
  readonly projectID: string;
  readonly pipedID: string;
  readonly repositories?: readonly Readonly<Record<string, string>>[];
  readonly [more: string]: unknown;
}

const retryMillis = 200;

/** Runs the piped of a Deployment until the abort. */
export async function runPiped(
  deployment: Stored<Deployment>,
  signal: AbortSignal,
  options: PipedPodOptions,
): Promise<void> {
  const { client, address, isTls, statMillis } = options;
  const { namespace = "", name } = deployment.metadata;
  const { spec } = parse(await configText(client, namespace, name, configKeys.piped)) as { spec: PipedSpec };
  const key = await secretBytes(client, namespace, name, secretKeys.pipedKey);
  const call = {
    headers: { authorization: `PIPED-TOKEN ${spec.projectID},${spec.pipedID},${key}` },
    signal,
  };
  // Unverified: in a real cluster, the gateway verifies the server.
  const nodeOptions = { rejectUnauthorized: false };
  const transport = createGrpcTransport(
    isTls ? { baseUrl: `https://${address}`, nodeOptions } : { baseUrl: `http://${address}` },
  );
  const profile = profileIn(deployment);
  const service = createClient(
    profile === "C" ? PipedServiceC : (PipedServiceL0 as unknown as typeof PipedServiceC),
    transport,
  );
  const repositories = (spec.repositories ?? []).map((repository) => ({
    id: repository.repoId ?? "",
    remote: repository.remote ?? "",
    branch: repository.branch ?? "",
  }));
  const meta = { repositories, plugins: reportedPlugins(spec) };
  await untilSuccess(() => service.reportPipedMeta(meta, call), signal);
  if (profile === "C") watchEvents(service, call, spec, repositories, signal, options);
  while (await waited(statMillis, signal)) await untilSuccess(() => service.reportStat({}, call), signal);
}

/** Starts to watch the events of the piped's simulated repositories. */
function watchEvents(
  service: Client<typeof PipedServiceC>,
  call: CallOptions,
  { projectID, pipedID }: PipedSpec,
  repositories: readonly { readonly id: string; readonly remote: string }[],
  signal: AbortSignal,
  { repositories: contents, eventMillis, report }: PipedPodOptions,
): void {
  const found = repositories.flatMap(({ id, remote }) => {
    const repository = contents.get(remote);
    return repository === undefined ? [] : [[id, repository] as const];
  });
  const watched = { repositories: new Map(found), projectID, pipedID, report };
  const round = openEventWatcher({ service, call, ...watched });
  if (found.length > 0) void repeat(round, eventMillis, signal);
}

/** Runs a round at each interval. The next round makes up for a failed one. */
async function repeat(round: () => Promise<void>, millis: number, signal: AbortSignal): Promise<void> {
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
