/** Connects the simulated controllers of kpack v0.17.2: their order, and the changes that enqueue objects. */
import { controllerOf, type Kind, type KubeObject } from "denrei/kinds";
import type { KubeClient } from "denrei/kubernetes";
import { buildController } from "./build.ts";
import { type Builders, builders } from "./builder.ts";
import { type ImageController, imageController } from "./image.ts";
import { keyOf } from "./informer.ts";
import type { Handlers, Informers } from "./informers.ts";
import { Build, Builder, ClusterBuilder, Image, type SourceResolver } from "./kinds.ts";
import { buildKeyOf, kubelet, type Steps } from "./kubelet.ts";
import { type FailureLog, type Loop, startLoop } from "./loop.ts";
import { sourceResolverName } from "./names.ts";
import { annotations, labels } from "./newbuild.ts";
import type { PodLogs } from "./podlogs.ts";
import { sourceResolverController } from "./sourceresolver.ts";

/** Dependencies of the controllers. */
export interface ControllersOptions {
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  readonly informers: Informers;
  readonly logs: PodLogs;
  readonly stepMillis: number;
  readonly steps: Steps;
  readonly order: Order;
  readonly logFailure: FailureLog;
}

/**
 * Which object is written first when a Build ends: the Build, its Image, or a random choice. kpack writes the Build first,
 * but watches of the two kinds are not ordered, so a client may see either.
 */
export type Order = "build-first" | "image-first" | "random";

/** The controllers. */
export interface Controllers {
  readonly images: ImageController;
  readonly builders: Builders;
  /** Called for each change of an object. */
  readonly handlers: Handlers;
  /** Resolves when all reconciles have ended after the abort. */
  ended(): Promise<void>;
}

type StartLoop = (name: string, reconcile: (key: string) => Promise<void>) => Loop;

/** The work queues of all controllers. */
interface Loops {
  readonly imageLoop: Loop;
  readonly resolverLoop: Loop;
  readonly buildLoop: Loop;
  readonly podLoop: Loop;
  readonly builderLoops: ReadonlyMap<Kind<Builder>, Loop>;
}

/** Starts the controllers with empty queues. */
export function startControllers(options: ControllersOptions): Controllers {
  const { client, signal, informers, logs, stepMillis, steps, order, logFailure } = options;
  const { images, clusterBuilders } = informers;
  const start: StartLoop = (name, reconcile) => startLoop(name, reconcile, { signal, logFailure });

  const imageKey = ({ metadata }: KubeObject): string =>
    keyOf({ namespace: metadata.namespace, name: metadata.labels?.[labels.image] ?? "" });
  const imageControls = imageController({
    ...informers,
    client,
    signal,
    builderOf({ metadata: { namespace }, spec: { builder } }) {
      const { kind, name } = builder;
      if (kind === ClusterBuilder.kind) return clusterBuilders.get({ name });
      if (kind === Builder.kind) return informers.builders.get({ namespace, name });
      throw new Error(`unknown builder type: ${kind}`);
    },
  });
  const imageLoop = start("Image", imageControls.reconcile);
  const resolverLoop = start(
    "SourceResolver",
    sourceResolverController({
      ...informers,
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
      ...informers,
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
      ...informers,
      client,
      signal,
      logs,
      stepMillis,
      steps,
      builderOf({ metadata: { namespace, annotations: { [annotations.builderName]: name = "" } = {} } }) {
        return clusterBuilders.get({ name }) ?? informers.builders.get({ namespace, name });
      },
      add: (key) => podLoop.add(key),
      caughtUp: async (pod) => {
        await buildLoop.idle(buildKeyOf(pod));
        await imageLoop.idle(imageKey(pod));
      },
    }),
  );
  const { builderControls, builderLoops } = startBuilders(options, start);
  const loops = { imageLoop, resolverLoop, buildLoop, podLoop, builderLoops };
  return {
    images: imageControls,
    builders: builderControls,
    handlers: handlersOf(loops, informers, logs),
    async ended() {
      const all = [imageLoop, resolverLoop, buildLoop, podLoop, ...builderLoops.values()];
      await Promise.all(all.map((loop) => loop.ended()));
    },
  };
}

/** Starts the controllers of both kinds of builders. */
function startBuilders(
  { client, signal, stepMillis, informers }: ControllersOptions,
  start: StartLoop,
): { builderControls: Builders; builderLoops: ReadonlyMap<Kind<Builder>, Loop> } {
  const builderLoops = new Map<Kind<Builder>, Loop>();
  const builderControls = builders({
    client,
    signal,
    stepMillis,
    informers: new Map([
      [ClusterBuilder, informers.clusterBuilders],
      [Builder, informers.builders],
    ]),
    async reconcileNow(kind, key) {
      builderLoops.get(kind)?.add(key);
      await builderLoops.get(kind)?.idle(key);
    },
  });
  for (const kind of [ClusterBuilder, Builder])
    builderLoops.set(
      kind,
      start(kind.kind, (key) => builderControls.reconcile(kind, key)),
    );
  return { builderControls, builderLoops };
}

/** The objects to enqueue after each change. */
function handlersOf(loops: Loops, informers: Informers, logs: PodLogs): Handlers {
  const { imageLoop, resolverLoop, buildLoop, podLoop } = loops;
  return {
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
      if (informers.pods.get(pod.metadata)?.metadata.uid !== pod.metadata.uid) logs.forget(pod);
    },
    claims: (claim) => addOwner(imageLoop, Image as Kind, claim),
    storageClasses: () => undefined,
    builders: (builder) => builderChanged(loops, informers, Builder, builder),
    clusterBuilders: (builder) => builderChanged(loops, informers, ClusterBuilder, builder),
  };
}

/** Enqueues the controlling owner only. */
function addOwner(loop: Loop, kind: Kind, object: KubeObject): void {
  const owner = controllerOf(object);
  if (owner?.kind === kind.kind) loop.add(keyOf({ namespace: object.metadata.namespace, name: owner.name }));
}

/** Enqueues a builder and the Images that name it. */
function builderChanged(
  { imageLoop, builderLoops }: Loops,
  { images }: Informers,
  kind: Kind<Builder>,
  builder: Builder,
): void {
  builderLoops.get(kind)?.add(keyOf(builder.metadata));
  for (const image of images.all()) {
    // An object written as v1alpha1 was not validated.
    const { kind: named, name } = image.spec?.builder ?? {};
    const isInScope = kind === ClusterBuilder || builder.metadata.namespace === image.metadata.namespace;
    if (named === kind.kind && name === builder.metadata.name && isInScope)
      imageLoop.add(keyOf(image.metadata));
  }
}

/** Matches by name, because the SourceResolver may have lost its owner. */
const isOf = ({ metadata }: SourceResolver, image: Image): boolean =>
  metadata.namespace === image.metadata.namespace &&
  metadata.name === sourceResolverName(image.metadata.name);
