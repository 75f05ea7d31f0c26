/**
 * The stand-in for kpack v0.17.2, for tests and for the demo: controllers that do to a real API server what the recording of
 * the real ones says. Left out: builds themselves (pods are real objects, their status is made up), registries, git (see
 * `sourceresolver.ts`), and what each file here names at its top. Like kpack it writes no Events and no finalizers.
 */
import type { KubeClient, ObjectName } from "../../bus/kube/client.ts";
import { installCrds } from "../../bus/kube/install.ts";
import type { Kind } from "../../bus/kube/kind.ts";
import { controllerOf, type KubeObject } from "../../bus/kube/object.ts";
import { createCertificateAuthority } from "../../deploy/local/pki.ts";
import { buildController } from "./build.ts";
import { type BuilderState, builders } from "./builder.ts";
import { kpackCrds } from "./crds.ts";
import { imageController } from "./image.ts";
import { keyOf } from "./informer.ts";
import { Build, Builder, ClusterBuilder, Image } from "./kinds.ts";
import { buildKeyOf, keepNode, kubelet } from "./kubelet.ts";
import { startKubeletServer } from "./kubeletserver.ts";
import { type Loop, startLoop } from "./loop.ts";
import { sourceResolverName } from "./names.ts";
import { labels } from "./newbuild.ts";
import { podLogs } from "./podlogs.ts";
import { sourceResolverController } from "./sourceresolver.ts";
import { openWorld } from "./world.ts";

/** How to start it. */
export interface KpackOptions {
  /** An administrator's. */
  readonly client: KubeClient;
  /** Told of passes that failed, and will be tried again. Nobody unless given. */
  readonly log?: (line: string) => void;
  /** How long each step of a build, git, and the making of a builder take, in milliseconds; 20 unless given. */
  readonly stepMillis?: number;
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
  /** Ends it. What is in the cluster stays. */
  stop(): Promise<void>;
}

const startMillis = 60_000;
const fieldManager = "kpack";

/** Installs the CRDs and starts everything in this process. Rejects when the API server does not answer. */
export async function startKpack({ client, log, stepMillis = 20 }: KpackOptions): Promise<Kpack> {
  const over = new AbortController();
  const { signal } = over;
  await installCrds(client, kpackCrds, { fieldManager, signal: AbortSignal.timeout(startMillis) });
  const { world, tell } = await openWorld(client, signal);
  const { images, builds, pods, sourceResolvers, clusterBuilders } = world;
  const authority = createCertificateAuthority("kpack");
  const logs = podLogs();

  const server = await startKubeletServer(authority.server(["127.0.0.1"]), (namespace, name, container) => {
    const uid = pods.get({ namespace, name })?.metadata.uid ?? "";
    return logs.of(uid, container) ?? "waiting";
  });
  await keepNode(client, server.port, signal);

  const failed = (what: string, error: unknown) =>
    log?.(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  const start = (name: string, reconcile: (key: string) => Promise<void>): Loop =>
    startLoop(name, reconcile, { signal, failed });

  const imageKey = ({ metadata }: KubeObject): string =>
    keyOf({ namespace: metadata.namespace, name: metadata.labels?.[labels.image] ?? "" });
  const controller = imageController({
    ...world,
    client,
    signal,
    builderOf: ({ metadata: { namespace }, spec: { builder } }) =>
      builder.kind === ClusterBuilder.kind
        ? clusterBuilders.get({ name: builder.name })
        : world.builders.get({ namespace, name: builder.name }),
  });
  const imageLoop = start("Image", controller.reconcile);
  const resolverLoop = start(
    "SourceResolver",
    sourceResolverController({
      ...world,
      client,
      signal,
      stepMillis,
      imageIdle: async ({ metadata: { namespace, name } }) => {
        const image = images
          .all()
          .find(
            (one) => one.metadata.namespace === namespace && sourceResolverName(one.metadata.name) === name,
          );
        if (image) await imageLoop.idle(keyOf(image.metadata));
      },
    }),
  );
  const buildLoop = start(
    "Build",
    buildController({
      ...world,
      client,
      signal,
      lastLine: logs.lastLine,
      imageIdle: (build) => imageLoop.idle(imageKey(build)),
    }),
  );
  const podLoop: Loop = start(
    "Pod",
    kubelet({
      ...world,
      client,
      signal,
      logs,
      stepMillis,
      add: (key) => podLoop.add(key),
      caughtUp: async (pod) => {
        await buildLoop.idle(buildKeyOf(pod));
        await imageLoop.idle(imageKey(pod));
      },
    }),
  );
  const builderLoops = new Map<Kind<Builder>, Loop>();
  const made = builders({
    client,
    signal,
    stepMillis,
    informers: new Map([
      [ClusterBuilder, clusterBuilders],
      [Builder, world.builders],
    ]),
    async settle(kind, key) {
      builderLoops.get(kind)?.add(key);
      await builderLoops.get(kind)?.idle(key);
    },
  });
  for (const kind of [ClusterBuilder, Builder])
    builderLoops.set(
      kind,
      start(kind.kind, (key) => made.reconcile(kind, key)),
    );

  /** The owner alone: what has lost it is nobody's business any more. */
  function addOwner(loop: Loop, kind: Kind, object: KubeObject): void {
    const owner = controllerOf(object);
    if (owner?.kind === kind.kind)
      loop.add(keyOf({ namespace: object.metadata.namespace, name: owner.name }));
  }
  function builderChanged(kind: Kind<Builder>, builder: Builder): void {
    builderLoops.get(kind)?.add(keyOf(builder.metadata));
    for (const image of images.all()) {
      const { kind: named, name } = image.spec.builder;
      const isNear = kind === ClusterBuilder || builder.metadata.namespace === image.metadata.namespace;
      if (named === kind.kind && name === builder.metadata.name && isNear)
        imageLoop.add(keyOf(image.metadata));
    }
  }
  tell({
    images: ({ metadata }) => imageLoop.add(keyOf(metadata)),
    builds(build) {
      buildLoop.add(keyOf(build.metadata));
      addOwner(imageLoop, Image as Kind, build);
    },
    sourceResolvers(resolver) {
      resolverLoop.add(keyOf(resolver.metadata));
      addOwner(imageLoop, Image as Kind, resolver);
    },
    pods(pod) {
      podLoop.add(keyOf(pod.metadata));
      addOwner(buildLoop, Build as Kind, pod);
      if (pods.get(pod.metadata)?.metadata.uid !== pod.metadata.uid) logs.forget(pod);
    },
    claims: (claim) => addOwner(imageLoop, Image as Kind, claim),
    storageClasses: () => undefined,
    builders: (builder) => builderChanged(Builder, builder),
    clusterBuilders: (builder) => builderChanged(ClusterBuilder, builder),
  });

  return {
    builder: made.set,
    newStack: () => made.renew("stack"),
    newBuildpacks: () => made.renew("buildpacks"),
    loseNextReference: controller.loseNextReference,
    async stop() {
      over.abort();
      const loops = [imageLoop, resolverLoop, buildLoop, podLoop, ...builderLoops.values()];
      await Promise.all(loops.map((loop) => loop.ended()));
      await server.stop();
    },
  };
}
