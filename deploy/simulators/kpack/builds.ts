/** Finds the Builds of an Image and deletes old ones, as kpack v0.17.2 does. */
import type { Stored } from "denrei/kinds";
import { isNotFound, type KubeClient } from "denrei/kubernetes";
import type { Informer } from "./informer.ts";
import { Build, type Image } from "./kinds.ts";
import { labels } from "./newbuild.ts";
import { conditionOf } from "./status.ts";

/**
 * Builds with the Image's label, whatever their owner, oldest first. kpack sorts only by creation time, in whole seconds, so
 * its order within a second is arbitrary.
 */
export const buildsOf = (image: Image, builds: Informer<Build>): Stored<Build>[] =>
  builds
    .all()
    .filter(
      ({ metadata }) =>
        metadata.namespace === image.metadata.namespace &&
        metadata.labels?.[labels.image] === image.metadata.name,
    )
    .sort((a, b) => createdAt(a) - createdAt(b) || buildNumber(a) - buildNumber(b));

const createdAt = ({ metadata }: Build): number => Date.parse(metadata.creationTimestamp ?? "");

/** The number in a Build's label; 0 without one. */
export const buildNumber = (build: Build | undefined): number =>
  Number(build?.metadata.labels?.[labels.buildNumber] ?? 0);

/** Whether the Build has not ended; true also before it has a status. */
export const isRunning = (build: Build): boolean =>
  (conditionOf(build, "Succeeded")?.status ?? "Unknown") === "Unknown";

/** Deletes the oldest failed and the oldest successful Build when there are more of them than the Image keeps. */
export async function deleteOldBuilds(
  client: KubeClient,
  image: Image,
  builds: Informer<Build>,
  signal: AbortSignal,
): Promise<void> {
  const all = buildsOf(image, builds);
  const ended = (status: string) => all.filter((one) => conditionOf(one, "Succeeded")?.status === status);
  const { failedBuildHistoryLimit = 10, successBuildHistoryLimit = 10 } = image.spec;
  for (const [limit, kept] of [
    [failedBuildHistoryLimit, ended("False")],
    [successBuildHistoryLimit, ended("True")],
  ] as const) {
    const [oldest] = kept;
    if (kept.length <= limit || oldest === undefined) continue;
    try {
      await client.delete(Build, oldest.metadata, { uid: oldest.metadata.uid, signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
