/** Outcomes of reconciles in words. Pure. */
import type { ReconcileEntry, ReconcileOutcome } from "../../../../api/bus.ts";
import type { Tone } from "../../ui/status.tsx";
import { duration } from "../numbers.ts";

const words: Readonly<Record<ReconcileOutcome, readonly [Tone, string]>> = {
  success: ["good", "Done"],
  requeue_after: ["good", "Requeued"],
  retry: ["bad", "Failed"],
  dead_lettered: ["bad", "Given up"],
  slowed_down: ["busy", "Slowed down"],
  handed_back: ["off", "Handed back"],
  lost: ["off", "Lost"],
};

/** The tone and label of an outcome. */
export const outcomeOf = ({ outcome }: Pick<ReconcileEntry, "outcome">): readonly [Tone, string] =>
  words[outcome];

/** What happens next, as a sentence; undefined after a success. */
export function nextOf({
  outcome,
  nextInMillis,
}: Pick<ReconcileEntry, "outcome" | "nextInMillis">): string | undefined {
  const after = nextInMillis === null ? "later" : `after ${duration(nextInMillis)}`;
  switch (outcome) {
    case "success":
      return undefined;
    case "requeue_after":
      return `Next reconcile ${after}.`;
    case "retry":
      return `Retry ${after}.`;
    case "dead_lettered":
      return "Moved to the dead letters.";
    case "slowed_down":
      return `Its own writes keep triggering it. Next reconcile ${after}.`;
    case "handed_back":
      return "The worker was shutting down. Another worker takes over.";
    case "lost":
      return "Another worker may own the object by now.";
  }
}
