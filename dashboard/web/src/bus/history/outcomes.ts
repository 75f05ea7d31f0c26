/** Outcomes of reconciles in words. Pure. */
import type { ReconcileEntry, ReconcileOutcome } from "../../../../api/bus.ts";
import type { Tone } from "../../ui/status.tsx";
import { duration } from "../numbers.ts";
import { text } from "./text.ts";

const tones: Readonly<Record<ReconcileOutcome, Tone>> = {
  success: "good",
  requeue_after: "good",
  retry: "bad",
  dead_lettered: "bad",
  slowed_down: "busy",
  handed_back: "off",
  lost: "off",
};

/** The tone and label of an outcome. */
export const outcomeOf = ({ outcome }: Pick<ReconcileEntry, "outcome">): readonly [Tone, string] => [
  tones[outcome],
  text.outcomes[outcome],
];

/** What happens next, as a sentence; undefined after a success. */
export function nextOf({
  outcome,
  nextInMillis,
}: Pick<ReconcileEntry, "outcome" | "nextInMillis">): string | undefined {
  const after = nextInMillis === null ? text.next.later : text.next.after(duration(nextInMillis));
  switch (outcome) {
    case "success":
      return undefined;
    case "requeue_after":
      return text.next.requeue_after(after);
    case "retry":
      return text.next.retry(after);
    case "dead_lettered":
      return text.next.dead_lettered;
    case "slowed_down":
      return text.next.slowed_down(after);
    case "handed_back":
      return text.next.handed_back;
    case "lost":
      return text.next.lost;
  }
}
