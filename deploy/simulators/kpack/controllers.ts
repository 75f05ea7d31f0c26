/** The controllers of the stand-in for kpack v0.17.2, who wakes whom, and who waits for whom. */
import type { KubeClient } from "../../../bus/kube/client.ts";
import type { Kind } from "../../../bus/kube/kind.ts";
import { controllerOf, type KubeObject } from "../../../bus/kube/object.ts";
import { buildController } from "./build.ts";
import { type Builders, builders } from "./builder.ts";
import { type ImageController, imageController } from "./image.ts";
import { keyOf } from "./informer.ts";
import { Build, Builder, ClusterBuilder, Image, type SourceResolver } from "./kinds.ts";
import { buildKeyOf, kubelet, type Steps } from "./kubelet.ts";
import { type FailureLog, type Loop, startLoop } from "./loop.ts";
import { sourceResolverName } from "./names.ts";
import { annotations, labels } from "./newbuild.ts";
import type { PodLogs } from "./podlogs.ts";
import { sourceResolverController } from "./sourceresolver.ts";
import type { Handlers, World } from "./world.ts";

/** What they work with. */
export interface ControllersOptions {
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  readonly world: World;
  readonly logs: PodLogs;
  readonly stepMillis: number;
  readonly steps: Steps;
  readonly order: Order;
  readonly failed: FailureLog;
}

/**
 * What is written first when a Build ends, which is what watchers of both may see: the Build, its Image, or either. kpack
 * writes the Build first, but watches are not in step.
 */
export type Order = "build-first" | "image-first" | "random";

/** The controllers. */
export interface Controllers {
  readonly images: ImageController;
  readonly builders: Builders;
  /** What each change leads to. */
  readonly handlers: Handlers;
  /** Resolves when the signal has ended all passes. */
  ended(): Promise<void>;
}

/** Starts them, with nothing to do. */
export function startControllers(options: ControllersOptions): Controllers {
  const { client, signal, world, logs, stepMillis, steps, order, failed } = options;
  const { images, pods, clusterBuilders } = world;
  const start = (name: string, reconcile: (key: string) => Promise<void>): Loop =>
    startLoop(name, reconcile, { signal, failed });

  const imageKey = ({ metadata }: KubeObject): string =>
    keyOf({ namespace: metadata.namespace, name: metadata.labels?.[labels.image] ?? "" });
  const imageControls = imageController({
    ...world,
    client,
    signal,
    builderOf({ metadata: { namespace }, spec: { builder } }) {
      const { kind, name } = builder;
      if (kind === ClusterBuilder.kind) return clusterBuilders.get({ name });
      if (kind === Builder.kind) return world.builders.get({ namespace, name });
      throw new Error(`unknown builder type: ${kind}`);
    },
  });
  const imageLoop = start("Image", imageControls.reconcile);
  const resolverLoop = start(
    "SourceResolver",
    sourceResolverController({
      ...world,
      client,
      signal,
      stepMillis,
      imageIdle: async (resolver) => {
        const image = images.all().find((one) => isOf(resolver, one));
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
      isImageFirst: () => order === "image-first" || (order === "random" && Math.random() < 0.5),
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
      steps,
      builderOf({ metadata: { namespace, annotations: { [annotations.builderName]: name = "" } = {} } }) {
        return clusterBuilders.get({ name }) ?? world.builders.get({ namespace, name });
      },
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
      // What was written as v1alpha1 was checked by nobody.
      const { kind: named, name } = image.spec?.builder ?? {};
      const isNear = kind === ClusterBuilder || builder.metadata.namespace === image.metadata.namespace;
      if (named === kind.kind && name === builder.metadata.name && isNear)
        imageLoop.add(keyOf(image.metadata));
    }
  }
  const handlers: Handlers = {
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
  };

  return {
    images: imageControls,
    builders: made,
    handlers,
    async ended() {
      const loops = [imageLoop, resolverLoop, buildLoop, podLoop, ...builderLoops.values()];
      await Promise.all(loops.map((loop) => loop.ended()));
    },
  };
}

/** By name: it may be owned by nobody. */
const isOf = ({ metadata }: SourceResolver, image: Image): boolean =>
  metadata.namespace === image.metadata.namespace &&
  metadata.name === sourceResolverName(image.metadata.name);
