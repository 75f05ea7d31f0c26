/** A pull request's preview as the status has it. Pure. */
import type { Stored } from "../../../bus/kube/object.ts";
import type { Application } from "../kinds/application.ts";
import type { AppPipeline, Preview } from "../kinds/apppipeline.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { type HostPattern, previewName } from "./names.ts";
import { type Phase, phaseOf } from "./phase.ts";
import type { Selected } from "./select.ts";
import { hostOf } from "./wanted.ts";

/** What is known of a preview that is shown. */
export interface Known {
  readonly application: Stored<Application> | undefined;
  readonly remoteSync: Stored<RemoteSync> | undefined;
  /** Why it can not be made. */
  readonly trouble: { readonly message: string } | undefined;
  /** What the status said of it before. */
  readonly before: Preview | undefined;
  /** Of its host. */
  readonly pattern: HostPattern;
}

const again = "approve it in a review, or take the label away and give it again";

/** Why there is no preview. */
function reasonOf({ state, approvalProblem }: Selected): string {
  switch (state) {
    case "Waiting":
      return "there are as many previews as there may be: it has its turn when one goes";
    case "Expired":
      return "nothing has been pushed for so long that its preview has gone; a new commit brings it back";
    default:
      return approvalProblem === undefined
        ? "it comes from another repository, and its last commit is not approved"
        : `it comes from another repository, and its last commit is not approved: ${approvalProblem}`;
  }
}

/** What there is to say of a pull request. */
export function previewOf(
  pipeline: Stored<AppPipeline>,
  selected: Selected,
  { application, remoteSync, trouble, before, pattern }: Known,
): Preview {
  const { state, ...candidate } = selected;
  if (state !== "shown") return { ...candidate, phase: state, message: reasonOf(selected) };
  const { number, headSHA, approvedSHA } = candidate;
  const { phase, message, warning }: Phase = trouble
    ? { phase: "Failed", message: trouble.message }
    : (phaseOf(application, remoteSync, candidate) ?? unchanged(before));
  const behind =
    approvedSHA === undefined || approvedSHA === headSHA
      ? []
      : [`it shows ${approvedSHA}, and nobody has approved a later commit: ${again}`];
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
