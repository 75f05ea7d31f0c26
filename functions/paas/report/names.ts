/** Names on GitHub. They are unique among all previews that report to a repository. */
import { BlockedError, type Context, digestOf, isForbidden, Namespace, type Stored } from "denrei";
import type { AppPipeline } from "../kinds/apppipeline.ts";
import { retryMillis } from "../retry.ts";

/** The default name of a cluster. */
const unnamed = "default";
/** A namespace that every cluster has, and whose uid never changes. */
const systemNamespace = "kube-system";

/**
 * The context of a pipeline's commit statuses: `denrei/<cluster>/<namespace>/<pipeline>`. The cluster name `default` gets a digest
 * of the cluster's identity as a suffix, which is read once and then taken from the status. At most 198 characters, and 14 more
 * with the number of a pull request; GitHub accepts 255. Throws a `BlockedError` when the identity cannot be read.
 */
export async function contextOf(
  { metadata: { namespace = "", name }, status }: Stored<AppPipeline>,
  { cluster, live }: Pick<Context, "cluster" | "live">,
): Promise<string> {
  const of = (place: string) => `denrei/${place}/${namespace}/${name}`;
  if (cluster !== unnamed) return of(cluster);
  const [, place = ""] = status?.reportContext?.split("/") ?? [];
  if (/^default-[0-9a-f]{8}$/.test(place)) return of(place);
  const found = await live.get(Namespace, systemNamespace).catch((error: unknown) => {
    if (isForbidden(error)) return undefined;
    throw error;
  });
  if (found !== undefined) return of(`${unnamed}-${digestOf(found.metadata.uid, 8)}`);
  throw new BlockedError(
    "ClusterUnknown",
    `the worker cannot read the namespace ${systemNamespace}, whose uid distinguishes clusters on GitHub. Apply the roles of this version, or set DENREI_CLUSTER.`,
    retryMillis,
  );
}

/** The context of a single preview: its environment, and its status on a commit that several previews share. */
export const previewContext = (context: string, number: number): string => `${context}/pr-${number}`;

/** A hidden line that identifies the comment. */
export const markerOf = (context: string, number: number): string =>
  `<!-- ${previewContext(context, number)} -->`;

/** Names that earlier versions used, without cluster and namespace. */
export const former = {
  contextOf: ({ metadata: { name } }: AppPipeline): string => `modoki/${name}`,
  markerOf: ({ metadata: { namespace = "", name, uid } }: AppPipeline): string =>
    `<!-- modoki: ${namespace}/${name} ${uid} -->`,
} as const;
