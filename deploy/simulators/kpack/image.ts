/** The simulated Image controller of kpack v0.17.2. Not simulated: priority classes. Registry caches are only passed on. */
import type { KubeObject, Stored } from "denrei/kinds";
import type { ObjectName } from "denrei/kubernetes";
import { isUnwritten } from "./build.ts";
import { buildNumber, buildsOf, deleteOldBuilds, isRunning } from "./builds.ts";
import { type BuildInputs, changesOf } from "./changes.ts";
import { type ChildOptions, ensureCache, ensureSourceResolver } from "./children.ts";
import {
  builderNotFound,
  buildRunning,
  buildScheduled,
  isReady,
  isResolved,
  notScheduled,
} from "./imagestatus.ts";
import { atKey, type Informer, keyOf } from "./informer.ts";
import { Build, type Builder, Image, type ImageStatus } from "./kinds.ts";
import { annotations, labels, newBuild } from "./newbuild.ts";
import { conditionOf, fieldManager, writeStatus } from "./status.ts";

/** Dependencies of the controller. */
export interface ImageOptions extends ChildOptions {
  readonly images: Informer<Image>;
  readonly builds: Informer<Build>;
  readonly claims: Informer<KubeObject>;
  /** The builder that an Image names, of either kind. */
  readonly builderOf: (image: Image) => Stored<Builder> | undefined;
}

/** The controller. */
export interface ImageController {
  reconcile(key: string): Promise<void>;
  /** Creates the Image's next Build, but makes the status write that records it fail with a conflict. */
  loseNextReference(image: ObjectName): void;
}

/** Creates the controller with an empty queue. */
export function imageController(options: ImageOptions): ImageController {
  const { client, signal, images, builds } = options;
  const conflicting = new Set<string>();

  async function desired(image: Stored<Image>): Promise<ImageStatus> {
    const builder = options.builderOf(image);
    if (builder === undefined) return { ...image.status, conditions: builderNotFound(image) };
    const lastBuild = buildsOf(image, builds).at(-1);
    // While a Build runs, kpack updates only the conditions.
    if (lastBuild && isRunning(lastBuild))
      return { ...image.status, conditions: buildRunning(lastBuild, builder) };
    const buildCacheName = await ensureCache(image, options);
    const sourceResolver = await ensureSourceResolver(image, options);
    const inputs = { image, builder, lastBuild, sourceResolver };
    const status = { ...(await buildOrNot(inputs)), buildCacheName };
    await deleteOldBuilds(client, image, builds, signal);
    return status;
  }

  async function buildOrNot(inputs: BuildInputs): Promise<ImageStatus> {
    const { image, builder, lastBuild, sourceResolver } = inputs;
    const changes = isReady(builder) && isResolved(sourceResolver) ? changesOf(inputs) : [];
    if (changes.length > 0 && lastBuild && isUnwritten(lastBuild)) return { ...image.status };
    const build = changes.length > 0 ? await create(inputs, changes) : lastBuild;
    const isNew = build !== lastBuild;
    const succeeded = conditionOf(lastBuild, "Succeeded")?.status === "True";
    return {
      conditions:
        isNew && build ? buildScheduled(build, builder) : notScheduled(builder, sourceResolver, lastBuild),
      latestBuildRef: build?.metadata.name,
      latestBuildReason: build?.metadata.annotations?.[annotations.reason] || undefined,
      latestBuildImageGeneration: Number(build?.metadata.labels?.[labels.imageGeneration]) || undefined,
      latestImage: succeeded ? lastBuild?.status?.latestImage : image.status?.latestImage,
      latestStack: succeeded && !isNew ? lastBuild?.status?.stack?.id : undefined,
      buildCounter: buildNumber(build) || undefined,
    };
  }

  async function create(inputs: BuildInputs, changes: ReturnType<typeof changesOf>): Promise<Stored<Build>> {
    const build = newBuild(inputs, buildNumber(inputs.lastBuild) + 1, changes);
    const created = await client.create(Build, build, { fieldManager, signal });
    builds.observe(created);
    return created;
  }

  return {
    async reconcile(key) {
      const image = images.get(atKey(key));
      if (image === undefined || image.metadata.deletionTimestamp) return;
      const running = buildsOf(image, builds).at(-1)?.metadata.uid;
      const status = { ...(await desired(image)), observedGeneration: image.metadata.generation };
      const hasNew = buildsOf(image, builds).at(-1)?.metadata.uid !== running;
      const writing = hasNew && conflicting.delete(key) ? stale(image) : image;
      images.observe(await writeStatus(client, Image, writing, status, signal));
    },
    loseNextReference: (image) => void conflicting.add(keyOf(image)),
  };
}

/** With an outdated resourceVersion, as in a cache that has not seen the last write. */
const stale = <T extends KubeObject>(object: Stored<T>): Stored<T> => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: "1" },
});
