/** The phase of a preview, from the status of its objects. Pure. */
import type { Condition, KubeObject } from "denrei";
import type { Application } from "../kinds/application.ts";
import type { Preview } from "../kinds/apppipeline.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import type { Candidate } from "./select.ts";

/** A phase, with its message. */
export type Phase = Pick<Preview, "phase" | "message" | "warning">;

const conditionOf = (object: KubeObject, type: string): Condition | undefined =>
  (object as KubeObject<unknown, { conditions?: Condition[] }>).status?.conditions?.find(
    (condition) => condition.type === type,
  );

/** Whether the status is about the current generation of an object. */
const isUpToDate = ({ metadata, status }: Application | RemoteSync): boolean =>
  metadata.deletionTimestamp === undefined && status?.observedGeneration === metadata.generation;

/** Whether a RemoteSync's status is about the commit to show. */
const isAbout = ({ status }: RemoteSync, { approvedSHA, headSHA }: Candidate): boolean =>
  approvedSHA === undefined ? status?.headSHA === headSHA : status?.revision === approvedSHA;

/** Transient reasons: no user has to act. */
const transientReasons = ["GitHubUnreachable", "RateLimited"];

/**
 * The phase of a preview. Events of its objects can arrive in any order, so an outdated status is ignored. Undefined when the
 * RemoteSync reports the pull request as closed: the next listing removes the preview.
 */
export function phaseOf(
  application: Application | undefined,
  remoteSync: RemoteSync | undefined,
  candidate: Candidate,
): Phase | undefined {
  if (remoteSync === undefined || !isUpToDate(remoteSync)) return { phase: "Resolving" };
  const source = conditionOf(remoteSync, "SourceResolved");
  if (source?.reason === "PullRequestClosed") return undefined;
  // GitHub is temporarily unavailable, so this is not a failure of the commit.
  if (source && transientReasons.includes(source.reason)) return { phase: "Resolving" };
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
  // The rollout is in progress.
  if (status !== "False" || reason === "Progressing") return { phase: "Deploying" };
  return { phase: "Failed", message };
}
