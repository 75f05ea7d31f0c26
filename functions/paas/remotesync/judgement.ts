/** What a RemoteSync says of the Builds of its revision. Pure. */
import type { ConditionUpdate } from "../../../bus/kube/conditions.ts";
import type { Stored } from "../../../bus/kube/object.ts";
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
  waitingFor,
} from "./builds.ts";

/** What there is to say. */
export type Judgement = Omit<ConditionUpdate, "type">;

const unknown = (reason: string, message: string): Judgement => ({ status: "Unknown", reason, message });

/**
 * Judges the Builds; `failure` is that of the newest one. A revision has been built as soon as one of its Builds succeeds: a later
 * one of the same revision, for another stack, other buildpacks or other settings, may run or fail, and the image stays valid.
 * A failure is then reported as `True` with a reason other than `Succeeded`.
 */
export function judge(
  outcome: Outcome,
  image: Stored<Image>,
  failure: Failure | undefined = outcome.newest && failureOf(outcome.newest),
): Judgement {
  const { newest, kept, state } = outcome;
  if (newest === undefined) {
    const { reason, message } = waitingFor(image);
    return unknown(reason, message);
  }
  const number = numberOf(newest);
  switch (state) {
    case "running": {
      const step = stepOf(newest);
      const text = `build ${number}${step ? `: ${step}` : ""}`;
      if (kept === undefined || reasonsOf(newest).includes("CONFIG")) return unknown("Building", text);
      return made(kept, `; build ${number} is under way`);
    }
    case "failed":
    case "infrastructure": {
      const where = failure?.step && state === "failed" ? ` in the step ${failure.step}` : "";
      const message = `build ${number} failed${where}: ${failure?.message}`;
      const retried = state === "infrastructure" ? ". It is tried again." : "";
      if (kept === undefined) {
        const reason = state === "failed" ? "BuildFailed" : "BuildNotStarted";
        return { status: "False", reason, message: `${message}${retried}` };
      }
      const why = reasonsOf(newest).filter(Boolean).join(", ") || "for no given reason";
      return {
        status: "True",
        reason: state === "failed" ? "RebuildFailed" : "RebuildNotStarted",
        message: `${message}${retried || "."} It was a rebuild (${why}) of a commit that ${kept.madeBy} has built, whose image stays deployed.${retried ? "" : ` ${howToRetry(newest)}`}`,
      };
    }
    default:
      // Another build may follow as long as kpack has not decided.
      return generationOf(newest) === image.metadata.generation || isDecided(image, outcome)
        ? made(kept, "")
        : unknown("Queued", "kpack is yet to look at what is wanted");
  }
}

/** kpack does not repeat a failed rebuild, and ignores newer stacks until a build succeeds. */
const howToRetry = ({ metadata: { name, namespace } }: Stored<Build>): string =>
  `kpack does not repeat it. To build the commit again, run: kubectl annotate build ${name} -n ${namespace} ${kpack.rebuild}=$(date +%s) --overwrite.`;

const made = (kept: KeptImage | undefined, more: string): Judgement => ({
  status: "True",
  reason: "Succeeded",
  message: `${kept?.madeBy} made ${kept?.image}${more}`,
});
