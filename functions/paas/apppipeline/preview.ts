/** The status of a preview. Pure. */
import type { Stored } from "denrei";
import type { Application } from "../kinds/application.ts";
import type { AppPipeline, Preview } from "../kinds/apppipeline.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import type { HostPattern } from "../site/config.ts";
import { previewName } from "./names.ts";
import { hostOf } from "./objects.ts";
import { type Phase, phaseOf } from "./phase.ts";
import type { Selected } from "./select.ts";

/** State of a preview that is shown. */
export interface PreviewState {
  readonly application: Stored<Application> | undefined;
  readonly remoteSync: Stored<RemoteSync> | undefined;
  /** Why its objects could not be applied. */
  readonly failure: { readonly message: string } | undefined;
  /** The previous status. */
  readonly before: Preview | undefined;
  readonly pattern: HostPattern;
}

const again = "approve it in a review, or remove the label and add it again";

/** Why a pull request has no preview. */
function reasonOf({ state, approvalProblem }: Selected): string {
  switch (state) {
    case "Waiting":
      return "the maximum number of previews is reached: this one starts when another one ends";
    case "Expired":
      return "the preview expired because there were no recent pushes; a new commit creates it again";
    case "Excluded":
      return "the preview was deleted; removing the number from spec.filter.excluded creates it again";
    default:
      return approvalProblem === undefined
        ? "the pull request is from a fork, and its last commit is not approved"
        : `the pull request is from a fork, and its last commit is not approved: ${approvalProblem}`;
  }
}

/** Builds the status of a pull request's preview. */
export function previewOf(
  pipeline: Stored<AppPipeline>,
  selected: Selected,
  { application, remoteSync, failure, before, pattern }: PreviewState,
): Preview {
  const { state, ...candidate } = selected;
  if (state !== "shown") return { ...candidate, phase: state, message: reasonOf(selected) };
  const { number, headSHA, approvedSHA } = candidate;
  const { phase, message, warning }: Phase = failure
    ? { phase: "Failed", message: failure.message }
    : (phaseOf(application, remoteSync, candidate) ?? unchanged(before));
  const behind =
    approvedSHA === undefined || approvedSHA === headSHA
      ? []
      : [`the preview shows ${approvedSHA}, and later commits are not approved: ${again}`];
  const messages = [...(message === undefined ? [] : [message]), ...behind];
  return {
    ...candidate,
    application: previewName(pipeline.metadata.name, number),
    url: application?.status?.url || `https://${hostOf(pipeline, number, pattern)}`,
    phase,
    ...(messages.length > 0 && { message: messages.join("; ") }),
    ...(warning !== undefined && { warning }),
  };
}

const unchanged = (before: Preview | undefined): Phase =>
  before?.application === undefined
    ? { phase: "Resolving" }
    : {
        phase: before.phase,
        ...(before.message !== undefined && { message: before.message }),
        ...(before.warning !== undefined && { warning: before.warning }),
      };
