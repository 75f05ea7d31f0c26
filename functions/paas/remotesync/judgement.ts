/** What a RemoteSync says of the Builds of its revision. Pure. */
import type { ConditionUpdate } from "../../../bus/kube/conditions.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import type { Build, Image } from "../kinds/kpack.ts";
import {
  type Failure,
  failureOf,
  generationOf,
  isLookedAt,
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
 * Judges the Builds; `failure` is that of the newest one. While an image is rebuilt from the same source, the one before stays
 * valid.
 */
export function judge(
  { newest, succeeded, state }: Outcome,
  image: Stored<Image>,
  failure: Failure | undefined = newest && failureOf(newest),
): Judgement {
  if (newest === undefined) {
    const { reason, message } = waitingFor(image);
    return unknown(reason, message);
  }
  const number = numberOf(newest);
  switch (state) {
    case "running": {
      const step = stepOf(newest);
      const text = `build ${number}${step ? `: ${step}` : ""}`;
      if (succeeded === undefined || reasonsOf(newest).includes("CONFIG")) return unknown("Building", text);
      return made(succeeded, `; build ${number} is under way`);
    }
    case "failed":
    case "infrastructure": {
      const where = failure?.step && state === "failed" ? ` in the step ${failure.step}` : "";
      const kept = succeeded ? ` The image of build ${numberOf(succeeded)} is kept.` : "";
      const message = `build ${number} failed${where}: ${failure?.message}`;
      return state === "failed"
        ? { status: "False", reason: "BuildFailed", message: `${message}${kept && `.${kept}`}` }
        : {
            status: "False",
            reason: "BuildNotStarted",
            message: `${message}. It is tried again.${kept}`,
          };
    }
    default:
      // Of what kpack has not looked at yet there may be another build to come.
      return generationOf(newest) === image.metadata.generation || isLookedAt(image)
        ? made(newest, "")
        : unknown("Queued", "kpack is yet to look at what is wanted");
  }
}

const made = (build: Stored<Build>, more: string): Judgement => ({
  status: "True",
  reason: "Succeeded",
  message: `build ${numberOf(build)} made ${build.status?.latestImage}${more}`,
});
