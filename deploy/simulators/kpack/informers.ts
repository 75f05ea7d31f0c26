/** The informers of all kinds that the simulated kpack controllers read. */
import type { Kind, KubeObject, Stored } from "denrei/kinds";
import type { KubeClient } from "denrei/kubernetes";
import { buildLabel } from "./buildpod.ts";
import { type Informer, startInformer } from "./informer.ts";
import {
  Build,
  Builder,
  ClusterBuilder,
  Image,
  PersistentVolumeClaim,
  Pod,
  SourceResolver,
  StorageClass,
} from "./kinds.ts";

/** One informer per kind. */
export interface Informers {
  readonly images: Informer<Image>;
  readonly builds: Informer<Build>;
  readonly sourceResolvers: Informer<SourceResolver>;
  readonly pods: Informer<Pod>;
  readonly claims: Informer<KubeObject>;
  readonly storageClasses: Informer<StorageClass>;
  readonly builders: Informer<Builder>;
  readonly clusterBuilders: Informer<Builder>;
}

/** Handles a changed object, by kind. */
export type Handlers = { readonly [K in keyof Informers]: (object: ObjectIn<Informers[K]>) => void };
type ObjectIn<I> = I extends Informer<infer T> ? Stored<T> : never;

/** Lists and watches all kinds. Changes are reported only after `report` was called. */
export async function openInformers(
  client: KubeClient,
  signal: AbortSignal,
): Promise<{ readonly informers: Informers; report(handlers: Handlers): void }> {
  let handlers: Handlers | undefined;
  const start = <T extends KubeObject>(
    kind: Kind<T>,
    handler: (all: Handlers) => (object: Stored<T>) => void,
    query = {},
  ) =>
    startInformer(client, kind, {
      signal,
      query,
      changed: (object) => handlers && handler(handlers)(object),
    });
  const [images, builds, sourceResolvers, pods, claims, storageClasses, builders, clusterBuilders] =
    await Promise.all([
      start(Image, (all) => all.images),
      start(Build, (all) => all.builds),
      start(SourceResolver, (all) => all.sourceResolvers),
      start(Pod, (all) => all.pods, { labelSelector: buildLabel }),
      start(PersistentVolumeClaim, (all) => all.claims),
      start(StorageClass, (all) => all.storageClasses),
      start(Builder, (all) => all.builders),
      start(ClusterBuilder, (all) => all.clusterBuilders),
    ]);
  const informers = {
    images,
    builds,
    sourceResolvers,
    pods,
    claims,
    storageClasses,
    builders,
    clusterBuilders,
  };
  return {
    informers,
    /** Reports all existing objects at once, and changes from then on. */
    report(all) {
      handlers = all;
      for (const kind of Object.keys(informers) as (keyof Informers)[]) {
        const handler = all[kind] as (object: Stored) => void;
        for (const object of informers[kind].all()) handler(object);
      }
    },
  };
}
