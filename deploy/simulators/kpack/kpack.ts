/**
 * The stand-in for kpack v0.17.2, for tests and for the demo: controllers that do to a real API server what the recording of
 * the real ones says. Left out: builds themselves (pods are real objects, their status is made up), registries, git (see
 * `sourceresolver.ts`), and what each file here names at its top. Like kpack it writes no Events and no finalizers. The API
 * server has to be on this machine: it asks the webhooks and the node at 127.0.0.1.
 */
import type { KubeClient, ObjectName } from "../../../bus/kube/client.ts";
import { installCrds } from "../../../bus/kube/install.ts";
import { createCertificateAuthority } from "../../local/pki.ts";
import { startAdmissionServer } from "./admission.ts";
import type { BuilderState } from "./builder.ts";
import { type Order, startControllers } from "./controllers.ts";
import { kpackCrds } from "./crds.ts";
import { keepNode, type Steps } from "./kubelet.ts";
import { startKubeletServer } from "./kubeletserver.ts";
import { podLogs } from "./podlogs.ts";
import { registerWebhooks, unregisterWebhooks } from "./webhooks.ts";
import { openWorld, type World } from "./world.ts";

/** How to start it. */
export interface KpackOptions {
  /** An administrator's. */
  readonly client: KubeClient;
  /** Told of passes that failed, and will be tried again. Nobody unless given. */
  readonly log?: (line: string) => void;
  /** How long each step of a build, git, and the making of a builder take, in milliseconds; 20 unless given. */
  readonly stepMillis?: number;
  /** Which steps of a build are written to its pod; `each` unless given. */
  readonly steps?: Steps;
  /** `build-first` unless given. */
  readonly order?: Order;
}

/** A running stand-in. */
export interface Kpack {
  /** Makes, edits or deletes a ClusterBuilder; its status follows. */
  builder(name: string, state: BuilderState): Promise<void>;
  /** All builders get another run image: each Image that was built is rebased, at once. */
  newStack(): Promise<void>;
  /** All builders get another version of their buildpack: each Image that was built is built again, at once. */
  newBuildpacks(): Promise<void>;
  /** The Image's status does not tell of its next Build before that ends. */
  loseNextReference(image: ObjectName): void;
  /** Resolves when it knows the present state of all objects: events of several kinds come in any order. */
  caughtUp(): Promise<void>;
  /** Nobody answers the API server there, which refuses every write to Images, Builds and builders. */
  readonly webhook: { away(): Promise<void>; back(): Promise<void> };
  /** Ends it. What is in the cluster stays, but for the registration of webhooks that nobody would answer. */
  stop(): Promise<void>;
}

const startMillis = 60_000;
const fieldManager = "kpack";

/** Installs the CRDs and starts everything in this process. Rejects, with nothing left behind, when that can not be done. */
export async function startKpack(options: KpackOptions): Promise<Kpack> {
  const { client, log, stepMillis = 20, steps = "each", order = "build-first" } = options;
  const over = new AbortController();
  const deadline = AbortSignal.timeout(startMillis);
  const authority = createCertificateAuthority("kpack");
  const ends: (() => Promise<void>)[] = [];

  /** In the order in which it was begun, because controllers need all of the rest until their end. */
  async function stop(): Promise<void> {
    over.abort();
    for (const end of ends.splice(0)) await end();
  }

  try {
    await installCrds(client, kpackCrds, { fieldManager, signal: deadline });
    const { world, tell } = await openWorld(client, over.signal);
    const logs = podLogs();
    const controllers = startControllers({
      client,
      world,
      logs,
      stepMillis,
      steps,
      order,
      signal: over.signal,
      failed: (what, error) => log?.(`${what}: ${error instanceof Error ? error.message : String(error)}`),
    });
    ends.push(controllers.ended);
    const server = await startKubeletServer(authority.server(["127.0.0.1"]), (namespace, name, container) => {
      const uid = world.pods.get({ namespace, name })?.metadata.uid ?? "";
      return logs.of(uid, container) ?? "waiting";
    });
    ends.push(server.stop);
    await keepNode(client, server.port, deadline);
    const webhook = await startAdmissionServer(authority, () => ({
      hasDefaultStorageClass: hasDefaultStorageClass(world),
    }));
    ends.push(() => unregisterWebhooks(client), webhook.stop);
    await registerWebhooks(client, { url: webhook.url, ca: authority.cert }, deadline);
    tell(controllers.handlers);
    const { builders, images } = controllers;
    return {
      builder: builders.set,
      newStack: () => builders.renew("stack"),
      newBuildpacks: () => builders.renew("buildpacks"),
      loseNextReference: images.loseNextReference,
      async caughtUp() {
        await Promise.all(Object.values(world).map((informer) => informer.refresh()));
      },
      webhook,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const hasDefaultStorageClass = ({ storageClasses }: World): boolean =>
  storageClasses
    .all()
    .some(({ metadata }) => metadata.annotations?.["storageclass.kubernetes.io/is-default-class"] === "true");
