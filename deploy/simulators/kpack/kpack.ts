/**
 * The kpack v0.17.2 simulator, for tests and for the demo. Its controllers write to a real API server what real kpack wrote
 * in recordings. Not simulated: builds (pods are real objects with an invented status), registries, git (see
 * `sourceresolver.ts`), and the gaps listed at the top of each file. Like kpack, it writes no Events and no finalizers. The
 * API server must run on this machine, because it calls the webhooks and the node at 127.0.0.1.
 */
import { createCertificateAuthority } from "@denrei/cli/local/pki";
import { installCrds, type KubeClient, type ObjectName } from "denrei/kubernetes";
import { startAdmissionServer } from "./admission.ts";
import type { BuilderState } from "./builder.ts";
import { type Order, startControllers } from "./controllers.ts";
import { kpackCrds } from "./crds.ts";
import { type Informers, openInformers } from "./informers.ts";
import { ensureNode, type Steps } from "./kubelet.ts";
import { startKubeletServer } from "./kubeletserver.ts";
import { podLogs } from "./podlogs.ts";
import { registerWebhooks, unregisterWebhooks } from "./webhooks.ts";

/** Options of the simulator. */
export interface KpackOptions {
  /** Client with administrator permissions. */
  readonly client: KubeClient;
  /** Called with each failed reconcile, which is retried. */
  readonly log?: (line: string) => void;
  /** Duration of a build step, a git lookup, and a builder's creation, in milliseconds. Defaults to 20. */
  readonly stepMillis?: number;
  /** The build steps that are written to the pod. Defaults to `each`. */
  readonly steps?: Steps;
  /** Defaults to `build-first`. */
  readonly order?: Order;
}

/** A running simulator. */
export interface Kpack {
  /** Creates, edits, or deletes a ClusterBuilder and waits for its status. */
  builder(name: string, state: BuilderState): Promise<void>;
  /** Gives all builders another run image; every built Image is rebased at once. */
  newStack(): Promise<void>;
  /** Gives all builders another version of their buildpack; every built Image is rebuilt at once. */
  newBuildpacks(): Promise<void>;
  /** The Image's status names its next Build only after that Build has ended. */
  loseNextReference(image: ObjectName): void;
  /** Resolves when the informers have the current state of all kinds. */
  caughtUp(): Promise<void>;
  /** The webhook server. While it is stopped, the API server rejects all writes to Images, Builds, and builders. */
  readonly webhook: { stop(): Promise<void>; restart(): Promise<void> };
  /** Stops the simulator. Objects stay in the cluster, except the webhook configurations. */
  stop(): Promise<void>;
}

const startMillis = 60_000;
const fieldManager = "kpack";

/** Installs the CRDs and starts the simulator in this process. Cleans up and rejects if that fails. */
export async function startKpack(options: KpackOptions): Promise<Kpack> {
  const { client, log, stepMillis = 20, steps = "each", order = "build-first" } = options;
  const stopping = new AbortController();
  const deadline = AbortSignal.timeout(startMillis);
  const authority = createCertificateAuthority("kpack");
  const ends: (() => Promise<void>)[] = [];

  /** In start order, because the controllers need everything else until they end. */
  async function stop(): Promise<void> {
    stopping.abort();
    for (const end of ends.splice(0)) await end();
  }

  try {
    await installCrds(client, kpackCrds, { fieldManager, signal: deadline });
    const { informers, report } = await openInformers(client, stopping.signal);
    const logs = podLogs();
    const controllers = startControllers({
      client,
      informers,
      logs,
      stepMillis,
      steps,
      order,
      signal: stopping.signal,
      logFailure: (what, error) =>
        log?.(`${what}: ${error instanceof Error ? error.message : String(error)}`),
    });
    ends.push(controllers.ended);
    const server = await startKubeletServer(authority.server(["127.0.0.1"]), (namespace, name, container) => {
      const uid = informers.pods.get({ namespace, name })?.metadata.uid ?? "";
      return logs.of(uid, container) ?? "waiting";
    });
    ends.push(server.stop);
    await ensureNode(client, server.port, deadline);
    const webhook = await startAdmissionServer(authority, () => ({
      hasDefaultStorageClass: hasDefaultStorageClass(informers),
    }));
    ends.push(() => unregisterWebhooks(client), webhook.stop);
    await registerWebhooks(client, { url: webhook.url, ca: authority.cert }, deadline);
    report(controllers.handlers);
    const { builders, images } = controllers;
    return {
      builder: builders.set,
      newStack: () => builders.renew("stack"),
      newBuildpacks: () => builders.renew("buildpacks"),
      loseNextReference: images.loseNextReference,
      async caughtUp() {
        await Promise.all(Object.values(informers).map((informer) => informer.refresh()));
      },
      webhook,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const hasDefaultStorageClass = ({ storageClasses }: Informers): boolean =>
  storageClasses
    .all()
    .some(({ metadata }) => metadata.annotations?.["storageclass.kubernetes.io/is-default-class"] === "true");
