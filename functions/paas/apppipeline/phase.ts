/** How far a preview is, from what its objects say. Pure. */
import type { Condition, KubeObject } from "../../../bus/kube/object.ts";
import type { Application } from "../kinds/application.ts";
import type { Preview } from "../kinds/apppipeline.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import type { Candidate } from "./select.ts";

/** A phase, and what there is to say about it. */
export type Phase = Pick<Preview, "phase" | "message" | "warning">;

const conditionOf = (object: KubeObject, type: string): Condition | undefined =>
  (object as KubeObject<unknown, { conditions?: Condition[] }>).status?.conditions?.find(
    (condition) => condition.type === type,
  );

/** Whether what an object says is about what is wanted of it now. */
const isUpToDate = ({ metadata, status }: Application | RemoteSync): boolean =>
  metadata.deletionTimestamp === undefined && status?.observedGeneration === metadata.generation;

/** Whether a RemoteSync speaks of the commit that is to be shown, and not of the one before. */
const isAbout = ({ status }: RemoteSync, { approvedSHA, headSHA }: Candidate): boolean =>
  approvedSHA === undefined ? status?.headSHA === headSHA : status?.revision === approvedSHA;

/** Why a RemoteSync knows no commit for now. */
const passing = ["GitHubUnreachable", "RateLimited"];

/**
 * How far the objects are. Events of several objects come in any order, so what is of before says nothing. Undefined when the
 * pull request is closed, as far as the RemoteSync knows: whoever lists them next takes the preview away.
 */
export function phaseOf(
  application: Application | undefined,
  remoteSync: RemoteSync | undefined,
  candidate: Candidate,
): Phase | undefined {
  if (remoteSync === undefined || !isUpToDate(remoteSync)) return { phase: "Resolving" };
  const source = conditionOf(remoteSync, "SourceResolved");
  if (source?.reason === "PullRequestClosed") return undefined;
  // GitHub comes back by itself: nothing is wrong with the commit.
  if (source && passing.includes(source.reason)) return { phase: "Resolving" };
  if (source?.status === "False") return { phase: "Failed", message: source.message };
  if (source?.status !== "True" || !isAbout(remoteSync, candidate)) return { phase: "Resolving" };
  for (const type of ["Built", "Deployed"]) {
    const { status, message = "" } = conditionOf(remoteSync, type) ?? {};
    if (status === "False") return { phase: "Failed", message };
    if (status !== "True") return { phase: "Building" };
  }
  const hasImage = application !== undefined && application.spec.image === remoteSync.status?.latestImage;
  if (!hasImage || !isUpToDate(application)) return { phase: "Deploying" };
  const { status, reason, message = "" } = conditionOf(application, "Ready") ?? {};
  if (status === "True") {
    const { warning } = remoteSync.status ?? {};
    return { phase: "Ready", ...(warning && { warning }) };
  }
  // The pods are on their way.
  if (status !== "False" || reason === "Progressing") return { phase: "Deploying" };
  return { phase: "Failed", message };
}
