/** The condition `Built` of a RemoteSync, from the Builds of its revision. Pure. */
import type { ConditionUpdate, Stored } from "denrei";
import type { Build, Image } from "../kinds/kpack.ts";
import { kpack } from "../names.ts";
import {
  type Failure,
  failureOf,
  generationOf,
  isDecided,
  type KeptImage,
  numberOf,
  type Outcome,
  reasonsOf,
  stepOf,
  waitingReason,
} from "./builds.ts";

/** Status, reason, and message of the condition. */
export type Judgement = Omit<ConditionUpdate, "type">;

const unknown = (reason: string, message: string): Judgement => ({ status: "Unknown", reason, message });

/**
 * Judges the Builds. `failure` is that of the newest one. A revision counts as built once one of its Builds succeeds: a later
 * Build of the same revision, for another stack, other buildpacks, or other settings, may still run or fail, but the image stays
 * valid. Its failure is reported as `True` with a reason other than `Succeeded`.
 */
export function judge(
  outcome: Outcome,
  image: Stored<Image>,
  failure: Failure | undefined = outcome.newest && failureOf(outcome.newest),
): Judgement {
  const { newest, kept, state } = outcome;
  if (newest === undefined) {
    const { reason, message } = waitingReason(image);
    return unknown(reason, message);
  }
  const number = numberOf(newest);
  switch (state) {
    case "running": {
      const step = stepOf(newest);
      const text = `build ${number}${step ? `: ${step}` : ""}`;
      if (kept === undefined || reasonsOf(newest).includes("CONFIG")) return unknown("Building", text);
      return succeeded(kept, `; build ${number} is running`);
    }
    case "failed":
    case "infrastructure": {
      const where = failure?.step && state === "failed" ? ` in the step ${failure.step}` : "";
      const message = `build ${number} failed${where}: ${failure?.message}`;
      const retried = state === "infrastructure" ? ". Retrying." : "";
      if (kept === undefined) {
        const reason = state === "failed" ? "BuildFailed" : "BuildNotStarted";
        return { status: "False", reason, message: `${message}${retried}` };
      }
      const why = reasonsOf(newest).filter(Boolean).join(", ") || "for no given reason";
      return {
        status: "True",
        reason: state === "failed" ? "RebuildFailed" : "RebuildNotStarted",
        message: `${message}${retried || "."} It was a rebuild (${why}) of a commit that ${kept.madeBy} built. That image stays deployed.${retried ? "" : ` ${howToRetry(newest)}`}`,
      };
    }
    default:
      // Until kpack has decided, another build may follow.
      return generationOf(newest) === image.metadata.generation || isDecided(image, outcome)
        ? succeeded(kept, "")
        : unknown("Queued", "waiting for kpack to observe the Image");
  }
}

/** kpack does not retry a failed rebuild, and ignores newer stacks until a build succeeds. */
const howToRetry = ({ metadata: { name, namespace } }: Stored<Build>): string =>
  `kpack does not retry it. To rebuild the commit, run: kubectl annotate build ${name} -n ${namespace} ${kpack.rebuild}=$(date +%s) --overwrite.`;

const succeeded = (kept: KeptImage | undefined, more: string): Judgement => ({
  status: "True",
  reason: "Succeeded",
  message: `${kept?.madeBy} made ${kept?.image}${more}`,
});
