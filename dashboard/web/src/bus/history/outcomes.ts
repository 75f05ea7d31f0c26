/** How reconciles end, in words. */
import type { ReconcileEntry, ReconcileOutcome } from "../../../../api/bus.ts";
import type { Tone } from "../../ui/status.tsx";
import { duration } from "../numbers.ts";

const words: Readonly<Record<ReconcileOutcome, readonly [Tone, string]>> = {
  success: ["good", "Done"],
  requeue_after: ["good", "Done for now"],
  retry: ["bad", "Failed"],
  dead_lettered: ["bad", "Given up"],
  slowed_down: ["busy", "Slowed down"],
  handed_back: ["off", "Handed back"],
  lost: ["off", "Lost"],
};

/** A tone and a word or two. */
export const outcomeOf = ({ outcome }: Pick<ReconcileEntry, "outcome">): readonly [Tone, string] =>
  words[outcome];

/** What comes next, where the outcome says so; a sentence. */
export function nextOf({
  outcome,
  nextInMillis,
}: Pick<ReconcileEntry, "outcome" | "nextInMillis">): string | undefined {
  const after = nextInMillis === null ? "later" : `after ${duration(nextInMillis)}`;
  switch (outcome) {
    case "success":
      return undefined;
    case "requeue_after":
      return `It wants to be called again ${after}.`;
    case "retry":
      return `It is tried again ${after}.`;
    case "dead_lettered":
      return "It is a dead letter.";
    case "slowed_down":
      return `What it writes wakes it again and again: it goes on ${after}.`;
    case "handed_back":
      return "The worker was shutting down: another one does it.";
    case "lost":
      return "Another worker may have the object by now.";
  }
}
